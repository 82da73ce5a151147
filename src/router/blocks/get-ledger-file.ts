import { ledgerFile } from '../../blocks/proofs.js'
import { DynamoError } from '../../model/errors.js'
import { base64 } from '../../verify/bytes.js'
import { jsonReply } from '../request/reply.js'
import { authoriseBlock } from './get-block.js'
import { ledgerOperation } from './ledger-request.js'

/** `Path`: below /ledger/, as C2SP has it. Its bytes are in base64 here; GET has them as they are. */
export const getLedgerFile = ledgerOperation<{ readonly Path: string }>({
  name: 'GetLedgerFile',
  members: { Path: { kind: 'string', required: true, lengthMin: 1, lengthMax: 256 } },

  async run({ blocks }, { Path }, scope) {
    const file = await ledgerFile(blocks, Path)
    if (file === undefined)
      throw new DynamoError(
        'ResourceNotFoundException',
        `Requested resource not found: The ledger has no file ${Path}`,
      )
    if (file.block !== undefined) authoriseBlock(file.block, scope)
    return jsonReply({ Kind: file.kind, Content: base64(file.bytes) })
  },
})
