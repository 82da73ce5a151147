// Members that Query and Scan have in common.
import { returnConsumedCapacityShape } from '../request/capacity.js'
import { comparisonOperatorShape, conditionalOperatorShape } from '../writes/single-write.js'
import { selectShape } from './read-expressions.js'
import { tableNameShape, type RequestShape } from '../shapes/shape.js'

/** QueryFilter, ScanFilter and KeyConditions. */
export const conditionMapShape: RequestShape = {
  kind: 'map',
  member: {
    kind: 'struct',
    required: true,
    className: 'com.amazonaws.dynamodb.v20120810.Condition',
    members: {
      AttributeValueList: { kind: 'list', member: { kind: 'any' } },
      ComparisonOperator: { ...comparisonOperatorShape, required: true },
    },
  },
}

export const readMembers: Readonly<Record<string, RequestShape>> = {
  Select: selectShape,
  IndexName: {
    kind: 'string',
    pattern: '[a-zA-Z0-9_.-]+',
    lengthMin: 3,
    lengthMax: 255,
  },
  ReturnConsumedCapacity: returnConsumedCapacityShape,
  TableName: tableNameShape,
  ConditionalOperator: conditionalOperatorShape,
  AttributesToGet: { kind: 'list', member: { kind: 'string' }, lengthMin: 1, lengthMax: 255 },
  ExclusiveStartKey: { kind: 'map', member: { kind: 'any' } },
  ConsistentRead: { kind: 'boolean' },
  FilterExpression: { kind: 'string' },
  ProjectionExpression: { kind: 'string' },
  ExpressionAttributeValues: { kind: 'map', member: { kind: 'any' } },
  ExpressionAttributeNames: { kind: 'map', member: { kind: 'string' } },
}
