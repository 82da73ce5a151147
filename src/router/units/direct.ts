// Units of work of a caller in this process: the same functions as behind the wire, without the wire. What the toolkit hands
// over through the port (port/unit-port.ts) is taken as it is:
//
//   getItems --> where each item is (`place`), which comes back with the commit
//   commit ----> tables and keys, and what was read of each item that is written --> work.ts
//
// Conditions and updates that are texts go through the wire's parsing: they are seldom.
import { owner } from '../request/access.js'
import { parseRecord } from '../../line/record.js'
import { refuseKeyUpdate } from '../../expression/expression.js'
import type { ItemRef } from '../../ledger/ledger.js'
import type { Timestamp } from '../../model/brand.js'
import { DynamoError, validationError } from '../../model/errors.js'
import { validatesReads } from '../../model/isolation.js'
import { itemBytes, itemSizeRefusal } from '../../model/value.js'
import { limits } from '../../model/limits.js'
import { parseItem } from '../../model/parse-value.js'
import type { ItemKey, TableShape } from '../../model/table.js'
import type {
  UnitAction,
  DirectCommit,
  DirectGets,
  DirectItems,
  DirectUnits,
  ItemAddress,
  ReadEntry,
  ReadItem,
  TableLayout,
} from '../../port/unit-port.js'
import type { UnitRead, UnitWrite, VersionRead } from '../../rules/units/binding.js'
import type { ItemRecord } from '../../storage/contract/storage-node.js'
import type { Action } from '../../storage/contract/transactions.js'
import { aboutOf, type WriteAbout } from '../request/about.js'
import type { Input, RequestScope, RouterContext } from '../request/context.js'
import { checkedKeyOf } from '../request/keys.js'
import { bindActions, parseActions } from '../transactions/transact-actions.js'
import { damageError, internalError } from '../request/reply.js'
import { tableNameOf } from '../shapes/table-name.js'
import { commitUnit, refuseExpired, type UnitCommit, type BoundGet, readItems } from './work.js'
import { bindPredicates } from './unit-ranges.js'
import { forget, forgetSnapshotOf, type RequestUnit, unitRequestLimits } from './unit.js'

export function openDirectUnits(
  context: RouterContext,
  onInternalError: (error: unknown, operation: string) => void,
): DirectUnits {
  const answered = (error: unknown, operation: string): Error => {
    const damage = damageError(error, context.catalog)
    if (error instanceof DynamoError && damage === undefined) return Object.assign(error, error.members)
    onInternalError(damage ?? error, operation)
    return damage ?? internalError(error)
  }
  return {
    layout: (table) => Promise.resolve(table).then((name) => layoutOf(context, name)),
    getItems: async (request) => {
      try {
        return await getItems(context, request)
      } catch (error) {
        throw answered(error, 'UnitGetItems')
      }
    },
    commit: async (request) => {
      try {
        return await commitUnit(context, request.unit as RequestUnit, bindCommit(context, request))
      } catch (error) {
        throw answered(error, 'UnitCommit')
      }
    },
  }
}

function layoutOf(context: RouterContext, table: string): TableLayout {
  const { name, key, indexes } = context.catalog.table(tableNameOf(table)).shape
  return { name, key, indexes }
}

async function getItems(context: RouterContext, request: DirectGets): Promise<DirectItems> {
  const { addresses, lock, released } = request
  const unit = request.unit as RequestUnit
  refuseTimeout(unit)
  if (released !== undefined) for (const each of released) forget(context, each as Timestamp)
  const gets = addresses.map(({ table: tableName, key: keyAttributes }): BoundGet => {
    const { shape } = context.catalog.table(tableNameOf(tableName))
    const ref = { space: shape.space, key: checkedKeyOf(shape, keyAttributes) }
    return { tableName, keyAttributes, ref, locked: lock }
  })
  const { records, readTimestamp, clock } = await readItems(context, unit, gets)
  return { readTimestamp, clock, items: gets.map(({ ref }, at) => itemOf(records[at], ref)) }
}

/** `place`: an ItemRef. */
const itemOf = (record: ItemRecord | undefined, place: ItemRef): ReadItem =>
  record === undefined
    ? { bytes: 0, place }
    : { item: parseRecord(record), version: record.timestamp, bytes: record.itemBytes, place }

/** What the wire's shape would refuse of what a caller, and not the toolkit, has chosen. */
function refuseTimeout({ timeoutMs }: RequestUnit): void {
  if (Number.isInteger(timeoutMs) && timeoutMs >= 1 && timeoutMs <= unitRequestLimits.timeoutMsMax) return
  throw validationError(
    `timeoutMs is a whole number from 1 to ${unitRequestLimits.timeoutMsMax}, not ${timeoutMs}`,
  )
}

function bindCommit(context: RouterContext, request: DirectCommit): UnitCommit {
  const { reads, actions, locks, predicates } = request
  const unit = request.unit as RequestUnit
  refuseTimeout(unit)
  refuseExpired(context, unit)
  if (
    reads.length > unitRequestLimits.readsMax ||
    locks.length > unitRequestLimits.readsMax ||
    predicates.length > unitRequestLimits.predicatesMax
  )
    throw validationError(
      `A unit of work reads at most ${unitRequestLimits.readsMax} items and ${unitRequestLimits.predicatesMax} ranges`,
    )
  const seen = seenByWrites(reads)
  const about: WriteAbout = { principal: owner, unit: unit.id }
  const { writes, showsItem } =
    plainWrites(context, actions, seen, about) ?? wiredWrites(context, request.wireActions(), seen, about)
  return {
    writes,
    reads: otherReads(context, reads),
    locks: locks.length === 0 ? NONE : locks.map((lock) => lockCheck(context, lock)),
    // At other levels they are not looked at, nor need they be valid.
    predicates: validatesReads(unit.isolation)
      ? bindPredicates(context, predicates as readonly Input[], ownerScope, unit)
      : NONE,
    showsItem,
    release: () => forgetSnapshotOf(context, unit),
  }
}

const NONE: readonly never[] = []

/** Whoever is in the process may do everything. */
export const ownerScope: RequestScope = {
  principal: owner,
  addressed: {},
  authorise: () => undefined,
  allows: () => true,
}

/** By the position of the write: what was read of its item. */
function seenByWrites(reads: readonly ReadEntry[]): readonly (VersionRead | undefined)[] {
  if (reads.length === 0) return NONE
  const seen: VersionRead[] = []
  for (const read of reads) if (read.write !== undefined) seen[read.write] = versionRead(read)
  return seen
}

const versionRead = ({ version }: ReadEntry): VersionRead => ({
  kind: 'version',
  written: version as Timestamp | undefined,
})

function otherReads({ catalog }: RouterContext, reads: readonly ReadEntry[]): readonly UnitRead[] {
  if (reads.length === 0) return NONE
  const others: UnitRead[] = []
  for (const read of reads) {
    if (read.write !== undefined) continue
    const { shape: table } = catalog.table(read.table)
    const key = keyAt(table, read, read.place)
    others.push({ table, key, keyAttributes: read.key, mutation: CHECK, expected: versionRead(read) })
  }
  return others
}

function lockCheck(
  { catalog }: RouterContext,
  { table: tableName, key: keyAttributes }: ItemAddress,
): Action {
  const { shape: table } = catalog.table(tableName)
  return { table, key: checkedKeyOf(table, keyAttributes), keyAttributes, mutation: CHECK }
}

const CHECK = { kind: 'check' } as const

interface Writes {
  readonly writes: readonly UnitWrite[]
  readonly showsItem: (position: number) => boolean
}

const SHOWS_NONE = (): boolean => false

/** Undefined if one of them is a text, or is refused: the way of the wire says why. */
function plainWrites(
  context: RouterContext,
  actions: readonly UnitAction[],
  seen: readonly (VersionRead | undefined)[],
  about: WriteAbout,
): Writes | undefined {
  try {
    const writes: UnitWrite[] = []
    for (let at = 0; at < actions.length; at++) {
      const action = actions[at]!
      const mutation = action.expressions.condition === undefined ? plainMutation(action) : undefined
      if (mutation === undefined) return undefined
      const { shape: table } = context.catalog.table(action.table)
      if (mutation.kind === 'update') refuseKeyUpdate(mutation.update, table.key)
      const key = keyAt(table, action, action.place)
      const { key: keyAttributes } = action
      const expected = at < seen.length ? seen[at] : undefined
      // Members in one order: what the rules look at has few shapes.
      const write: UnitWrite =
        expected === undefined
          ? { table, key, keyAttributes, mutation }
          : { table, key, keyAttributes, mutation, expected }
      writes.push(
        table.logged?.keys === true
          ? { ...write, ...aboutOf(table, { ...about, statements: action.statements }) }
          : write,
      )
    }
    return { writes, showsItem: SHOWS_NONE }
  } catch (error) {
    if (error instanceof DynamoError) return undefined
    throw error
  }
}

function plainMutation({ kind, item, bound }: UnitAction): Action['mutation'] | undefined {
  if (kind === 'update') return bound && { kind, update: bound }
  if (kind === 'delete') return DELETE
  if (kind !== 'put') return undefined
  const parsed = parseItem(item)
  return itemSizeRefusal(itemBytes(parsed)) === undefined ? { kind, item: parsed } : undefined
}

const DELETE = { kind: 'delete' } as const

function wiredWrites(
  context: RouterContext,
  elements: readonly object[],
  seen: readonly (VersionRead | undefined)[],
  about: WriteAbout,
): Writes {
  const parsed = parseActions(elements as readonly Input[], ownerScope, limits.requestBytesMax)
  const writes = bindActions(context, parsed, about)
  return {
    writes: writes.map(({ action }, at): UnitWrite => {
      const expected = seen[at]
      return expected === undefined ? (action as UnitWrite) : { ...action, expected }
    }),
    showsItem: (position) => writes[position]?.showsItem === true,
  }
}

/** The key as it was found when the item was read, if the table is still the same. */
function keyAt(table: TableShape, { key }: ItemAddress, place: unknown): ItemKey {
  const known = place as ItemRef | undefined
  return known !== undefined && known.space === table.space ? known.key : checkedKeyOf(table, key)
}
