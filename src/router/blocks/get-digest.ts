import { consistencyOf, currentDigest } from '../../blocks/proofs.js'
import { validationError } from '../../model/errors.js'
import { base64 } from '../../verify/bytes.js'
import { jsonReply } from '../request/reply.js'
import { ledgerOperation, numberShape } from './ledger-request.js'

/** Everything that was acknowledged before the request is in it. */
export const getDigest = ledgerOperation<{ readonly OldSize?: number }>({
  name: 'GetDigest',
  members: { OldSize: numberShape },

  async run({ blocks }, { OldSize }) {
    const { size, root, checkpoint } = await currentDigest(blocks)
    if (OldSize !== undefined && OldSize > size)
      throw validationError(`OldSize ${OldSize} is beyond the ${size} blocks of the ledger`)
    return jsonReply({
      Digest: base64(root),
      Size: size,
      Checkpoint: checkpoint,
      Key: blocks.signer.key,
      ...(OldSize !== undefined && { ConsistencyProof: await consistencyOf(blocks, OldSize, size) }),
    })
  },
})
