import { conditionAttributes, refuseNestedKeys } from '../../expression/expression.js'
import { storableBytes } from '../../model/item-size.js'
import { parseItem } from '../../model/parse-value.js'
import { aboutOf } from '../request/about.js'
import type { Operation } from '../request/context.js'
import { keyOfItem } from '../request/keys.js'
import { enveloped } from '../request/wording.js'
import { tableNameOf } from '../shapes/table-name.js'
import { checkConditionParameters, openCondition } from './write-expressions.js'
import { refuseUpdateReturnValues, runWrite, writeMembers } from './single-write.js'

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
    const { item, condition } = enveloped(input, () => {
      checkConditionParameters(input)
      const given = parseItem(input['Item'])
      refuseUpdateReturnValues(input)
      return { item: given, condition: openCondition(input) }
    })
    const bytes = storableBytes(item)
    const table = context.catalog.table(tableName)
    const key = keyOfItem(table.shape, item)
    if (condition !== undefined)
      refuseNestedKeys(conditionAttributes(condition), table.shape.key, table.shape.indexes)
    const request = {
      table: table.shape,
      key,
      keyAttributes: item,
      mutation: { kind: 'put' as const, item, itemBytes: bytes },
      ...(condition && { condition }),
      ...aboutOf(table.shape, scope),
    }
    return runWrite(context, table, input, request, (outcome) =>
      input['ReturnValues'] === 'ALL_OLD' ? outcome.old?.json : undefined,
    )
  },
}
