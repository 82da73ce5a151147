import { legacyProjection, openExpressions, project } from '../../expression/expression.js'
import type { BoundProjection } from '../../expression/types.js'
import type { Item } from '../../model/value.js'
import { consumedCapacity, readUnits, returnConsumedCapacityShape } from '../capacity.js'
import type { Input, Operation } from '../context.js'
import { parseKey } from '../keys.js'
import { furtherMembers, joinReply, parseRecord } from '../reply.js'
import { tableNameShape } from '../shape.js'
import { tableNameOf } from '../table-name.js'

export const getItem: Operation = {
  name: 'GetItem',
  access: 'read',
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
    const projection = projectionOf(input)
    const table = context.catalog.table(tableName)
    const { key } = parseKey(table.shape, input['Key'])
    const record = await context.nodeOf(key.hash).get(table.shape.space, key)

    const detail = input['ReturnConsumedCapacity']
    const capacity =
      detail === 'TOTAL' || detail === 'INDEXES'
        ? consumedCapacity(detail, table.name, {
            table: readUnits(record?.itemBytes ?? 0, input['ConsistentRead'] === true),
          })
        : undefined
    const further = capacity === undefined ? '' : furtherMembers({ ConsumedCapacity: capacity })
    if (record === undefined) return Buffer.from(`{${further.slice(1)}}`)
    if (projection === undefined) return joinReply(['{"Item":', record.json, further, '}'])
    const item = project(projection, parseRecord<Item>(record))
    return Buffer.from(`{"Item":${JSON.stringify(item)}${further}}`)
  },
}

function projectionOf(input: Input): BoundProjection | undefined {
  if (input['ProjectionExpression'] == null && input['AttributesToGet'] == null && input['ExpressionAttributeNames'] == null) {
    return undefined
  }
  return legacyProjection(input, openExpressions)
}
