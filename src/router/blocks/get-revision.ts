import { proofOf } from '../../blocks/proofs.js'
import { DynamoError, validationError } from '../../model/errors.js'
import { decodeBlockEntry } from '../../verify/block.js'
import type { RequestScope } from '../request/context.js'
import { joinReply } from '../request/reply.js'
import { TurnBudget } from '../request/turns.js'
import {
  blockOfTransaction,
  checkDigestSize,
  DECODING_COST,
  type DocumentInput,
  documentMembers,
  documentOf,
  ledgerOperation,
  type LedgerParts,
  numberShape,
  revisionPieces,
  transactionIdShape,
  withBlock,
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

  async run(ledger, input, scope) {
    const { blocks, catalog } = ledger
    const { DigestSize, TransactionId, Version } = input
    if (TransactionId !== undefined && Version !== undefined)
      throw validationError('Either a Version or a TransactionId names the revision, not both')
    const { document } = documentOf(catalog, input, scope)
    await blocks.caughtUp()
    const [newest] = await blocks.reader.newest([document])
    const version =
      TransactionId === undefined ? Version : await versionBy(ledger, document, TransactionId, scope)
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
    const proof = await withBlock(ledger, place.block, scope, (block) =>
      proofOf(blocks, block, DigestSize, place.entry),
    )
    return joinReply(['{"Revision":', ...revision, `,"Proof":${JSON.stringify(proof)}}`])
  },
})

/** Of a transaction on other items it tells no more than of one that never was: those may be of tables that the key may not read. */
async function versionBy(
  ledger: LedgerParts,
  document: string,
  transaction: string,
  scope: RequestScope,
): Promise<number> {
  const { blocks, context } = ledger
  const number = await blockOfTransaction(blocks, transaction)
  const version =
    number === undefined
      ? undefined
      : await withBlock(ledger, number, scope, async ({ entries }) => {
          const turns = new TurnBudget(context.runtime)
          for (const { bytes } of entries) {
            const entry = decodeBlockEntry(bytes)
            if (entry.kind === 'revision' && entry.id === document) return entry.version
            if (turns.isDue(DECODING_COST * bytes.length)) await turns.next()
          }
          return undefined
        })
  if (version === undefined) throw notFound(`No revision of the item is of transaction ${transaction}`)
  return version
}

const notFound = (what: string): DynamoError =>
  new DynamoError('ResourceNotFoundException', `Requested resource not found: ${what}`)
