import { ledgerFile } from '../../blocks/proofs.js'
import { DynamoError } from '../../model/errors.js'
import { encodeBlock } from '../../verify/block.js'
import { base64 } from '../../verify/bytes.js'
import { blockAt } from '../../verify/tiles.js'
import { jsonReply } from '../request/reply.js'
import { authorisedEntries, ledgerOperation, withBlock } from './ledger-request.js'

/** `Path`: below /ledger/, as C2SP has it. Its bytes are in base64 here; GET has them as they are. */
export const getLedgerFile = ledgerOperation<{ readonly Path: string }>({
  name: 'GetLedgerFile',
  members: { Path: { kind: 'string', required: true, lengthMin: 1, lengthMax: 256 } },

  async run(ledger, { Path }, scope) {
    const { blocks, context } = ledger
    const number = blockAt(Path)
    if (number !== undefined && number < blocks.size)
      return withBlock(ledger, number, scope, async (block) => {
        await authorisedEntries(block, context, scope)
        return jsonReply({ Kind: 'block', Content: base64(encodeBlock(block.entries)) })
      })
    const file = number === undefined ? await ledgerFile(blocks, Path) : undefined
    if (file === undefined)
      throw new DynamoError(
        'ResourceNotFoundException',
        `Requested resource not found: The ledger has no file ${Path}`,
      )
    return jsonReply({ Kind: file.kind, Content: base64(file.bytes) })
  },
})
