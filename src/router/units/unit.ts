// The member `Unit` of the requests of units of work, and where such a request reads. See docs/reference/wire.md.
//
//   client: reads, buffered writes --UnitGetItems, UnitQuery, UnitScan--> router --> coordinator.snapshots --> nodes
//                                  --UnitCommit-------------------------> router --> coordinator.write ------> nodes
//
// The server keeps no session: whatever it must know of a unit comes with every request. UnitGetItems, UnitQuery, UnitScan
// and UnitCommit translate: what they do is in work.ts and unit-ranges.ts, which a caller in this process
// (direct.ts) and the simulator come to as well.
import type { Principal } from '../request/access.js'
import { DynamoError, validationError } from '../../model/errors.js'
import type { Timestamp } from '../../model/brand.js'
import { type Isolation, isolationLevels, readsAtOneSnapshot } from '../../model/isolation.js'
import type { ReadPoint } from '../../storage/contract/units.js'
import type { Input, RequestScope, RouterContext } from '../request/context.js'
import type { RequestShape } from '../shapes/shape.js'
import type { SnapshotRefusal } from '../../coordinator/snapshots.js'
import type { GivenPass } from '../request/passes.js'

/** What units of work need of a router; no passes, which are the wire's. */
export type UnitContext = Pick<RouterContext, 'runtime' | 'catalog' | 'nodes' | 'nodeOf' | 'coordinator'>

export const unitRequestLimits = {
  getsMax: 100,
  actionsMax: 10_000,
  readsMax: 10_000,
  predicatesMax: 1_000,
  releasedMax: 1_000,
  timeoutMsDefault: 30_000,
  timeoutMsMax: 900_000,
} as const

const timestampShape: RequestShape = { kind: 'long', valueMin: 0, valueMax: Number.MAX_SAFE_INTEGER }
/** Whatever a client sends instead of what it was given is a pass that was not given. */
const passShape: RequestShape = { kind: 'any', opaque: true }

export const unitMembers = {
  Unit: {
    kind: 'struct',
    required: true,
    members: {
      Id: { kind: 'string', required: true, lengthMin: 1, lengthMax: 64 },
      Isolation: {
        kind: 'string',
        required: true,
        values: isolationLevels,
      },
      ReadTimestamp: passShape,
      Began: passShape,
      AttemptBegan: timestampShape,
      TimeoutMs: { kind: 'integer', valueMin: 1, valueMax: unitRequestLimits.timeoutMsMax },
    },
  },
  Released: { kind: 'list', lengthMax: unitRequestLimits.releasedMax, member: passShape },
} as const satisfies Readonly<Record<string, RequestShape>>

export interface RequestUnit {
  /** Also whose it is: no other key has a unit of this name. */
  readonly id: string
  readonly isolation: Isolation
  readonly readTimestamp: Timestamp | undefined
  /** When the first attempt of the unit began: its age where locks are concerned. */
  readonly began: Timestamp | undefined
  /** When this attempt began, as the server told. */
  readonly attemptBegan: Timestamp | undefined
  readonly timeoutMs: number
  /** Whose it is; absent: of the program itself. */
  readonly key?: string
}

/** A unit as it comes over the wire. */
export interface WireUnit extends RequestUnit {
  readonly began: Timestamp
  /** Its age was not given to it before: it begins now, and the answer tells. */
  readonly isNew: boolean
  /** It knows of no age at all: this is the first request of its first attempt. */
  readonly isFirst: boolean
  /** What it has as its ReadTimestamp. */
  readonly pass: unknown
  /** That was not given to it, or before the last start: nothing is known of such a snapshot. */
  readonly isLost: boolean
  /** Its age, for an answer. */
  age(): GivenPass
}

export function unitOf(context: RouterContext, { principal }: RequestScope, input: Input): WireUnit {
  const { passes, coordinator, runtime } = context
  const unit = input['Unit'] as Input
  const name = unit['Id'] as string
  const pass = unit['ReadTimestamp'] ?? undefined
  const readTimestamp = pass === undefined ? undefined : passes.snapshotOf(principal, pass)
  // Whatever comes after a unit is stamped above its snapshot: the owner must not make up one far ahead.
  if (readTimestamp !== undefined && readTimestamp > coordinator.clock.now()) {
    throw validationError('The ReadTimestamp is not one that this store has given')
  }
  const age = unit['Began'] ?? undefined
  const known = age === undefined ? undefined : passes.ageOf(principal, name, age)
  const began = known ?? (Math.floor(runtime.clock.nowMicros()) as Timestamp)
  return {
    id: unitIdOf(principal, name),
    key: principal.id,
    isolation: unit['Isolation'] as Isolation,
    readTimestamp,
    pass,
    isLost: pass !== undefined && readTimestamp === undefined,
    began,
    isNew: known === undefined,
    isFirst: age === undefined,
    attemptBegan: timestampOf(unit['AttemptBegan']) ?? readTimestamp,
    timeoutMs: (unit['TimeoutMs'] as number | null | undefined) ?? unitRequestLimits.timeoutMsDefault,
    age: () => passes.giveAge(principal, name, began),
  }
}

/** Access key ids have no line feeds. */
const unitIdOf = ({ id }: Principal, name: string): string => (id === '' ? name : `${id}\n${name}`)

/** The name that its client gave to a unit, or the id of a transaction, without whose it is. */
export const shownId = (id: string): string => id.slice(id.indexOf('\n') + 1)

/** What an answer says of the unit, beside its snapshot. */
export const ageMember = (unit: WireUnit): { readonly Began?: GivenPass } =>
  unit.isNew ? { Began: unit.age() } : {}

export function timestampOf(value: unknown): Timestamp | undefined {
  if (value === undefined || value === null) return undefined
  if (!Number.isSafeInteger(value)) throw validationError('A timestamp is a whole number of microseconds')
  return value as Timestamp
}

/** Where one request of a unit reads, and what its answer says of that. */
export interface UnitReadPoint {
  readonly at: ReadPoint
  /** Absent at levels that read at no single snapshot. */
  readonly readTimestamp?: Timestamp
  /** Opened for this request, and nobody knows of it yet. */
  readonly isNew: boolean
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
export const openingOf = (unit: RequestUnit | WireUnit): Opening =>
  ('isFirst' in unit ? unit.isFirst : unit.began === undefined) ? {} : { above: 'decided' }

export async function readPlace(
  context: Pick<UnitContext, 'coordinator'>,
  unit: RequestUnit,
  open: Opening = openingOf(unit),
): Promise<UnitReadPoint> {
  const { snapshots } = context.coordinator
  if (unit.isolation === 'read-uncommitted') return { at: 'uncommitted', isNew: false, done: () => undefined }
  if (readsAtOneSnapshot(unit.isolation)) {
    const isNew = unit.readTimestamp === undefined
    const at = unit.readTimestamp ?? (await snapshots.open(open))
    return { at, readTimestamp: at, isNew, done: () => undefined }
  }
  // Read-committed sees, with each request, what is committed by then: all of it, on whatever nodes it is.
  const at = await snapshots.open(open)
  return { at, isNew: false, done: () => forget(context, at) }
}

/** A snapshot that is needed no longer. Nobody waits for it; an unknown one does no harm. */
export function forget({ coordinator }: Pick<UnitContext, 'coordinator'>, timestamp: Timestamp): void {
  coordinator.snapshots.forget(timestamp)
}

/** The unit's own snapshot, of a unit that has a plain timestamp and no pass. */
export function forgetSnapshotOf(
  context: Pick<UnitContext, 'coordinator'>,
  { readTimestamp }: Pick<RequestUnit, 'readTimestamp'>,
): void {
  if (readTimestamp !== undefined) forget(context, readTimestamp)
}

/** What the answer to a read says of the unit's snapshot: the pass that it has, or one for what was opened just now. */
export const snapshotPass = (
  { passes }: RouterContext,
  { principal }: RequestScope,
  { pass }: WireUnit,
  readTimestamp: Timestamp | undefined,
): unknown =>
  readTimestamp !== undefined && pass === undefined ? passes.giveSnapshot(principal, readTimestamp) : pass

/** Only what was given to the one who asks. */
export function releaseOf({ passes }: RouterContext, { principal }: RequestScope, input: Input): void {
  const released = input['Released']
  if (Array.isArray(released)) for (const each of released) passes.release(principal, each)
}

/** Reads, ranges and the first committer are judged from a snapshot that is known. */
export function refuseLost({ isLost }: WireUnit): void {
  if (isLost) throw refusedSnapshot({ outcome: 'snapshot-too-old' })
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

export const unitConflict = (
  message: string,
  conflicts: readonly UnitConflictDetail[],
  members: { readonly Began?: GivenPass } = {},
): DynamoError => new DynamoError('UnitConflictException', message, { Conflicts: conflicts, ...members })
