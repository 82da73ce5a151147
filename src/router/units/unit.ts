// The member `Unit` of the requests of units of work, and where such a request reads. See docs/wire.md.
//
//   client: reads, buffered writes --UnitGetItems, UnitQuery, UnitScan--> router --> coordinator.snapshots --> nodes
//                                  --UnitCommit-------------------------> router --> coordinator.write ------> nodes
//
// The server keeps no session: whatever it must know of a unit comes with every request.
import { DynamoError, validationError } from '../../model/errors.js'
import type { Timestamp } from '../../model/brand.js'
import type { ReadPoint } from '../../storage/units.js'
import type { Input, RouterContext } from '../context.js'
import type { Shape } from '../shape.js'
import type { SnapshotRefusal } from '../../coordinator/snapshots.js'

export type Isolation = 'read-uncommitted' | 'read-committed' | 'snapshot' | 'serializable'

export const unitLimits = {
  getsMax: 100,
  actionsMax: 10_000,
  readsMax: 10_000,
  predicatesMax: 1_000,
  releasedMax: 1_000,
  timeoutMsDefault: 30_000,
  timeoutMsMax: 900_000,
} as const

const timestampShape: Shape = { kind: 'long', valueMin: 0, valueMax: Number.MAX_SAFE_INTEGER }

export const unitMembers = {
  Unit: {
    kind: 'struct',
    required: true,
    members: {
      Id: { kind: 'string', required: true, lengthMin: 1, lengthMax: 64 },
      Isolation: {
        kind: 'string',
        required: true,
        values: ['read-uncommitted', 'read-committed', 'snapshot', 'serializable'],
      },
      ReadTimestamp: timestampShape,
      Began: timestampShape,
      AttemptBegan: timestampShape,
      TimeoutMs: { kind: 'integer', valueMin: 1, valueMax: unitLimits.timeoutMsMax },
    },
  },
  Released: { kind: 'list', lengthMax: unitLimits.releasedMax, member: timestampShape },
} as const satisfies Readonly<Record<string, Shape>>

export interface Unit {
  readonly id: string
  readonly isolation: Isolation
  readonly readTimestamp: Timestamp | undefined
  /** When the first attempt of the unit began: its age where locks are concerned. */
  readonly began: Timestamp | undefined
  /** When this attempt began, as the server told. */
  readonly attemptBegan: Timestamp | undefined
  readonly timeoutMs: number
}

export function unitOf({ coordinator }: RouterContext, input: Input): Unit {
  const unit = input['Unit'] as Input
  const attemptBegan = timestampOf(unit['AttemptBegan'])
  const readTimestamp = timestampOf(unit['ReadTimestamp'])
  // Whatever comes after a unit is stamped above its snapshot: nobody may make up one far ahead.
  if (readTimestamp !== undefined && readTimestamp > coordinator.now()) {
    throw validationError('The ReadTimestamp is not one that this store has given')
  }
  return {
    id: unit['Id'] as string,
    isolation: unit['Isolation'] as Isolation,
    readTimestamp,
    began: timestampOf(unit['Began']),
    attemptBegan: attemptBegan ?? readTimestamp,
    timeoutMs: (unit['TimeoutMs'] as number | null | undefined) ?? unitLimits.timeoutMsDefault,
  }
}

export function timestampOf(value: unknown): Timestamp | undefined {
  if (value === undefined || value === null) return undefined
  if (!Number.isSafeInteger(value)) throw validationError('A timestamp is a whole number of microseconds')
  return value as Timestamp
}

export const readsAtOneSnapshot = ({ isolation }: Pick<Unit, 'isolation'>): boolean =>
  isolation === 'snapshot' || isolation === 'serializable'

/** Where one request of a unit reads, and what its answer says of that. */
export interface ReadPlace {
  readonly at: ReadPoint
  readonly members: { readonly ReadTimestamp?: Timestamp; readonly Clock: number }
  /** After the answer: a snapshot that nobody knows of is of no use to anybody. */
  done(): void
}

export interface Opening {
  readonly above?: 'decided'
}

/**
 * A first attempt reads what is durable, and waits for no disk. One that comes after a conflict would meet the next if it
 * did not see what is being written.
 */
export const openingOf = ({ began }: Unit): Opening => (began === undefined ? {} : { above: 'decided' })

export async function readPlace(
  context: RouterContext,
  unit: Unit,
  open: Opening = openingOf(unit),
): Promise<ReadPlace> {
  const { snapshots } = context.coordinator
  const clock = { Clock: context.runtime.clock.nowMicros() }
  if (unit.isolation === 'read-uncommitted')
    return { at: 'uncommitted', members: clock, done: () => undefined }
  if (readsAtOneSnapshot(unit)) {
    const at = unit.readTimestamp ?? (await snapshots.open(open))
    return { at, members: { ReadTimestamp: at, ...clock }, done: () => undefined }
  }
  // Read-committed sees, with each request, what is committed by then: all of it, on whatever nodes it is.
  const at = await snapshots.open(open)
  return { at, members: clock, done: () => forget(context, at) }
}

/** A snapshot that is needed no longer. Nobody waits for it; an unknown one does no harm. */
export function forget({ coordinator }: RouterContext, timestamp: Timestamp): void {
  coordinator.snapshots.forget(timestamp)
}

export function releaseOf(context: RouterContext, input: Input): void {
  const released = input['Released']
  if (!Array.isArray(released)) return
  for (const each of released) {
    const timestamp = timestampOf(each)
    if (timestamp !== undefined) forget(context, timestamp)
  }
}

export function refusedSnapshot(refusal: SnapshotRefusal): DynamoError {
  if (refusal.outcome === 'snapshot-too-old') {
    return new DynamoError(
      'SnapshotTooOldException',
      'The versions that this snapshot needs are no longer kept. Read again at a new snapshot, or raise the age limit of snapshots.',
    )
  }
  return unitConflict('A transaction that was prepared before the snapshot has not been decided in time', [
    { TransactionId: refusal.tx },
  ])
}

/** What stood in the way of a unit, in the shapes of the wire. */
export interface UnitConflictDetail {
  readonly TableName?: string
  readonly Key?: unknown
  readonly TransactionId?: string
}

export const unitConflict = (message: string, conflicts: readonly UnitConflictDetail[]): DynamoError =>
  new DynamoError('UnitConflictException', message, { Conflicts: conflicts })
