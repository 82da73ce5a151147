import { jsonReply } from '../reply.js'
import { tableOperation } from './table-operation.js'

/** SDKs do not ask when they were given an endpoint. Should one ask, it is not to be sent to Amazon. */
export const describeEndpoints = tableOperation<object>({
  name: 'DescribeEndpoints',
  shape: { kind: 'struct', members: {} },

  run: () => jsonReply({ Endpoints: [{ Address: 'localhost:8000', CachePeriodInMinutes: 1440 }] }),
})
