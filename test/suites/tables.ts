// Tables, keys and requests for tests of storage nodes.
import { TableGone } from '../../src/line/errors.js'
import { openExpressions } from '../../src/expression/expression.js'
import { spaceId } from '../../src/model/brand.js'
import { itemKey } from '../../src/model/key-bytes.js'
import type { TableShape } from '../../src/model/table.js'
import type { AttributeValue, Item } from '../../src/model/value.js'
import type {
  ItemRecord,
  StorageNode,
  WriteOutcome,
  WriteRequest,
} from '../../src/storage/contract/storage-node.js'

/** Partition key `id`, no sort key, no index. */
export const plain: TableShape = {
  name: 'plain',
  space: spaceId(1),
  key: { partition: { name: 'id', type: 'S' } },
  indexes: [],
}

/** Partition key `id`, sort key `n`, an index on `color` and `weight`, expiry on `until`. */
export const rich: TableShape = {
  name: 'rich',
  space: spaceId(10),
  key: { partition: { name: 'id', type: 'S' }, sort: { name: 'n', type: 'N' } },
  indexes: [
    {
      name: 'by-color',
      space: spaceId(11),
      kind: 'global',
      key: { partition: { name: 'color', type: 'S' }, sort: { name: 'weight', type: 'N' } },
      projection: { type: 'ALL' },
    },
    {
      name: 'by-tag',
      space: spaceId(12),
      kind: 'global',
      key: { partition: { name: 'tag', type: 'B' } },
      projection: { type: 'ALL' },
    },
  ],
  expiry: { attribute: 'until', space: spaceId(13) },
}

interface Expression {
  readonly condition?: string
  readonly values?: Item
}

function expressions(values: Item | undefined): ReturnType<typeof openExpressions> {
  return openExpressions(values === undefined ? {} : { ExpressionAttributeValues: values })
}

function request(
  table: TableShape,
  key: Item,
  mutation: WriteRequest['mutation'],
  opened: ReturnType<typeof openExpressions>,
  condition: string | undefined,
): WriteRequest {
  return {
    table,
    key: itemKey(table.key, key),
    keyAttributes: key,
    mutation,
    ...(condition !== undefined && { condition: opened.condition(condition, 'ConditionExpression') }),
  }
}

export function putRequest(table: TableShape, item: Item, expression: Expression = {}): WriteRequest {
  return request(table, item, { kind: 'put', item }, expressions(expression.values), expression.condition)
}

export function deleteRequest(table: TableShape, key: Item, expression: Expression = {}): WriteRequest {
  return request(table, key, { kind: 'delete' }, expressions(expression.values), expression.condition)
}

export function updateRequest(
  table: TableShape,
  key: Item,
  update: string,
  expression: Expression = {},
): WriteRequest {
  const opened = expressions(expression.values)
  return request(table, key, { kind: 'update', update: opened.update(update) }, opened, expression.condition)
}

export const put = (
  node: StorageNode,
  table: TableShape,
  item: Item,
  expression?: Expression,
): Promise<WriteOutcome> => node.write(putRequest(table, item, expression))

export const remove = (node: StorageNode, table: TableShape, key: Item): Promise<WriteOutcome> =>
  node.write(deleteRequest(table, key))

export const plainItem = (id: string, attributes: Item = {}): Item => ({ id: { S: id }, ...attributes })
export const number = (value: number): AttributeValue => ({ N: String(value) })

export function itemOf(record: ItemRecord | undefined): Item | undefined {
  return record === undefined ? undefined : (JSON.parse(Buffer.from(record.json).toString()) as Item)
}

/** Of a table that was dropped, where some nodes say so and others find nothing. */
export async function orGone<Result>(outcome: Promise<Result>): Promise<Result | undefined> {
  try {
    return await outcome
  } catch (error) {
    if (error instanceof TableGone) return undefined
    throw error
  }
}

export async function getItem(node: StorageNode, table: TableShape, key: Item): Promise<Item | undefined> {
  return itemOf(await node.get(table.space, itemKey(table.key, key), true))
}
