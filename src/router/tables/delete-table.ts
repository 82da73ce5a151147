import { validationError } from '../../model/errors.js'
import { jsonReply } from '../request/reply.js'
import { administeredTableNameShape } from '../shapes/shape.js'
import { refuseUnsettledDeletion } from './creation-pace.js'
import { tableDescription } from './table-description.js'
import { tableNameOf } from '../shapes/table-name.js'
import { tableOperation } from './table-operation.js'

export const deleteTable = tableOperation<{ readonly TableName: string }>({
  name: 'DeleteTable',
  shape: { kind: 'struct', members: { TableName: administeredTableNameShape } },

  async run(catalog, input, scope) {
    const name = tableNameOf(input.TableName)
    scope.authorise(name)
    const record = await catalog.change((draft) => {
      const doomed = draft.record(name)
      refuseUnsettledDeletion(doomed, catalog.moment)
      if (doomed.deletionProtection) {
        throw validationError(
          'Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.',
        )
      }
      draft.remove(doomed)
      return doomed
    })
    await catalog.keeper.settle()
    const withoutIndexes = { ...record, indexes: record.indexes.filter((index) => index.kind === 'local') }
    const answer = tableDescription(withoutIndexes, await catalog.counts(withoutIndexes), scope.addressed, {
      table: 'DELETING',
    })
    return jsonReply({ TableDescription: answer })
  },
})
