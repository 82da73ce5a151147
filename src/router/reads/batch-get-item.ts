import { parseRecord } from '../../line/record.js'
import { checkExpressionParameters, refuseNestedKeys } from '../../expression/expression.js'
import { RewordedError, validationError } from '../../model/errors.js'
import { limits } from '../../model/limits.js'
import { parseItem } from '../../model/parse-value.js'
import type { ItemKey } from '../../model/table.js'
import type { ItemRecord } from '../../storage/contract/storage-node.js'
import { consumedCapacity, readUnits, returnConsumedCapacityShape } from '../request/capacity.js'
import type { Input, Operation, RouterContext, Table } from '../request/context.js'
import { furtherMembers, joinReply, type ItemJson } from '../request/reply.js'
import { parseKey } from '../request/keys.js'
import { openProjection, type RequestedProjection } from './read-expressions.js'
import type { Reply } from '../request/router.js'
import { TurnBudget } from '../request/turns.js'
import { batchNamesShape, batchTableName } from '../request/batch-names.js'

export const batchGetItem: Operation = {
  name: 'BatchGetItem',
  shape: {
    kind: 'struct',
    members: {
      RequestItems: {
        kind: 'map',
        required: true,
        ...batchNamesShape,
        member: {
          kind: 'struct',
          required: true,
          className: 'com.amazonaws.dynamodb.v20120810.KeysAndAttributes',
          members: {
            Keys: {
              kind: 'list',
              required: true,
              member: { kind: 'map', member: { kind: 'any' } },
            },
            AttributesToGet: { kind: 'list', member: { kind: 'string' }, lengthMin: 1, lengthMax: 255 },
            ConsistentRead: { kind: 'boolean' },
            ProjectionExpression: { kind: 'string' },
            ExpressionAttributeNames: { kind: 'map', member: { kind: 'string' } },
          },
        },
      },
      ReturnConsumedCapacity: returnConsumedCapacityShape,
    },
  },

  async run(context, input, scope) {
    const requested = Object.entries(input['RequestItems'] as Readonly<Record<string, WireGets>>)
    checkCounts(requested)
    refuseMixedProjections(requested)
    const parsed = requested.map(([name, gets]) => {
      const tableName = batchTableName(name)
      scope.authorise(tableName)
      const projection = openProjection(gets)
      refuseDuplicates(gets.Keys)
      return { name, tableName, gets, projection }
    })
    const batches = parsed.map(({ name, tableName, gets, projection }) => {
      const table = context.catalog.table(tableName)
      if (projection !== undefined) refuseNestedKeys(projection.paths, table.shape.key, table.shape.indexes)
      const keys = gets.Keys.map((key) => parseKey(table.shape, key).key)
      return { name, table, gets, keys, projection }
    })
    const records = await getAll(context, batches)
    return answer(context, input, batches, records)
  },
}

type WireGets = Input & { readonly Keys: readonly unknown[] }

interface Batch {
  /** As the caller names the table. */
  readonly name: string
  readonly table: Table
  readonly gets: WireGets
  readonly keys: readonly ItemKey[]
  readonly projection: RequestedProjection | undefined
}

function checkCounts(requested: readonly (readonly [string, WireGets])[]): void {
  if (requested.length === 0) {
    throw new RewordedError(
      "1 validation error detected: Value at 'RequestItems' failed to satisfy constraint: Member must have length greater than or equal to 1",
      'The requestItems parameter is required for BatchGetItem',
    )
  }
  const most = limits.batchGetKeysMax
  for (const [name, { Keys }] of requested) {
    if (Keys.length > 0 && Keys.length <= most) continue
    const bound = Keys.length === 0 ? 'greater than or equal to 1' : `less than or equal to ${most}`
    throw validationError(
      `1 validation error detected: Value at 'RequestItems.${name}.member.Keys' failed to satisfy constraint: ` +
        `Member must have length ${bound}`,
    )
  }
  if (requested.reduce((total, [, { Keys }]) => total + Keys.length, 0) > most) {
    throw validationError('Too many items requested for the BatchGetItem call')
  }
}

/** Tables with expressions and tables with the older parameter do not go together in one request. */
function refuseMixedProjections(requested: readonly (readonly [string, WireGets])[]): void {
  const given = (name: string): boolean => requested.some(([, gets]) => gets[name] != null)
  checkExpressionParameters(
    {
      ...(given('ProjectionExpression') && { ProjectionExpression: '' }),
      ...(given('AttributesToGet') && { AttributesToGet: [] }),
    },
    { expressions: ['ProjectionExpression'], others: ['AttributesToGet'] },
  )
}

/** Keys are compared as they stand, before it is known which table they belong to. */
function refuseDuplicates(keys: readonly unknown[]): void {
  const seen = new Set<string>()
  for (const json of keys) {
    const key = parseItem(json)
    const names = Object.keys(key).toSorted()
    const identity = JSON.stringify(names.map((name) => [name, key[name]]))
    if (seen.has(identity)) throw validationError('Provided list of item keys contains duplicates')
    seen.add(identity)
  }
}

/** In the order of the keys, and no more of them than it takes to fill the answer: a hundred large items would be 40 MB. */
async function getAll(
  context: RouterContext,
  batches: readonly Batch[],
): Promise<readonly (readonly (ItemRecord | undefined)[])[]> {
  const all: (ItemRecord | undefined)[][] = []
  let bytes = 0
  for (const { table, gets, keys } of batches) {
    const records: (ItemRecord | undefined)[] = []
    all.push(records)
    const isConsistent = gets['ConsistentRead'] === true
    while (records.length < keys.length && bytes <= limits.batchGetBytesMax) {
      const some = await Promise.all(
        keys
          .slice(records.length, records.length + limits.readAtOnceMax)
          .map((key) => context.nodeOf(key.hash).get(table.shape.space, key, isConsistent)),
      )
      for (const record of some) bytes += record?.itemBytes ?? 0
      records.push(...some)
    }
  }
  return all
}

/**
 * Items in the order of their keys, until they come to 16 MB together, as items or as text; the rest is left to another
 * request.
 */
async function answer(
  { runtime }: RouterContext,
  input: Input,
  batches: readonly Batch[],
  records: readonly (readonly (ItemRecord | undefined)[])[],
): Promise<Reply> {
  const turns = new TurnBudget(runtime)
  const pieces: ItemJson[] = ['{"Responses":{']
  const unprocessed: [string, object][] = []
  const capacity: object[] = []
  let bytes = 0
  let jsonBytes = 0
  for (const [position, batch] of batches.entries()) {
    let separator = `${position === 0 ? '' : ','}${JSON.stringify(batch.name)}:[`
    const left: unknown[] = []
    let units = 0
    const read = records[position] ?? []
    for (const [at, record] of read.entries()) {
      const size = record?.itemBytes ?? 0
      const length = record?.json.length ?? 0
      const beyond = Math.max(bytes + size, jsonBytes + length) > limits.batchGetBytesMax
      if (left.length > 0 || beyond) {
        left.push(batch.gets.Keys[at])
        continue
      }
      bytes += size
      jsonBytes += length
      units += readUnits(size, batch.gets['ConsistentRead'] === true)
      if (record === undefined) continue
      pieces.push(separator, jsonOf(record, batch.projection))
      separator = ','
      if (batch.projection !== undefined && turns.isDue(length)) await turns.next()
    }
    for (let at = read.length; at < batch.keys.length; at++) left.push(batch.gets.Keys[at])
    pieces.push(separator === ',' ? ']' : `${separator}]`)
    if (left.length > 0) unprocessed.push([batch.name, { ...batch.gets, Keys: left }])
    const consumed = consumedCapacity(input['ReturnConsumedCapacity'], batch.table.name, { table: units })
    if (consumed !== undefined) capacity.push(consumed)
  }
  const further = furtherMembers({
    UnprocessedKeys: Object.fromEntries(unprocessed),
    ConsumedCapacity: capacity.length > 0 ? capacity : undefined,
  })
  pieces.push(`}${further}}`)
  return joinReply(pieces)
}

function jsonOf(record: ItemRecord, projection: RequestedProjection | undefined): ItemJson {
  if (projection === undefined) return record.json
  return JSON.stringify(projection.project(parseRecord(record)))
}
