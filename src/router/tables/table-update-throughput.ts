// Billing mode and throughput in UpdateTable, of the table and of its indexes.
import { DynamoError, validationError } from '../../model/errors.js'
import {
  capacityWithoutProvisioning,
  checkCapacityBounds,
  invalid,
  throughputOf,
} from './record/table-definition.js'
import type { IndexRecord, TableRecord, Throughput } from './record/table-record.js'
import type { ThroughputInput } from './record/table-shapes.js'
import type { UpdateTableInput } from './table-update.js'

const DAY_MICROS = 24 * 60 * 60 * 1e6

export function updatedThroughput(
  record: TableRecord,
  input: UpdateTableInput,
  nowMicros: number,
): TableRecord {
  const billingMode = input.BillingMode ?? record.billingMode
  const wanted = input.ProvisionedThroughput
  const byIndex = indexThroughputs(record, input)
  if (billingMode === 'PAY_PER_REQUEST') {
    if (wanted !== undefined) throw capacityWithoutProvisioning()
    for (const indexName of byIndex.keys()) throw indexCapacityWithoutProvisioning(indexName)
    if (record.billingMode === 'PAY_PER_REQUEST') return record
    return payPerRequest(record, nowMicros)
  }
  if (record.billingMode === 'PAY_PER_REQUEST') {
    const missing = record.indexes.filter((index) => index.kind === 'global' && !byIndex.has(index.name))
    if (missing.length > 0) {
      throw invalid(
        `ProvisionedThroughput must be specified for index: ${missing.map((index) => index.name).join(',')}`,
      )
    }
  }
  return {
    ...record,
    billingMode,
    throughput: changed(record.throughput, wanted, nowMicros, 'the table', 'the table'),
    indexes: record.indexes.map((index) => ({
      ...index,
      throughput: changed(
        index.throughput,
        byIndex.get(index.name),
        nowMicros,
        `the index ${index.name}`,
        `index ${index.name}`,
      ),
    })),
  }
}

export const indexCapacityWithoutProvisioning = (indexName: string): Error =>
  invalid(
    `Neither ReadCapacityUnits nor WriteCapacityUnits can be specified for index: ${indexName} when BillingMode is PAY_PER_REQUEST`,
  )

function payPerRequest(record: TableRecord, nowMicros: number): TableRecord {
  const none = throughputOf(undefined)
  return {
    ...record,
    billingMode: 'PAY_PER_REQUEST',
    payPerRequestSinceMicros: nowMicros,
    throughput: none,
    indexes: record.indexes.map((index) => ({ ...index, throughput: none })),
  }
}

/** The throughput that is asked for, by index name. */
function indexThroughputs(record: TableRecord, input: UpdateTableInput): Map<string, ThroughputInput> {
  const byIndex = new Map<string, ThroughputInput>()
  for (const { Update: update } of input.GlobalSecondaryIndexUpdates ?? []) {
    if (update === undefined) continue
    checkUpdatable(
      record,
      record.indexes.find((index) => index.name === update.IndexName),
    )
    if (update.ProvisionedThroughput === undefined) continue
    checkCapacityBounds(update.ProvisionedThroughput)
    byIndex.set(update.IndexName, update.ProvisionedThroughput)
  }
  return byIndex
}

function checkUpdatable(record: TableRecord, index: IndexRecord | undefined): void {
  if (index === undefined) {
    throw new DynamoError('ResourceNotFoundException', 'Requested resource not found')
  }
  if (index.kind === 'local') {
    throw validationError(`Cannot update an index that is not a GlobalSecondaryIndex: ${index.name}`)
  }
  if (index.status === 'CREATING') throw indexBeingCreated(record.name, index.name)
}

export const indexBeingCreated = (tableName: string, indexName: string): DynamoError =>
  new DynamoError(
    'ResourceInUseException',
    `Attempt to change a resource which is still in use: Index is being created.  Table: ${tableName} Index: ${indexName}`,
  )

function changed(
  current: Throughput,
  wanted: ThroughputInput | undefined,
  nowMicros: number,
  subject: string,
  place: string,
): Throughput {
  if (wanted === undefined) return current
  const { readUnits, writeUnits } = throughputOf(wanted)
  if (readUnits === current.readUnits && writeUnits === current.writeUnits) {
    throw validationError(
      `The provisioned throughput for ${subject} will not change. The requested value equals the current value. ` +
        `Current ReadCapacityUnits provisioned for ${place}: ${current.readUnits}. Requested ReadCapacityUnits: ${readUnits}. ` +
        `Current WriteCapacityUnits provisioned for ${place}: ${current.writeUnits}. Requested WriteCapacityUnits: ${writeUnits}. ` +
        'Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits.',
    )
  }
  const increased = readUnits > current.readUnits || writeUnits > current.writeUnits
  const decreased = readUnits < current.readUnits || writeUnits < current.writeUnits
  return {
    ...current,
    readUnits,
    writeUnits,
    ...(increased && { increasedAtMicros: nowMicros }),
    ...(decreased && { decreasedAtMicros: nowMicros, decreasesToday: decreases(current, nowMicros) + 1 }),
  }
}

/** How often it was decreased so far on this day, by UTC. */
function decreases({ decreasedAtMicros, decreasesToday }: Throughput, nowMicros: number): number {
  if (decreasedAtMicros === undefined) return 0
  return Math.floor(decreasedAtMicros / DAY_MICROS) === Math.floor(nowMicros / DAY_MICROS)
    ? decreasesToday
    : 0
}
