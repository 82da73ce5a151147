import { conditionAttributes, refuseNestedKeys } from '../../expression/expression.js'
import { aboutOf } from '../request/about.js'
import type { Operation } from '../request/context.js'
import { keyOfItem } from '../request/keys.js'
import { enveloped } from '../request/wording.js'
import { tableNameOf } from '../shapes/table-name.js'
import { attributesForKey, givenItem, putOf } from './given-item.js'
import {
  checkConditionParameters,
  openCondition,
  refuseUpdateReturnValues,
  runWrite,
  writeMembers,
} from './single-write.js'

export const putItem: Operation = {
  name: 'PutItem',
  shape: {
    kind: 'struct',
    wording: 'newer',
    members: { ...writeMembers, Item: { kind: 'map', member: { kind: 'any' }, required: true } },
  },

  run(context, input, scope) {
    const tableName = tableNameOf(input['TableName'])
    scope.authorise(tableName)
    const { given, condition } = enveloped(input, () => {
      checkConditionParameters(input)
      const item = givenItem(input['Item'])
      refuseUpdateReturnValues(input)
      return { given: item, condition: openCondition(input) }
    })
    const mutation = putOf(given)
    const table = context.catalog.table(tableName)
    const keyAttributes = attributesForKey(given, table.shape.key)
    const key = keyOfItem(table.shape, keyAttributes)
    if (condition !== undefined)
      refuseNestedKeys(conditionAttributes(condition), table.shape.key, table.shape.indexes)
    const request = {
      table: table.shape,
      key,
      keyAttributes,
      mutation,
      ...(condition && { condition }),
      ...aboutOf(table.shape, scope),
    }
    return runWrite(context, table, input, request, (outcome) =>
      input['ReturnValues'] === 'ALL_OLD' ? outcome.old?.json : undefined,
    )
  },
}
