import { jsonReply } from '../request/reply.js'
import { administeredTableNameShape } from '../shapes/shape.js'
import { tableDescription as describe } from './table-description.js'
import { tableNameOf } from '../shapes/table-name.js'
import { tableOperation } from './table-operation.js'

export const describeTable = tableOperation<{ readonly TableName: string }>({
  name: 'DescribeTable',
  shape: { kind: 'struct', members: { TableName: administeredTableNameShape } },

  async run(catalog, input, scope) {
    const name = tableNameOf(input.TableName)
    scope.authorise(name)
    const record = catalog.record(name)
    return jsonReply({ Table: describe(record, await catalog.counts(record), scope.addressed) })
  },
})
