import { hasIndexes, keyAttributesOf } from '../../model/table.js'
import { validationError } from '../../model/errors.js'
import { itemKey } from '../../model/key-bytes.js'
import { limits } from '../../model/limits.js'
import { parseItem } from '../../model/parse-value.js'
import { toldInOlderWords } from '../request/wording.js'
import type { KeyAttribute, KeySchema } from '../../model/table.js'
import { attribute, typeOf, type Item } from '../../model/value.js'
import { indexKeyRefusal } from '../../rules/item/index-keys.js'
import type { Mutation, WriteOutcome, WriteRequest } from '../../storage/contract/storage-node.js'
import {
  addConsumed,
  type Consumed,
  consumedByOutcome,
  consumedCapacity,
  isCapacityWanted,
  returnConsumedCapacityShape,
} from '../request/capacity.js'
import { aboutOf } from '../request/about.js'
import type { Input, Operation, RequestScope, RouterContext, Table } from '../request/context.js'
import { checkKey, checkKeyValue, type KeyRole } from '../request/keys.js'
import { jsonReply } from '../request/reply.js'
import type { RequestShape } from '../shapes/shape.js'
import { TurnBudget } from '../request/turns.js'
import { batchTableName, checkWriteNames, shownWrites } from '../request/batch-names.js'
import { attributesForKey, type GivenItem, givenItem, putOf } from './given-item.js'
import { collectionMetrics } from './single-write.js'

const MODEL = 'com.amazonaws.dynamodb.v20120810.'
const attributes: RequestShape = { kind: 'map', member: { kind: 'any' }, required: true }

export const batchWriteItem: Operation = {
  name: 'BatchWriteItem',
  shape: {
    kind: 'struct',
    members: {
      ReturnConsumedCapacity: returnConsumedCapacityShape,
      ReturnItemCollectionMetrics: { kind: 'string', values: ['SIZE', 'NONE'] },
      RequestItems: {
        kind: 'map',
        required: true,
        member: {
          kind: 'list',
          required: true,
          member: {
            kind: 'struct',
            className: `${MODEL}WriteRequest`,
            members: {
              DeleteRequest: {
                kind: 'struct',
                className: `${MODEL}DeleteRequest`,
                members: { Key: attributes },
              },
              PutRequest: { kind: 'struct', className: `${MODEL}PutRequest`, members: { Item: attributes } },
            },
          },
        },
      },
    },
  },

  async run(context, input, scope) {
    const requested = Object.entries(input['RequestItems'] as Readonly<Record<string, readonly WireWrite[]>>)
    checkCounts(requested)
    checkWriteNames(requested)
    const turns = new TurnBudget(context.runtime)
    const parsed: Parsed[] = []
    for (const [name, writes] of requested) {
      const tableName = batchTableName(name)
      scope.authorise(tableName)
      const actions: Action[] = []
      for (const write of writes) {
        const action = parseWrite(write)
        actions.push(action)
        if (turns.isDue(action.itemBytes)) await turns.next()
      }
      parsed.push({ name, tableName, actions })
    }
    const batches = await writeAll(context, parsed, turns, scope)
    const answers = batches.map((batch) => answerOf(input, batch))
    return jsonReply({
      UnprocessedItems: unprocessed(answers),
      ...capacityMember(answers.flatMap(({ capacity }) => capacity ?? [])),
      ...metricsMember(answers.filter(({ metrics }) => metrics.length > 0)),
    })
  },
}

interface WireWrite {
  readonly PutRequest?: { readonly Item: unknown } | null
  readonly DeleteRequest?: { readonly Key: unknown } | null
}

interface Parsed {
  readonly name: string
  readonly tableName: string
  readonly actions: readonly Action[]
}

interface Action {
  /** Of what is put. */
  readonly itemBytes: number
  readonly mutation: Exclude<Mutation, { kind: 'update' }>
  /** The whole item, or the key of the item to delete. */
  readonly attributes: GivenItem
}

/** What is asked of one table. */
interface Batch {
  /** As the caller names the table. */
  readonly name: string
  readonly table: Table
  readonly writes: readonly WriteRequest[]
}

interface DoneBatch extends Batch {
  readonly outcomes: readonly WriteOutcome[]
}

interface BatchAnswer {
  readonly name: string
  readonly capacity: object | undefined
  readonly metrics: readonly object[]
  /** Writes that met an ongoing transaction. DynamoDB documents no error for them, but a way to hand them back. */
  readonly left: readonly object[]
}

function checkCounts(requested: readonly (readonly [string, readonly WireWrite[]])[]): void {
  if (requested.length === 0) {
    throw validationError('The requestItems parameter is required for BatchWriteItem')
  }
  const most = limits.batchWriteItemsMax
  if (requested.some(([, writes]) => writes.length === 0 || writes.length > most)) {
    throw validationError(
      `1 validation error detected: Value '${shownWrites(requested)}' at 'requestItems' failed to satisfy constraint: ` +
        `Map value must satisfy constraint: [Member must have length less than or equal to ${most}, ` +
        'Member must have length greater than or equal to 1]',
    )
  }
  if (requested.reduce((total, [, writes]) => total + writes.length, 0) > most) {
    throw validationError('Too many items requested for the BatchWriteItem call')
  }
}

function parseWrite(write: WireWrite): Action {
  const put = write.PutRequest ?? undefined
  const remove = write.DeleteRequest ?? undefined
  if ((put === undefined) === (remove === undefined)) {
    throw validationError(
      'Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes',
    )
  }
  if (put === undefined) {
    return {
      itemBytes: 0,
      mutation: { kind: 'delete' },
      attributes: toldInOlderWords(() => parseItem(remove?.Key)),
    }
  }
  const given = toldInOlderWords(() => givenItem(put.Item))
  const mutation = putOf(given)
  return { itemBytes: mutation.itemBytes, mutation, attributes: given }
}

function writeOf(
  table: Table,
  { mutation, attributes: given }: Action,
  seen: Set<string>,
  scope: RequestScope,
): WriteRequest {
  const { shape } = table
  const attributes = attributesForKey(given, shape.key)
  if (mutation.kind === 'put') {
    checkItemKey(shape.key, attributes)
    const refusal = hasIndexes(shape) ? indexKeyRefusal(shape, mutation.item) : undefined
    if (refusal !== undefined) throw validationError(refusal)
  } else {
    checkKey(shape.key, attributes)
  }
  const key = itemKey(shape.key, attributes)
  const identity = `${shape.space} ${key.bytes}`
  if (seen.has(identity)) throw validationError('Provided list of item keys contains duplicates')
  seen.add(identity)
  const keyAttributes = keyAttributesOf(shape.key, attributes)
  return { table: shape, key, keyAttributes, mutation, ...aboutOf(shape, scope) }
}

/** Unlike PutItem, a batch tells nothing of what is wrong with the key. */
function checkItemKey({ partition, sort }: KeySchema, item: Item): void {
  checkItemKeyPart(partition, 'partition', item)
  if (sort !== undefined) checkItemKeyPart(sort, 'sort', item)
}

function checkItemKeyPart(part: KeyAttribute, role: KeyRole, item: Item): void {
  const value = attribute(item, part.name)
  if (value === undefined || typeOf(value) !== part.type) {
    throw validationError('The provided key element does not match the schema')
  }
  checkKeyValue(part.name, role, value)
}

/** Every write is checked before the first is done: a refusal leaves nothing behind. Reads the catalogue. */
function bindAll(
  { catalog }: RouterContext,
  parsed: readonly Parsed[],
  scope: RequestScope,
): readonly Batch[] {
  const seen = new Set<string>()
  return parsed.map(({ name, tableName, actions }) => {
    const table = catalog.table(tableName)
    return { name, table, writes: actions.map((action) => writeOf(table, action, seen, scope)) }
  })
}

/**
 * In several turns if there is much to write. What the catalogue says holds for one turn; in the next one a table may have
 * another index, or may be gone, which is an error then, whatever was written before: a batch is not atomic.
 */
async function writeAll(
  context: RouterContext,
  parsed: readonly Parsed[],
  turns: TurnBudget,
  scope: RequestScope,
): Promise<readonly DoneBatch[]> {
  let batches = bindAll(context, parsed, scope)
  const sent = parsed.map((): Promise<WriteOutcome>[] => [])
  let due = false
  for (const [table, { actions }] of parsed.entries()) {
    for (const [at, action] of actions.entries()) {
      if (due) {
        // They are awaited below, but may fail before.
        for (const outcome of sent.flat()) outcome.catch(() => undefined)
        await turns.next()
        batches = bindAll(context, parsed, scope)
      }
      sent[table]!.push(write(context, batches[table]!.writes[at]!))
      due = turns.isDue(action.itemBytes)
    }
  }
  return Promise.all(
    batches.map(async (batch, table) => ({ ...batch, outcomes: await Promise.all(sent[table]!) })),
  )
}

async function write(context: RouterContext, request: WriteRequest): Promise<WriteOutcome> {
  const outcome = await context.nodeOf(request.key.hash).write(request)
  if (outcome.verdict === 'invalid') throw validationError(outcome.message)
  if (outcome.verdict === 'done') context.coordinator.clock.witness(outcome.timestamp)
  return outcome
}

function answerOf(input: Input, { name, table, writes, outcomes }: DoneBatch): BatchAnswer {
  const detail = input['ReturnConsumedCapacity']
  const counted = isCapacityWanted(detail)
  let consumed: Consumed = { table: 0 }
  const left: object[] = []
  for (const [at, outcome] of outcomes.entries()) {
    const write = writes[at]!
    if (outcome.verdict === 'conflict') left.push(wireOf(write))
    if (outcome.verdict === 'done' && counted)
      consumed = addConsumed(consumed, consumedByOutcome(write.table, outcome))
  }
  return {
    name,
    capacity: consumedCapacity(detail, table.name, consumed),
    metrics: collections(table, input, writes),
    left,
  }
}

/** The write as the caller gave it, for another try. */
const wireOf = ({ mutation, keyAttributes }: WriteRequest): object =>
  mutation.kind === 'put'
    ? { PutRequest: { Item: mutation.item } }
    : { DeleteRequest: { Key: keyAttributes } }

const unprocessed = (answers: readonly BatchAnswer[]): object =>
  Object.fromEntries(answers.flatMap(({ name, left }) => (left.length === 0 ? [] : [[name, left]])))

/** One entry for each item collection, however many of its items were written. */
function collections(table: Table, input: Input, writes: readonly WriteRequest[]): readonly object[] {
  const byPartition = new Map<string, object>()
  const { name } = table.shape.key.partition
  for (const { keyAttributes } of writes) {
    const metrics = collectionMetrics(table, input, keyAttributes)
    if (metrics === undefined) return []
    byPartition.set(JSON.stringify(attribute(keyAttributes, name)), metrics)
  }
  return [...byPartition.values()]
}

const capacityMember = (capacity: readonly object[]): object =>
  capacity.length === 0 ? {} : { ConsumedCapacity: capacity }

const metricsMember = (answers: readonly BatchAnswer[]): object =>
  answers.length === 0
    ? {}
    : { ItemCollectionMetrics: Object.fromEntries(answers.map(({ name, metrics }) => [name, metrics])) }
