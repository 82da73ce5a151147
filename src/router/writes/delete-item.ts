import { conditionAttributes, refuseNestedKeys } from '../../expression/expression.js'
import { parseItem } from '../../model/parse-value.js'
import { aboutOf } from '../request/about.js'
import type { Operation } from '../request/context.js'
import { checkedKeyOf } from '../request/keys.js'
import { enveloped } from '../request/wording.js'
import { tableNameOf } from '../shapes/table-name.js'
import {
  checkConditionParameters,
  openCondition,
  refuseUpdateReturnValues,
  runWrite,
  writeMembers,
} from './single-write.js'

export const deleteItem: Operation = {
  name: 'DeleteItem',
  shape: {
    kind: 'struct',
    wording: 'newer',
    members: { ...writeMembers, Key: { kind: 'map', member: { kind: 'any' }, required: true } },
  },

  run(context, input, scope) {
    const tableName = tableNameOf(input['TableName'])
    scope.authorise(tableName)
    const { keyAttributes, condition } = enveloped(input, () => {
      checkConditionParameters(input)
      const key = parseItem(input['Key'])
      refuseUpdateReturnValues(input)
      return { keyAttributes: key, condition: openCondition(input) }
    })
    const table = context.catalog.table(tableName)
    const key = checkedKeyOf(table.shape, keyAttributes)
    if (condition !== undefined)
      refuseNestedKeys(conditionAttributes(condition), table.shape.key, table.shape.indexes)
    const request = {
      table: table.shape,
      key,
      keyAttributes,
      mutation: { kind: 'delete' as const },
      ...(condition && { condition }),
      ...aboutOf(table.shape, scope),
    }
    return runWrite(context, table, input, request, (outcome) =>
      input['ReturnValues'] === 'ALL_OLD' ? outcome.old?.json : undefined,
    )
  },
}
