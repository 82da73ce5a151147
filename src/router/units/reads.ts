// Items that a unit of work has read or locked, as they come over the wire: checks on them.
import type { Timestamp } from '../../model/brand.js'
import { parseItem } from '../../model/parse-value.js'
import type { Item } from '../../model/value.js'
import type { UnitRead } from '../../rules/units/binding.js'
import type { Action } from '../../storage/contract/transactions.js'
import type { Input, RequestScope, RouterContext } from '../request/context.js'
import { checkedKeyOf } from '../request/keys.js'
import { ELEMENT_BYTES, type TurnBudget } from '../request/turns.js'
import { tableNameShape, type RequestShape } from '../shapes/shape.js'
import { tableNameOf } from '../shapes/table-name.js'
import { timestampOf } from './unit.js'

export const readShape: RequestShape = {
  kind: 'struct',
  members: {
    TableName: tableNameShape,
    Key: { kind: 'map', member: { kind: 'any' }, required: true },
    Version: { kind: 'long', valueMin: 0, valueMax: Number.MAX_SAFE_INTEGER },
  },
}

/** An item that a unit names, before its table is looked up. */
interface NamedItem {
  readonly tableName: string
  readonly keyAttributes: Item
  readonly version: Timestamp | undefined
}

/** What can be checked without the tables, in turns if there is much of it; what was counted before counts too. */
export async function parseItems(
  elements: readonly Input[],
  scope: RequestScope,
  part: 'Reads' | 'Locks',
  turns: TurnBudget,
): Promise<readonly NamedItem[]> {
  const parsed: NamedItem[] = []
  for (const element of elements) {
    const tableName = tableNameOf(element['TableName'])
    scope.authorise(tableName, part)
    const keyAttributes = parseItem(element['Key'])
    parsed.push({ tableName, keyAttributes, version: timestampOf(element['Version']) })
    if (turns.isDue(ELEMENT_BYTES)) await turns.next()
  }
  return parsed
}

/** Checks whose expectation is the version; without a version it was absent. Reads the catalogue. */
export const bindReads = (context: RouterContext, parsed: readonly NamedItem[]): readonly UnitRead[] =>
  parsed.map((read) => {
    const { table, key, keyAttributes, mutation } = checkOf(context, read)
    return { table, key, keyAttributes, mutation, expected: { kind: 'version', written: read.version } }
  })

/** Reads the catalogue. */
export const bindLocks = (context: RouterContext, parsed: readonly NamedItem[]): readonly Action[] =>
  parsed.map((lock) => checkOf(context, lock))

function checkOf({ catalog }: RouterContext, { tableName, keyAttributes }: NamedItem): Action {
  const { shape: table } = catalog.table(tableName)
  return { table, key: checkedKeyOf(table, keyAttributes), keyAttributes, mutation: CHECK }
}

const CHECK = { kind: 'check' } as const
