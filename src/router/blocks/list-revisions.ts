import { type HistoryRange, revisionsOf, versionsBetween } from '../../blocks/proofs.js'
import type { Timestamp } from '../../model/brand.js'
import { validationError } from '../../model/errors.js'
import { limits } from '../../model/limits.js'
import type { RequestScope, RouterContext } from '../request/context.js'
import { furtherMembers, joinReply, jsonReply } from '../request/reply.js'
import type { Reply } from '../request/router.js'
import { TurnBudget } from '../request/turns.js'
import {
  authorisedEntries,
  blockOfTransaction,
  type DocumentInput,
  documentMembers,
  documentOf,
  ledgerOperation,
  type LedgerParts,
  noBlockOf,
  numberShape,
  revisionList,
  transactionIdShape,
  withBlock,
} from './ledger-request.js'

interface ListRevisionsInput extends DocumentInput {
  /** Instead of an item: the revisions of one transaction. */
  readonly TransactionId?: string
  /** Times in ISO 8601: what was current at some time between them, both inclusive. */
  readonly From?: string
  readonly To?: string
  readonly FromVersion?: number
  readonly ToVersion?: number
  readonly Limit?: number
  readonly NextToken?: string
}

const PAGE_MAX = 1000
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,6})?)?Z$/

export const listRevisions = ledgerOperation<ListRevisionsInput>({
  name: 'ListRevisions',
  members: {
    ...documentMembers,
    TransactionId: transactionIdShape,
    From: { kind: 'string', lengthMax: 40 },
    To: { kind: 'string', lengthMax: 40 },
    FromVersion: numberShape,
    ToVersion: numberShape,
    Limit: { kind: 'integer', valueMin: 1, valueMax: PAGE_MAX },
    NextToken: { kind: 'string', lengthMin: 1, lengthMax: 512 },
  },

  async run(ledger, input, scope) {
    const { blocks, catalog, context } = ledger
    if (input.TransactionId !== undefined) return ofTransaction(ledger, input, scope)
    const { document } = documentOf(catalog, input, scope)
    const [from, to] = [microsOf('From', input.From), microsOf('To', input.To)]
    await blocks.caughtUp()
    const [newest] = await blocks.reader.newest([document])
    const between = newest && (await versionsBetween(blocks, document, newest, { from, to }))
    if (newest === undefined || between === undefined) return jsonReply({ Revisions: [] })
    const start = input.NextToken === undefined ? 0 : tokenVersion(context, scope, document, input.NextToken)
    const range: HistoryRange = {
      fromVersion: Math.max(between.fromVersion, input.FromVersion ?? 0, start),
      toVersion: Math.min(between.toVersion, input.ToVersion ?? Infinity),
    }
    const turns = new TurnBudget(context.runtime)
    const found = await revisionsOf(blocks, document, newest, {
      ...range,
      turn: (bytes) => (turns.isDue(bytes) ? turns.next() : undefined),
      revisionsMax: input.Limit ?? PAGE_MAX,
      bytesMax: limits.pageBytesMax,
    })
    const last = found.at(-1)
    const more = last !== undefined && last.version < range.toVersion
    const NextToken = more
      ? context.passes.seal(scope.principal, 'history', `${document} ${last.version + 1}`)
      : undefined
    return revisionsReply(await revisionList(blocks, context, found), NextToken)
  },
})

/** All of them: a transaction has a bounded number. */
async function ofTransaction(
  ledger: LedgerParts,
  { TransactionId, TableName, TableId, Key }: ListRevisionsInput,
  scope: RequestScope,
): Promise<Reply> {
  if (TableName !== undefined || TableId !== undefined || Key !== undefined)
    throw validationError('Either an item or a TransactionId is asked for, not both')
  const { blocks, context } = ledger
  await blocks.caughtUp()
  const number = await blockOfTransaction(blocks, TransactionId as string)
  if (number === undefined) throw noBlockOf(TransactionId as string)
  return withBlock(ledger, number, scope, async (block) => {
    const entries = await authorisedEntries(block, context, scope)
    const timestamp = block.parsed.ts as Timestamp
    const found = block.entries
      .filter((_, at) => entries[at]?.kind === 'revision')
      .map((row) => ({ block: number, entry: row.entry, timestamp, row }))
    return revisionsReply(await revisionList(blocks, context, found))
  })
}

const revisionsReply = (pieces: readonly (string | Uint8Array)[], NextToken?: string): Reply =>
  joinReply(['{"Revisions":[', ...pieces, `]${furtherMembers({ NextToken })}}`])

function microsOf(name: 'From' | 'To', text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const ms = TIME.test(text) ? Date.parse(text) : NaN
  if (Number.isNaN(ms)) throw validationError(`${name} is a time such as 2030-01-31T12:00:00Z, not ${text}`)
  // Times are shown to the millisecond: what was done within it is done at its end.
  return ms * 1000 + 999
}

function tokenVersion(
  { passes }: RouterContext,
  { principal }: RequestScope,
  document: string,
  token: string,
): number {
  const [of, version] = (passes.open(principal, 'history', token) ?? '').split(' ')
  if (version === undefined) throw validationError('Invalid NextToken')
  if (of !== document) throw validationError('NextToken does not match request')
  return Number(version)
}
