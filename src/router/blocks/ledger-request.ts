// What the operations on ledgers share: members of their requests, and finding the table and the document that they name.
import type { FoundRevision, WholeBlock } from '../../blocks/block-reader.js'
import { type Blocks, NoLedger } from '../../blocks/blocks.js'
import { documentId, type LedgerTable } from '../../blocks/maker.js'
import { DynamoError, validationError } from '../../model/errors.js'
import { keyAttributesOf } from '../../model/table.js'
import { EXTENSION_PREFIX } from '../../port/extension.js'
import { base64 } from '../../verify/bytes.js'
import {
  type BlockEntry,
  committedData,
  decodeBlockEntry,
  imageOf,
  type RevisionEntry,
} from '../../verify/block.js'
import { leafHash } from '../../verify/merkle.js'
import type { Operation, RequestScope, RouterContext } from '../request/context.js'
import { parseKey } from '../request/keys.js'
import type { Reply } from '../request/router.js'
import { TurnBudget } from '../request/turns.js'
import { tableNameShape, type NumberShape, type StringShape, type StructShape } from '../shapes/shape.js'
import { tableNameOf } from '../shapes/table-name.js'
import type { TableCatalog } from '../tables/catalog/catalog.js'
import { tableOperation } from '../tables/table-operation.js'

export const numberShape: NumberShape = { kind: 'long', valueMin: 0 }
const { required: _required, ...optionalName } = tableNameShape
const idShape: StringShape = { kind: 'string', lengthMin: 1, lengthMax: 64 }
export const transactionIdShape: StringShape = { kind: 'string', lengthMin: 1, lengthMax: 128 }

/** The table by its name, or by its id, also after it was dropped. */
export const documentMembers: StructShape['members'] = {
  TableName: optionalName,
  TableId: idShape,
  Key: { kind: 'any', opaque: true },
}

export interface DocumentInput {
  readonly TableName?: string
  readonly TableId?: string
  readonly Key?: unknown
}

export interface NamedDocument {
  readonly table: LedgerTable
  readonly document: string
}

/** What is asked, and what others have to do meanwhile. */
export interface LedgerParts {
  readonly blocks: Blocks
  readonly context: RouterContext
}

interface LedgerOperation<In> {
  readonly name: Operation['name']
  readonly members: StructShape['members']
  readonly run: (
    ledger: LedgerParts & { readonly catalog: TableCatalog },
    input: In,
    scope: RequestScope,
  ) => Promise<Reply>
}

export const ledgerOperation = <In>({ name, members, run }: LedgerOperation<In>): Operation =>
  tableOperation<In>({
    name,
    targetPrefix: EXTENSION_PREFIX,
    shape: { kind: 'struct', members },
    async run(catalog, input, scope, context) {
      const { blocks } = context
      if (blocks === undefined) throw noLedger()
      try {
        return await run({ blocks, catalog, context }, inWholeNumbers(input), scope)
      } catch (error) {
        throw error instanceof NoLedger ? noLedger() : error
      }
    },
  })

/** As the service takes them: without their fractions. No member of these requests is anything but a count. */
const inWholeNumbers = <In>(input: In): In =>
  Object.fromEntries(
    Object.entries(input as object).map(([name, value]: [string, unknown]) => [
      name,
      typeof value === 'number' ? Math.trunc(value) : value,
    ]),
  ) as In

const noLedger = (): DynamoError =>
  new DynamoError(
    'ResourceNotFoundException',
    'Requested resource not found: No table of this store is a ledger',
  )

/** Access is asked for before anything is told of the table. */
export function documentOf(catalog: TableCatalog, input: DocumentInput, scope: RequestScope): NamedDocument {
  const table = ledgerTableOf(catalog, input, scope)
  if (input.Key === undefined) throw validationError('The parameter Key is required: the key of the item')
  const { attributes } = parseKey(table, input.Key)
  const key = JSON.stringify(keyAttributesOf(table.key, attributes))
  return { table, document: documentId(table.id, key) }
}

function ledgerTableOf(
  catalog: TableCatalog,
  { TableName, TableId }: DocumentInput,
  scope: RequestScope,
): LedgerTable {
  if ((TableName === undefined) === (TableId === undefined))
    throw validationError('Exactly one of TableName and TableId names the table')
  if (TableId !== undefined) {
    const table = catalog.ledger(TableId)
    // Who may not read it is told the same as if there were none.
    if (table === undefined || !scope.allows(table.name))
      throw new DynamoError(
        'ResourceNotFoundException',
        `Requested resource not found: No ledger table has the id ${TableId}`,
      )
    return table
  }
  const name = tableNameOf(TableName)
  scope.authorise(name)
  const { id } = catalog.record(name)
  const table = catalog.ledger(id)
  if (table === undefined) throw validationError(`Table ${name} is not a ledger`)
  return table
}

/** The number of the block of a transaction or unit of work; undefined if none has that id. */
export async function blockOfTransaction(blocks: Blocks, id: string): Promise<number | undefined> {
  const number = await blocks.reader.blockOf(id)
  return number === undefined || number >= blocks.size ? undefined : number
}

/**
 * Reads a block, and makes of it what is asked for. Of large ones one at a time is read, access keys in turn: each would do its
 * part in every turn of the event loop, for which all others would wait.
 */
export async function withBlock<Result>(
  { blocks, context }: LedgerParts,
  number: number,
  { principal }: Pick<RequestScope, 'principal'>,
  use: (block: WholeBlock) => Promise<Result>,
): Promise<Result> {
  const { runtime, largeReads } = context
  const begun = await blocks.reader.begin(number)
  const turn = (): Promise<void> => new Promise((resolve) => runtime.defer(resolve))
  const read = async (): Promise<Result> => use(await blocks.reader.finish(begun, turn))
  return begun.isLarge ? largeReads.run(principal.id, read) : read()
}

/** Its entries, all of which the caller may read: a block tells of every table that it touched. */
export async function authorisedEntries(
  { entries }: WholeBlock,
  { runtime }: Pick<RouterContext, 'runtime'>,
  scope: RequestScope,
): Promise<readonly BlockEntry[]> {
  const turns = new TurnBudget(runtime)
  const decoded: BlockEntry[] = []
  const tables = new Set<string>()
  for (const { bytes } of entries) {
    const entry = decodeBlockEntry(bytes)
    decoded.push(entry)
    if (entry.kind !== 'info') tables.add(entry.table)
    if (turns.isDue(DECODING_COST * bytes.length)) await turns.next()
  }
  for (const table of tables) scope.authorise(table)
  return decoded
}

/** An entry is made into an object and into text again, which takes longer than to copy its bytes. */
export const DECODING_COST = 16

export const noBlockOf = (id: string): DynamoError =>
  new DynamoError(
    'ResourceNotFoundException',
    `Requested resource not found: No block is of transaction ${id}`,
  )

/** A size of the tree that a proof may be of: of a digest that was given. */
export function checkDigestSize(blocks: Blocks, size: number, block: number): void {
  if (size > block && size <= blocks.size) return
  throw validationError(
    size > blocks.size
      ? `DigestSize ${size} is beyond the ${blocks.size} blocks of the ledger`
      : `A digest of ${size} blocks does not have block ${block}`,
  )
}

/** A revision as answers have it: its image stands in the answer as it is stored. */
export function revisionPieces(
  blocks: Blocks,
  { block, entry, timestamp, row }: Pick<FoundRevision, 'block' | 'entry' | 'timestamp' | 'row'>,
): readonly (string | Uint8Array)[] {
  const revision = decodeBlockEntry(row.bytes) as RevisionEntry
  const { table, tableId, key, id, version, tx, time, event, cause } = revision
  const head = JSON.stringify({
    BlockAddress: { StrandId: blocks.signer.origin, SequenceNumber: block },
    EntryIndex: entry,
    TableName: table,
    TableId: tableId,
    Key: key,
    Metadata: {
      Id: id,
      Version: version,
      TransactionId: tx,
      Time: time,
      Timestamp: timestamp,
      Event: event,
      Cause: cause,
    },
    Hash: base64(leafHash(row.bytes)),
    ...(row.data === undefined && committedData(revision) !== null && { Redacted: true }),
  })
  if (row.data === undefined) return [head]
  const image = imageOf(row.data)
  return [`${head.slice(0, -1)},"Data":`, image.length === 0 ? 'null' : image, '}']
}

/** Several of them, with commas between them. Others have their turn meanwhile. */
export async function revisionList(
  blocks: Blocks,
  { runtime }: Pick<RouterContext, 'runtime'>,
  revisions: readonly Pick<FoundRevision, 'block' | 'entry' | 'timestamp' | 'row'>[],
): Promise<readonly (string | Uint8Array)[]> {
  const turns = new TurnBudget(runtime)
  const pieces: (string | Uint8Array)[] = []
  for (const [at, each] of revisions.entries()) {
    if (at > 0) pieces.push(',')
    pieces.push(...revisionPieces(blocks, each))
    if (turns.isDue(HASHING_COST * each.row.bytes.length)) await turns.next()
  }
  return pieces
}

/** An entry is hashed and made into an object, which takes longer than to copy its bytes. */
const HASHING_COST = 8
