import { jsonReply } from '../request/reply.js'
import { administeredTableNameShape, indexNameShape, type StructShape } from '../shapes/shape.js'
import { tableDescription } from './table-description.js'
import { tableNameOf } from '../shapes/table-name.js'
import {
  attributeDefinitionsShape,
  billingModeShape,
  encryptionShape,
  globalIndexShape,
  onDemandThroughputShape,
  streamShape,
  throughputShape,
  warmThroughputShape,
} from './record/table-shapes.js'
import { refuseUnsettled } from './catalog/creation-pace.js'
import { checkTableUpdate, indexChangesOf, updatedTable, type UpdateTableInput } from './table-update.js'
import { refuseVectorsOnEngine, vectorIndexUpdatesShape } from './record/vector-indexes.js'
import { beginLog, withStream } from './table-stream.js'
import { tableOperation } from './table-operation.js'

const MODEL = 'com.amazonaws.dynamodb.v20120810.'

const indexUpdateShape: StructShape = {
  kind: 'struct',
  className: `${MODEL}GlobalSecondaryIndexUpdate`,
  members: {
    Update: {
      kind: 'struct',
      className: `${MODEL}UpdateGlobalSecondaryIndexAction`,
      members: {
        IndexName: indexNameShape,
        ProvisionedThroughput: throughputShape,
        OnDemandThroughput: onDemandThroughputShape,
        WarmThroughput: warmThroughputShape,
      },
    },
    Create: { ...globalIndexShape, className: `${MODEL}CreateGlobalSecondaryIndexAction` },
    Delete: {
      kind: 'struct',
      className: `${MODEL}DeleteGlobalSecondaryIndexAction`,
      members: { IndexName: indexNameShape },
    },
  },
}

export const updateTable = tableOperation<UpdateTableInput>({
  name: 'UpdateTable',
  shape: {
    kind: 'struct',
    members: {
      AttributeDefinitions: attributeDefinitionsShape,
      TableName: administeredTableNameShape,
      BillingMode: billingModeShape,
      ProvisionedThroughput: throughputShape,
      GlobalSecondaryIndexUpdates: { kind: 'list', member: indexUpdateShape },
      StreamSpecification: streamShape,
      SSESpecification: encryptionShape,
      ReplicaUpdates: { kind: 'list', member: { kind: 'any', opaque: true } },
      TableClass: { kind: 'string' },
      DeletionProtectionEnabled: { kind: 'boolean' },
      OnDemandThroughput: onDemandThroughputShape,
      WarmThroughput: warmThroughputShape,
      VectorIndexUpdates: vectorIndexUpdatesShape,
    },
  },

  async run(catalog, input, scope, context) {
    const name = tableNameOf(input.TableName)
    scope.authorise(name)
    checkTableUpdate(input)
    const found = catalog.record(name)
    refuseVectorsOnEngine(
      input.VectorIndexUpdates?.some((update) => update.Create !== undefined) === true,
      catalog,
    )
    await beginLog(input.StreamSpecification, context)
    await catalog.keeper.settle()
    if (input.StreamSpecification?.StreamEnabled === false) await catalog.keeper.written(found)
    const update = await catalog.change((draft) => {
      const nowMicros = context.runtime.clock.nowMicros()
      refuseUnsettled(draft.record(name), catalog.moment, indexChangesOf(input))
      const streaming = withStream(draft, draft.record(name), input.StreamSpecification, context)
      const decided = updatedTable(streaming, input, draft.allocateSpace, nowMicros)
      draft.put(decided.record)
      for (const index of decided.dropped) draft.drop(index.space)
      return decided
    })
    await catalog.keeper.settle()
    const shown = { ...update.record, indexes: [...update.record.indexes, ...update.dropped] }
    const statuses = { table: update.tableStatus, indexes: update.indexStatuses }
    return jsonReply({
      TableDescription: tableDescription(shown, await catalog.counts(shown), scope.addressed, statuses),
    })
  },
})
