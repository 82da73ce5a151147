import { jsonReply } from '../request/reply.js'
import { tableOperation } from './table-operation.js'

/** DynamoDB's default quotas; this store throttles nothing. */
export const describeLimits = tableOperation<object>({
  name: 'DescribeLimits',
  shape: { kind: 'struct', members: {} },

  run: () =>
    jsonReply({
      AccountMaxReadCapacityUnits: 80_000,
      AccountMaxWriteCapacityUnits: 80_000,
      TableMaxReadCapacityUnits: 40_000,
      TableMaxWriteCapacityUnits: 40_000,
    }),
})
