// Items that a unit of work has read or locked, as they come over the wire: checks on them.
import { parseItem } from '../../model/parse-value.js'
import type { UnitRead } from '../../rules/units/binding.js'
import type { Action } from '../../storage/contract/transactions.js'
import type { Input, RequestScope, RouterContext } from '../request/context.js'
import { checkedKeyOf } from '../request/keys.js'
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

/** Checks whose expectation is the version; without a version it was absent. */
export const bindReads = (
  context: RouterContext,
  elements: readonly Input[],
  scope: RequestScope,
): readonly UnitRead[] =>
  elements.map((read) => ({
    ...checkOf(context, read, scope, 'Reads'),
    expected: { kind: 'version', written: timestampOf(read['Version']) },
  }))

export const bindLocks = (
  context: RouterContext,
  elements: readonly Input[],
  scope: RequestScope,
): readonly Action[] => elements.map((lock) => checkOf(context, lock, scope, 'Locks'))

function checkOf(
  { catalog }: RouterContext,
  element: Input,
  scope: RequestScope,
  part: 'Reads' | 'Locks',
): Action {
  const tableName = tableNameOf(element['TableName'])
  scope.authorise(tableName, part)
  const { shape: table } = catalog.table(tableName)
  const keyAttributes = parseItem(element['Key'])
  return { table, key: checkedKeyOf(table, keyAttributes), keyAttributes, mutation: CHECK }
}

const CHECK = { kind: 'check' } as const
