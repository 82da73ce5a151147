import { parseRecord } from '../../line/record.js'
import {
  refuseKeyUpdate,
  refuseNestedKeys,
  refuseSetsInIndexKeys,
  conditionAttributes,
  updatedAttributes,
  updateOperands,
  updateCharge,
  updateTargets,
} from '../../expression/expression.js'
import type { BoundUpdate } from '../../expression/parse/types.js'
import { validationError } from '../../model/errors.js'
import { itemSizeRefusal } from '../../model/value.js'
import { parseItem } from '../../model/parse-value.js'
import type { ItemRecord } from '../../storage/contract/storage-node.js'
import { aboutOf } from '../request/about.js'
import type { Operation } from '../request/context.js'
import { checkedKeyOf } from '../request/keys.js'
import { enveloped } from '../request/wording.js'
import { tableNameOf } from '../shapes/table-name.js'
import { checkUpdateParameters, openUpdate, runWrite, writeMembers } from './single-write.js'

export const updateItem: Operation = {
  name: 'UpdateItem',
  shape: {
    kind: 'struct',
    wording: 'newer, stops',
    members: {
      ...writeMembers,
      Key: { kind: 'map', member: { kind: 'any' }, required: true },
      AttributeUpdates: {
        kind: 'map',
        member: {
          kind: 'struct',
          className: 'com.amazonaws.dynamodb.v20120810.AttributeValueUpdate',
          members: { Value: { kind: 'any' }, Action: { kind: 'string', values: ['ADD', 'DELETE', 'PUT'] } },
        },
      },
      UpdateExpression: { kind: 'string' },
    },
  },

  run(context, input, scope) {
    const tableName = tableNameOf(input['TableName'])
    scope.authorise(tableName)
    const { keyAttributes, update, condition } = enveloped(input, () => {
      checkUpdateParameters(input)
      return { keyAttributes: parseItem(input['Key']), ...openUpdate(input) }
    })
    const table = context.catalog.table(tableName)
    const key = checkedKeyOf(table.shape, keyAttributes)
    refuseKeyUpdate(update, table.shape.key)
    refuseSetsInIndexKeys(update, table.shape.indexes)
    const paths = [...updateTargets(update), ...updateOperands(update)]
    refuseNestedKeys(paths, table.shape.key, table.shape.indexes)
    if (condition !== undefined) {
      refuseNestedKeys(conditionAttributes(condition), table.shape.key, table.shape.indexes)
    }
    refuseLargeUpdate(update)
    const request = {
      table: table.shape,
      key,
      keyAttributes,
      mutation: { kind: 'update' as const, update },
      ...(condition && { condition }),
      ...aboutOf(table.shape, scope),
    }
    return runWrite(context, table, input, request, (outcome) => {
      switch (input['ReturnValues']) {
        case 'ALL_OLD':
          return outcome.old?.json
        case 'ALL_NEW':
          return outcome.new?.json
        case 'UPDATED_OLD':
          return updatedPart(update, outcome.old)
        case 'UPDATED_NEW':
          return updatedPart(update, outcome.new)
        default:
          return undefined
      }
    })
  },
}

/** Before the condition is looked at. What the update makes of the item is measured where it is made. */
function refuseLargeUpdate(update: BoundUpdate): void {
  if (update.tree.dialect !== 'UpdateExpression') return
  const refusal = itemSizeRefusal(updateCharge(update), 'update')
  if (refusal !== undefined) throw validationError(refusal)
}

/** The members that the update names, of one image; absent when there is nothing of them in it. */
function updatedPart(update: BoundUpdate, record: ItemRecord | undefined): string | undefined {
  if (record === undefined) return undefined
  const part = updatedAttributes(update, parseRecord(record))
  return Object.keys(part).length === 0 ? undefined : JSON.stringify(part)
}
