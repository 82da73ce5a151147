import { proofOf } from '../../blocks/proofs.js'
import { DynamoError } from '../../model/errors.js'
import { jsonReply } from '../request/reply.js'
import {
  checkDigestSize,
  type DocumentInput,
  documentMembers,
  documentOf,
  ledgerOperation,
  numberShape,
  revisionAnswer,
} from './ledger-request.js'

interface GetRevisionInput extends DocumentInput {
  /** Absent: the newest. */
  readonly Version?: number
  readonly DigestSize?: number
}

export const getRevision = ledgerOperation<GetRevisionInput>({
  name: 'GetRevision',
  members: { ...documentMembers, Version: numberShape, DigestSize: numberShape },

  async run({ blocks, catalog }, input, scope) {
    const { document } = documentOf(catalog, input, scope)
    await blocks.caughtUp()
    const [newest] = await blocks.reader.newest([document])
    const place = newest && (await blocks.reader.place(document, input.Version ?? newest.version, newest))
    if (place === undefined)
      throw new DynamoError(
        'ResourceNotFoundException',
        newest === undefined
          ? 'Requested resource not found: The item has no revisions'
          : `Requested resource not found: The item has the versions 0 to ${newest.version}, and not ${input.Version}`,
      )
    const { DigestSize } = input
    if (DigestSize !== undefined) checkDigestSize(blocks, DigestSize, place.block)
    const row = await blocks.reader.entry(place.block, place.entry)
    const Revision = revisionAnswer(blocks, { ...place, row })
    if (DigestSize === undefined) return jsonReply({ Revision })
    const block = await blocks.reader.block(place.block)
    return jsonReply({ Revision, Proof: await proofOf(blocks, block, DigestSize, place.entry) })
  },
})
