import { jsonReply } from '../request/reply.js'
import { tableOperation } from './table-operation.js'

/** SDKs do not ask when they were given an endpoint. Should one ask, it is sent to where it has asked. */
export const describeEndpoints = tableOperation<object>({
  name: 'DescribeEndpoints',
  shape: { kind: 'struct', members: {} },

  run: (_catalog, _input, { addressed }) =>
    jsonReply({ Endpoints: [{ Address: addressed.host ?? 'localhost:8000', CachePeriodInMinutes: 1440 }] }),
})
