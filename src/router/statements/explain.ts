// EXPLAIN, one of our own: what a statement would do, by which key and index, and what it would cost, without doing it.
import { conditionAttributes } from '../../expression/expression.js'
import type { BoundCondition } from '../../expression/parse/types.js'
import { setAttribute, type AttributeValue, type Item, type MutableItem } from '../../model/value.js'
import { onlyKey, type BoundSelect, type KeyRead } from '../../partiql/partiql.js'
import { readUnits, writeUnits } from '../request/capacity.js'
import type { Input, RouterContext } from '../request/context.js'
import type { Reply } from '../request/router.js'
import { jsonReply } from '../request/reply.js'
import { bindRead, type BoundRead } from './statement-reads.js'
import type { TableStatement } from './statement-table.js'
import { isWrite, writeOf, type WriteStatement } from './statement-writes.js'

/** One row for each read or write that the statement becomes. */
export async function explained(context: RouterContext, input: Input, found: TableStatement): Promise<Reply> {
  const rows = isWrite(found.bound)
    ? [writeRow(found as TableStatement<WriteStatement>)]
    : await readRows(context, input, found as TableStatement<BoundSelect>)
  return jsonReply({ Items: rows })
}

const text = (value: string): AttributeValue => ({ S: value })
const number = (value: number): AttributeValue => ({ N: String(value) })
const OPERATIONS = { insert: 'PutItem', update: 'UpdateItem', delete: 'DeleteItem' } as const

function writeRow(found: TableStatement<WriteStatement>): Item {
  const { table, bound } = found
  const { mutation, keyAttributes } = writeOf(found)
  const names = [table.shape.key.partition, table.shape.key.sort].flatMap((part) => part?.name ?? [])
  const key: MutableItem = {}
  for (const name of names) setAttribute(key, name, keyAttributes[name]!)
  return {
    operation: text(OPERATIONS[bound.type]),
    table: text(table.name),
    key: { M: key },
    condition: text(conditionWords(bound)),
    // Of an item that is larger already, and of indexes, more.
    writeUnitsMin: number(writeUnits(mutation.kind === 'put' ? (mutation.itemBytes ?? 0) : 0)),
  }
}

function conditionWords(bound: WriteStatement): string {
  if (bound.type === 'insert') return 'there is no item with this key'
  return bound.type === 'update'
    ? 'there is an item with this key, and the rest of WHERE holds'
    : 'the rest of WHERE holds, if there is an item with this key'
}

async function readRows(
  context: RouterContext,
  input: Input,
  found: TableStatement<BoundSelect>,
): Promise<readonly Item[]> {
  const consistent = input['ConsistentRead'] === true
  const read = bindRead(context, found, consistent ? 'strong' : 'eventual')
  const { plan, target } = read
  const common: Item = {
    table: text(target.table.name),
    ...(target.index && { index: text(target.index.name) }),
  }
  const key = target.index === undefined ? onlyKey(plan, target.table.shape.key) : undefined
  if (key !== undefined)
    return [
      {
        operation: text('GetItem'),
        ...common,
        key: { M: key },
        readUnitsMin: number(readUnits(0, consistent)),
      },
    ]
  if (plan.type === 'scan')
    return [{ operation: text('Scan'), ...common, ...(await scanRow(context, read, consistent)) }]
  return plan.reads.map((one) => ({
    operation: text('Query'),
    ...common,
    ...keyRow(one, read),
    ...filterRow(one.filter),
    readUnitsMin: number(readUnits(0, consistent)),
  }))
}

function keyRow({ partition, sort }: KeyRead, { target }: BoundRead): Item {
  const { key } = target
  return {
    partition: { M: { [key.partition.name]: partition } },
    ...(sort.length > 0 && {
      sort: { L: sort.map(({ op, values }) => ({ M: { [`${key.sort!.name} ${op}`]: { L: [...values] } } })) },
    }),
  }
}

/** Which attributes the rows are filtered by, after they were read and paid for. */
function filterRow(filter: BoundCondition | undefined): Item {
  if (filter === undefined) return {}
  const names = new Set(conditionAttributes(filter).map(([name]) => String(name)))
  return names.size === 0 ? {} : { filteredBy: { SS: [...names] } }
}

async function scanRow(
  context: RouterContext,
  { plan, target }: BoundRead,
  consistent: boolean,
): Promise<Item> {
  const counts = await Promise.all(context.nodes.map((node) => node.count(target.table.shape.space)))
  const items = counts.reduce((sum, one) => sum + one.items, 0)
  const bytes = counts.reduce((sum, one) => sum + one.bytes, 0)
  return {
    ...filterRow(plan.type === 'scan' ? plan.filter : undefined),
    itemsOfTable: number(items),
    // Of an index less: it holds fewer items, or parts of them.
    readUnitsMax: number(readUnits(bytes, consistent)),
    hint: text('Give the partition key with = or IN in WHERE, of the table or of an index, to read by key.'),
  }
}
