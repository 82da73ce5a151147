// Items that a unit of work has read: each must have, at the commit timestamp, the last write that it had then.
import { parseItem } from '../../model/parse-value.js'
import type { Action } from '../../storage/transactions.js'
import type { Input, RequestScope, RouterContext } from '../context.js'
import { keyOf } from '../keys.js'
import { tableNameShape, type Shape } from '../shape.js'
import { tableNameOf } from '../table-name.js'
import { timestampOf } from './unit.js'

export const readShape: Shape = {
  kind: 'struct',
  members: {
    TableName: tableNameShape,
    Key: { kind: 'map', member: { kind: 'any' }, required: true },
    Version: { kind: 'long', valueMin: 0, valueMax: Number.MAX_SAFE_INTEGER },
  },
}

/** Checks whose expectation is the version; without a version it was absent. */
export function bindReads(
  context: RouterContext,
  elements: readonly Input[],
  scope: RequestScope,
  part: 'Reads' | 'Locks',
): readonly Action[] {
  return elements.map((read) => {
    const tableName = tableNameOf(read['TableName'])
    scope.authorise(tableName, part)
    const { shape } = context.catalog.table(tableName)
    const keyAttributes = parseItem(read['Key'])
    return {
      table: shape,
      key: keyOf(shape, keyAttributes),
      keyAttributes,
      mutation: { kind: 'check' },
      expected: { kind: 'version', written: timestampOf(read['Version']) },
    }
  })
}
