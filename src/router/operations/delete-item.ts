import { writeCondition } from '../../expression/expression.js'
import type { Operation } from '../context.js'
import { parseKey } from '../keys.js'
import { tableNameOf } from '../table-name.js'
import { refuseUpdateReturnValues, runWrite, writeMembers } from './single-write.js'

export const deleteItem: Operation = {
  name: 'DeleteItem',
  access: 'write',
  shape: {
    kind: 'struct',
    members: { ...writeMembers, Key: { kind: 'map', member: { kind: 'any' }, required: true } },
  },

  async run(context, input, scope) {
    const tableName = tableNameOf(input['TableName'])
    scope.authorise(tableName)
    refuseUpdateReturnValues(input)
    const condition = writeCondition(input)
    const table = context.catalog.table(tableName)
    const { key, attributes } = parseKey(table.shape, input['Key'])
    const request = {
      table: table.shape,
      key,
      keyAttributes: attributes,
      mutation: { kind: 'delete' as const },
      ...(condition && { condition }),
    }
    return runWrite(context, table, input, request, (outcome) =>
      input['ReturnValues'] === 'ALL_OLD' ? outcome.old?.json : undefined,
    )
  },
}
