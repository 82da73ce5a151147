import { jsonReply } from '../request/reply.js'
import { administeredTableNameShape } from '../shapes/shape.js'
import { statusesAt, tableDescription as describe } from './table-description.js'
import { tableNameOf } from '../shapes/table-name.js'
import { tableOperation } from './table-operation.js'

export const describeTable = tableOperation<{ readonly TableName: string }>({
  name: 'DescribeTable',
  shape: { kind: 'struct', members: { TableName: administeredTableNameShape } },

  async run(catalog, input, scope) {
    const name = tableNameOf(input.TableName)
    scope.authorise(name)
    const record = catalog.record(name)
    const counts = await catalog.counts(record)
    return jsonReply({ Table: describe(record, counts, scope.addressed, statusesAt(record, catalog.moment)) })
  },
})
