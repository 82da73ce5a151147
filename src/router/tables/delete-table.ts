import { validationError } from '../../model/errors.js'
import { jsonReply } from '../request/reply.js'
import { administeredTableNameShape } from '../shapes/shape.js'
import { refuseUnsettledDeletion } from './catalog/creation-pace.js'
import { endedTable, refuseWhileBackedUp } from './catalog/ended-table.js'
import { tableDescription } from './table-description.js'
import { tableNameOf } from '../shapes/table-name.js'
import { tableOperation } from './table-operation.js'

const GONE: ReadonlySet<string> = new Set([
  'AttributeDefinitions',
  'KeySchema',
  'CreationDateTime',
  'GlobalSecondaryIndexes',
  'LocalSecondaryIndexes',
])

export const deleteTable = tableOperation<{ readonly TableName: string }>({
  name: 'DeleteTable',
  shape: { kind: 'struct', members: { TableName: administeredTableNameShape } },

  async run(catalog, input, scope) {
    const name = tableNameOf(input.TableName)
    scope.authorise(name)
    const found = catalog.record(name)
    const count = await catalog.count(found.space)
    await catalog.keeper.written(found)
    const record = await catalog.change((draft) => {
      const doomed = draft.record(name)
      refuseUnsettledDeletion(doomed, catalog.moment)
      if (doomed.deletionProtection) {
        throw validationError(
          'Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.',
        )
      }
      refuseWhileBackedUp(doomed)
      draft.remove(doomed)
      if (doomed.pointInTime !== undefined) draft.beside.push(endedTable({ record: doomed, ...count }))
      return doomed
    })
    await catalog.keeper.settle()
    const described = tableDescription(record, await catalog.counts(record), scope.addressed, {
      table: 'DELETING',
    })
    // The service tells what is left of a table that goes: neither its keys nor its indexes, nor when it was created.
    const answer = Object.entries(described).filter(([member]) => !GONE.has(member))
    return jsonReply({ TableDescription: Object.fromEntries(answer) })
  },
})
