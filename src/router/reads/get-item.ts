import { parseRecord } from '../../line/record.js'
import { refuseNestedKeys } from '../../expression/expression.js'
import { parseItem } from '../../model/parse-value.js'
import type { Item } from '../../model/value.js'
import {
  consumedCapacity,
  isCapacityWanted,
  readUnits,
  returnConsumedCapacityShape,
} from '../request/capacity.js'
import type { Operation } from '../request/context.js'
import { checkedKeyOf } from '../request/keys.js'
import { openProjection } from './read-expressions.js'
import { furtherMembers, joinReply } from '../request/reply.js'
import { tableNameShape } from '../shapes/shape.js'
import { tableNameOf } from '../shapes/table-name.js'

export const getItem: Operation = {
  name: 'GetItem',
  shape: {
    kind: 'struct',
    members: {
      ReturnConsumedCapacity: returnConsumedCapacityShape,
      AttributesToGet: { kind: 'list', member: { kind: 'string' }, lengthMin: 1, lengthMax: 255 },
      TableName: tableNameShape,
      Key: { kind: 'map', member: { kind: 'any' }, required: true },
      ConsistentRead: { kind: 'boolean' },
      ProjectionExpression: { kind: 'string' },
      ExpressionAttributeNames: { kind: 'map', member: { kind: 'string' } },
    },
  },

  async run(context, input, scope) {
    const tableName = tableNameOf(input['TableName'])
    scope.authorise(tableName)
    let keyAttributes: Item = {}
    const projection = openProjection(input, () => {
      keyAttributes = parseItem(input['Key'])
    })
    const table = context.catalog.table(tableName)
    const key = checkedKeyOf(table.shape, keyAttributes)
    if (projection !== undefined) refuseNestedKeys(projection.paths, table.shape.key, table.shape.indexes)
    const isConsistent = input['ConsistentRead'] === true
    const record = await context.nodeOf(key.hash).get(table.shape.space, key, isConsistent)

    const detail = input['ReturnConsumedCapacity']
    const capacity = isCapacityWanted(detail)
      ? consumedCapacity(detail, table.name, {
          table: readUnits(record?.itemBytes ?? 0, isConsistent),
        })
      : undefined
    const further = capacity === undefined ? '' : furtherMembers({ ConsumedCapacity: capacity })
    if (record === undefined) return Buffer.from(`{${further.slice(1)}}`)
    if (projection === undefined) return joinReply(['{"Item":', record.json, `${further}}`])
    const item = projection.project(parseRecord(record))
    return Buffer.from(`{"Item":${JSON.stringify(item)}${further}}`)
  },
}
