// Tables and indexes that take their time to become ACTIVE, as at Amazon, for tests of code that has to wait for them.
//
//   CreateTable            CREATING ---------------------------------------> ACTIVE        for `creatingMs`
//   UpdateTable, an index  CREATING, not backfilling --> backfilling ------> ACTIVE        half of it each
//   and its table          UPDATING -------------------> ACTIVE
//
// All of it is worked out from when they were created, which their records have, and the time of the store's clock. Without the
// option everything is ACTIVE as soon as it is complete. Pure.
import { DynamoError } from '../../../model/errors.js'
import type { TableRecord } from '../record/table-record.js'
import { oneIndexAtATime } from '../record/vector-indexes.js'

/** For how long, and what time it is. */
export interface CreationMoment {
  readonly creatingMicros: number
  readonly nowMicros: number
}

/** An index that is not complete yet, by the clock. */
export type CreationPhase = 'allocating' | 'backfilling'

export const isTableCreating = (
  { createdAtMicros }: Pick<TableRecord, 'createdAtMicros'>,
  { creatingMicros, nowMicros }: CreationMoment,
): boolean =>
  // Without the option whatever the clock says: it may have been set back since.
  creatingMicros > 0 && nowMicros < createdAtMicros + creatingMicros

/** Undefined once it is complete, as an index that came with its table is. */
export function phaseOf(
  { addedAtMicros }: { readonly addedAtMicros?: number },
  { creatingMicros, nowMicros }: CreationMoment,
): CreationPhase | undefined {
  if (creatingMicros === 0 || addedAtMicros === undefined) return undefined
  if (nowMicros >= addedAtMicros + creatingMicros) return undefined
  return nowMicros < addedAtMicros + creatingMicros / 2 ? 'allocating' : 'backfilling'
}

/** Indexes of both kinds that are not complete, by name. */
export function phasesOf(record: TableRecord, moment: CreationMoment): ReadonlyMap<string, CreationPhase> {
  const phases = new Map<string, CreationPhase>()
  for (const index of [...record.indexes, ...(record.vectorIndexes ?? [])]) {
    const phase = phaseOf(index, moment)
    if (phase !== undefined) phases.set(index.name, phase)
  }
  return phases
}

/** What UpdateTable would do to indexes. */
export interface IndexChanges {
  readonly created: readonly string[]
  readonly deleted: readonly string[]
}

/** Refuses to change a table that is being created, or a second index beside one that is. */
export function refuseUnsettled(record: TableRecord, moment: CreationMoment, changes: IndexChanges): void {
  if (isTableCreating(record, moment)) throw inUse(`Table is being created: ${record.name}`)
  const phases = phasesOf(record, moment)
  if (phases.size === 0) return
  if (changes.created.length > 0) throw oneIndexAtATime()
  for (const name of changes.deleted) {
    const phase = phases.get(name)
    if (phase === undefined) throw oneIndexAtATime()
    if (phase === 'allocating') {
      throw inUse(
        `Index creation is in resource allocation phase. Retry deletion during backfilling phase or when the index is active. Table: ${record.name} Index: ${name}`,
      )
    }
  }
}

/** Refuses to delete a table that is being created, or whose indexes are. */
export function refuseUnsettledDeletion(record: TableRecord, moment: CreationMoment): void {
  refuseUnsettled(record, moment, { created: [], deleted: [] })
  if (phasesOf(record, moment).size > 0)
    throw inUse('Cannot delete table while indexes are being created, updated, or deleted.')
}

const inUse = (why: string): DynamoError =>
  new DynamoError('ResourceInUseException', `Attempt to change a resource which is still in use: ${why}`)
