import type { Blocks } from '../../blocks/blocks.js'
import { proofOf } from '../../blocks/proofs.js'
import { DynamoError, validationError } from '../../model/errors.js'
import { decodeBlockEntry } from '../../verify/block.js'
import { joinReply } from '../request/reply.js'
import {
  blockOfTransaction,
  checkDigestSize,
  type DocumentInput,
  documentMembers,
  documentOf,
  ledgerOperation,
  numberShape,
  revisionPieces,
  transactionIdShape,
} from './ledger-request.js'

interface GetRevisionInput extends DocumentInput {
  /** Absent: the newest. */
  readonly Version?: number
  /** Instead of it: the version that this transaction or unit of work made of the item. */
  readonly TransactionId?: string
  readonly DigestSize?: number
}

export const getRevision = ledgerOperation<GetRevisionInput>({
  name: 'GetRevision',
  members: {
    ...documentMembers,
    Version: numberShape,
    TransactionId: transactionIdShape,
    DigestSize: numberShape,
  },

  async run({ blocks, catalog }, input, scope) {
    const { DigestSize, TransactionId, Version } = input
    if (TransactionId !== undefined && Version !== undefined)
      throw validationError('Either a Version or a TransactionId names the revision, not both')
    const { document } = documentOf(catalog, input, scope)
    await blocks.caughtUp()
    const [newest] = await blocks.reader.newest([document])
    const version = TransactionId === undefined ? Version : await versionBy(blocks, document, TransactionId)
    const place = newest && (await blocks.reader.place(document, version ?? newest.version, newest))
    if (place === undefined)
      throw notFound(
        newest === undefined
          ? 'The item has no revisions'
          : `The item has the versions 0 to ${newest.version}, and not ${version}`,
      )
    if (DigestSize !== undefined) checkDigestSize(blocks, DigestSize, place.block)
    const row = await blocks.reader.entry(place.block, place.entry)
    const revision = revisionPieces(blocks, { ...place, row })
    if (DigestSize === undefined) return joinReply(['{"Revision":', ...revision, '}'])
    const block = await blocks.reader.block(place.block)
    const proof = await proofOf(blocks, block, DigestSize, place.entry)
    return joinReply(['{"Revision":', ...revision, `,"Proof":${JSON.stringify(proof)}}`])
  },
})

/** Of a transaction on other items it tells no more than of one that never was: those may be of tables that the key may not read. */
async function versionBy(blocks: Blocks, document: string, transaction: string): Promise<number> {
  const block = await blockOfTransaction(blocks, transaction)
  for (const { bytes } of block?.entries ?? []) {
    const entry = decodeBlockEntry(bytes)
    if (entry.kind === 'revision' && entry.id === document) return entry.version
  }
  throw notFound(`No revision of the item is of transaction ${transaction}`)
}

const notFound = (what: string): DynamoError =>
  new DynamoError('ResourceNotFoundException', `Requested resource not found: ${what}`)
