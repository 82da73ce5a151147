import { parseRecord } from '../../line/record.js'
import { refuseNestedKeys } from '../../expression/expression.js'
import { validationError } from '../../model/errors.js'
import { limits } from '../../model/limits.js'
import { parseItem } from '../../model/parse-value.js'
import type { ItemKey } from '../../model/table.js'
import type { ItemRecord } from '../../storage/contract/storage-node.js'
import { isCapacityWanted, returnConsumedCapacityShape } from '../request/capacity.js'
import type { Input, Operation, RequestScope, RouterContext, Table } from '../request/context.js'
import { checkedKeyOf } from '../request/keys.js'
import { openProjection, type RequestedProjection } from '../reads/read-expressions.js'
import { furtherMembers, joinReply } from '../request/reply.js'
import type { Reply } from '../request/router.js'
import { toldOfTransactions } from '../request/wording.js'
import { tableNameShape } from '../shapes/shape.js'
import { tableNameOf } from '../shapes/table-name.js'
import { TurnBudget } from '../request/turns.js'
import { ofTransactItems } from './transact-actions.js'
import { consumedByReads } from './transact-capacity.js'
import { conflicted, eachOrCancelled, refuseRepeatedItems } from './transact-refusals.js'

export const transactGetItems: Operation = {
  name: 'TransactGetItems',
  shape: {
    kind: 'struct',
    wording: 'transaction',
    members: {
      ReturnConsumedCapacity: returnConsumedCapacityShape,
      TransactItems: {
        kind: 'list',
        required: true,
        lengthMin: 1,
        lengthMax: limits.transactionActionsMax,
        newerConstraint: ofTransactItems,
        member: {
          kind: 'struct',
          members: {
            Get: {
              kind: 'struct',
              required: true,
              members: {
                TableName: tableNameShape,
                Key: { kind: 'map', member: { kind: 'any' }, required: true },
                ProjectionExpression: { kind: 'string' },
                ExpressionAttributeNames: { kind: 'map', member: { kind: 'string' } },
              },
            },
          },
        },
      },
    },
  },

  async run(context, input, scope) {
    const elements = input['TransactItems'] as readonly { readonly Get: Input }[]
    return readGets(context, input, bindGets(context, elements, scope))
  },
}

/** At one moment; answers them in their order. */
export async function readGets(
  context: RouterContext,
  input: Input,
  gets: readonly TransactGet[],
): Promise<Reply> {
  const [only] = gets
  if (only !== undefined && gets.length === 1 && context.rules.readsPassPrepared) {
    // One item needs no timestamp: whatever is committed of it is a snapshot, as it is for GetItem (§4).
    const record = await context.nodeOf(only.key.hash).get(only.table.shape.space, only.key, true)
    // Who writes next because of it writes above it.
    if (record !== undefined) context.coordinator.clock.witness(record.timestamp)
    return replyOf(context, input, gets, [record])
  }
  const items = gets.map(({ table, key }) => ({ space: table.shape.space, key }))
  refuseRepeatedItems(items)
  const outcome = await context.coordinator.read({ items })
  if (outcome.outcome === 'conflict') throw conflicted(outcome.conflicts.map((tx) => tx !== undefined))
  return replyOf(context, input, gets, outcome.records)
}

export interface TransactGet {
  readonly table: Table
  readonly key: ItemKey
  readonly projection: RequestedProjection | undefined
}

function bindGets(
  context: RouterContext,
  elements: readonly { readonly Get: Input }[],
  scope: RequestScope,
): readonly TransactGet[] {
  const parsed = elements.map(({ Get: get }) => {
    const tableName = tableNameOf(get['TableName'])
    scope.authorise(tableName)
    return toldOfTransactions(get, () => ({
      tableName,
      key: parseItem(get['Key']),
      projection: openProjection(get),
    }))
  })
  const tables = parsed.map(({ tableName }) => context.catalog.table(tableName))
  return eachOrCancelled(parsed, ({ key, projection }, at) => {
    const table = tables[at] as Table
    if (projection !== undefined) refuseNestedKeys(projection.paths, table.shape.key)
    return { table, key: checkedKeyOf(table.shape, key), projection }
  })
}

function replyOf(
  context: RouterContext,
  input: Input,
  gets: readonly TransactGet[],
  records: readonly (ItemRecord | undefined)[],
): Reply | Promise<Reply> {
  refuseTooLarge(records)
  if (gets.every(({ projection }) => projection === undefined)) return answer(input, gets, records)
  return projectedTexts(context, gets, records).then((texts) => answer(input, gets, records, texts))
}

function refuseTooLarge(records: readonly (ItemRecord | undefined)[]): void {
  let bytes = 0
  for (const record of records) bytes += record?.itemBytes ?? 0
  if (bytes > limits.transactionBytesMax)
    throw validationError('The aggregate size of the items in the transaction cannot exceed 4 MB')
}

/** What is answered of each item that is projected; the others are answered as they are stored. */
async function projectedTexts(
  { runtime }: RouterContext,
  gets: readonly TransactGet[],
  records: readonly (ItemRecord | undefined)[],
): Promise<readonly (string | undefined)[]> {
  const turns = new TurnBudget(runtime)
  const texts: (string | undefined)[] = []
  for (const [at, { projection }] of gets.entries()) {
    const record = projection && records[at]
    texts.push(record && JSON.stringify(projection.project(parseRecord(record))))
    if (record !== undefined && turns.isDue(record.json.length)) await turns.next()
  }
  return texts
}

/** Of an item that has none of the attributes that were asked for. */
const NOTHING = '{}'

/** One element for each get, in order; an item that is not there, or of which nothing is asked for, leaves an empty one. */
function answer(
  input: Input,
  gets: readonly TransactGet[],
  records: readonly (ItemRecord | undefined)[],
  texts?: readonly (string | undefined)[],
): Reply {
  const pieces: (string | Uint8Array)[] = []
  // Text that is still to be written before the next item.
  let text = '{"Responses":['
  for (let at = 0; at < gets.length; at++) {
    const record = records[at]
    if (at > 0) text += ','
    if (record === undefined || texts?.[at] === NOTHING) {
      text += '{}'
      continue
    }
    pieces.push(`${text}{"Item":`, texts?.[at] ?? record.json)
    text = '}'
  }
  const capacity = isCapacityWanted(input['ReturnConsumedCapacity'])
    ? consumedByReads(
        input,
        gets.map(({ table }, at) => [table, records[at]]),
      )
    : undefined
  const further = capacity === undefined ? '' : furtherMembers({ ConsumedCapacity: capacity })
  pieces.push(`${text}]${further}}`)
  return joinReply(pieces)
}
