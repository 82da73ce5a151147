import { DynamoError } from '../../model/errors.js'
import type { CatalogDraft } from './catalog/catalog-draft.js'
import { uuid } from '../../runtime/uuid.js'
import type { RouterContext } from '../request/context.js'
import { jsonReply } from '../request/reply.js'
import { administeredTableNameShape } from '../shapes/shape.js'
import { tableDefinition, type TableDefinition } from './record/table-definition.js'
import { tableDescription } from './table-description.js'
import { tableNameOf } from '../shapes/table-name.js'
import type { BillingMode, IndexDefinition, IndexRecord, TableRecord, Tag } from './record/table-record.js'
import {
  checkEncryption,
  checkOnDemandThroughput,
  checkTableClass,
  describeEncryption,
  warmedThroughput,
} from './record/table-settings.js'
import {
  attributeDefinitionsShape,
  billingModeShape,
  encryptionShape,
  globalIndexShape,
  keySchemaShape,
  localIndexShape,
  onDemandThroughputShape,
  streamShape,
  tagsShape,
  throughputShape,
  warmThroughputShape,
  type CreateTableInput,
} from './record/table-shapes.js'
import { checkedPolicy, refusePolicyWithKeys, TABLE_POLICY } from './table-policies.js'
import { refuseVectorsOnEngine, vectorIndexShape } from './record/vector-indexes.js'
import { beginLog, checkStreamSpecification, withStream } from './table-stream.js'
import { asksForLedger, beginLedger, ledgerTags } from './record/table-ledger.js'
import { checkTags } from './record/tags.js'
import { tableOperation } from './table-operation.js'

export const createTable = tableOperation<CreateTableInput>({
  name: 'CreateTable',
  shape: {
    kind: 'struct',
    members: {
      AttributeDefinitions: { ...attributeDefinitionsShape, required: true },
      TableName: administeredTableNameShape,
      BillingMode: billingModeShape,
      ProvisionedThroughput: throughputShape,
      KeySchema: keySchemaShape,
      // In the order in which the service tells what is wrong with them.
      GlobalSecondaryIndexes: { kind: 'list', member: globalIndexShape },
      LocalSecondaryIndexes: { kind: 'list', member: localIndexShape },
      VectorIndexes: { kind: 'list', member: vectorIndexShape },
      OnDemandThroughput: onDemandThroughputShape,
      WarmThroughput: warmThroughputShape,
      StreamSpecification: streamShape,
      SSESpecification: encryptionShape,
      Tags: tagsShape,
      TableClass: { kind: 'string' },
      DeletionProtectionEnabled: { kind: 'boolean' },
      ResourcePolicy: { kind: 'string' },
    },
  },

  async run(catalog, input, scope, context) {
    const name = tableNameOf(input.TableName)
    scope.authorise(name)
    const definition = tableDefinition(input)
    checkStreamSpecification(input.StreamSpecification, 'create')
    checkEncryption(input.SSESpecification)
    checkTableClass(input.TableClass)
    checkOnDemandThroughput(input.OnDemandThroughput, definition.billingMode, 'table')
    for (const { IndexName, OnDemandThroughput } of input.GlobalSecondaryIndexes ?? [])
      checkOnDemandThroughput(OnDemandThroughput, definition.billingMode, `index ${IndexName}`)
    if (input.ResourcePolicy !== undefined) {
      refusePolicyWithKeys(scope.principal)
      checkedPolicy(input.ResourcePolicy)
    }
    const tags = checkTags(input.Tags ?? [])
    const isLedger = asksForLedger(tags) || context.isLedger?.(name) === true
    refuseVectorsOnEngine(definition.vectorIndexes.length > 0, catalog)
    await beginLog(input.StreamSpecification, context)
    if (isLedger) await beginLedger(context)
    const record = await catalog.change((draft) => {
      if (draft.find(name) !== undefined) {
        throw new DynamoError('ResourceInUseException', `Table already exists: ${name}`)
      }
      const made = newTable(draft, context, input, { definition, tags })
      const record = catalog.makesSpaces ? { ...made, loading: 'spaces' as const } : made
      const { StreamSpecification: stream } = input
      const created = stream?.StreamEnabled === true ? withStream(draft, record, stream, context) : record
      return isLedger ? draft.putLedger({ ...created, tags: ledgerTags(tags) }) : draft.put(created)
    })
    // If that fails it stays CREATING, and is tried again.
    if (catalog.makesSpaces) await catalog.makeSpaces(name).catch(() => undefined)
    const creating = new Map(definition.indexes.map((index) => [index.name, 'CREATING'] as const))
    const statuses = { table: 'CREATING', indexes: creating } as const
    return jsonReply({
      TableDescription: tableDescription(record, await catalog.counts(record), scope.addressed, statuses),
    })
  },
})

/** The record of a table that is empty, and as its definition says. */
export function newTable(
  draft: CatalogDraft,
  { runtime }: Pick<RouterContext, 'runtime'>,
  input: CreateTableInput,
  { definition, tags }: { readonly definition: TableDefinition; readonly tags: readonly Tag[] },
): TableRecord {
  const nowMicros = runtime.clock.nowMicros()
  const warmThroughput = warmedThroughput(input.WarmThroughput, definition, undefined, 'table', 'made')
  return {
    name: tableNameOf(input.TableName),
    id: uuid(runtime.randomBytes(16)),
    createdAtMicros: nowMicros,
    space: draft.allocateSpace(),
    keySchema: input.KeySchema,
    attributeDefinitions: input.AttributeDefinitions,
    billingMode: definition.billingMode,
    ...(definition.billingMode === 'PAY_PER_REQUEST' && { payPerRequestSinceMicros: nowMicros }),
    throughput: definition.throughput,
    // The table is empty: its indexes are complete from the start.
    indexes: definition.indexes.map((index) => ({
      ...index,
      space: draft.allocateSpace(),
      status: 'ACTIVE',
      ...warmIndex(input, definition.billingMode, index),
    })),
    tags,
    deletionProtection: input.DeletionProtectionEnabled ?? false,
    ...(input.TableClass !== undefined && { tableClass: input.TableClass }),
    ...(input.SSESpecification?.Enabled === true && {
      encryption: describeEncryption(input.SSESpecification),
    }),
    ...(input.OnDemandThroughput !== undefined && { onDemandThroughput: { ...input.OnDemandThroughput } }),
    ...(warmThroughput !== undefined && { warmThroughput }),
    ...(definition.vectorIndexes.length > 0 && { vectorIndexes: definition.vectorIndexes }),
    ...(input.ResourcePolicy !== undefined && {
      resourcePolicies: { [TABLE_POLICY]: { text: input.ResourcePolicy, revision: String(nowMicros) } },
    }),
  }
}

function warmIndex(
  input: CreateTableInput,
  billingMode: BillingMode,
  { kind, name, throughput }: IndexDefinition,
): Pick<IndexRecord, 'warmThroughput'> {
  if (kind === 'local') return {}
  const asked = input.GlobalSecondaryIndexes?.find(({ IndexName }) => IndexName === name)?.WarmThroughput
  const warmThroughput = warmedThroughput(
    asked,
    { billingMode, throughput },
    undefined,
    `index ${name}`,
    'made',
  )
  return warmThroughput === undefined ? {} : { warmThroughput }
}
