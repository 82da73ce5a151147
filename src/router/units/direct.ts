// Units of work of a caller in this process: the same operations as on the wire (docs/reference/wire.md), without the wire. What
// the toolkit hands over is taken as it is, so nothing is put into JSON and nothing is looked up twice:
//
//   getItems --> where each item is (`place`), which comes back with the commit
//   commit ----> one action for each item: its write, and what the unit requires of it
//
// Conditions and updates that are texts go the way of the wire, as do locks: they are seldom.
import { refuseKeyUpdate } from '../../expression/expression.js'
import type { BoundUpdate } from '../../expression/types.js'
import type { ItemRef } from '../../ledger/ledger.js'
import type { Timestamp } from '../../model/brand.js'
import { DynamoError, validationError } from '../../model/errors.js'
import { itemBytes } from '../../model/item-size.js'
import { limits } from '../../model/limits.js'
import { parseItem } from '../../model/parse-value.js'
import type { ItemKey, TableShape } from '../../model/table.js'
import type { Item } from '../../model/value.js'
import type { Action } from '../../storage/transactions.js'
import type { ItemRecord } from '../../storage/storage-node.js'
import type { Input, RequestScope, RouterContext } from '../context.js'
import { keyOf } from '../keys.js'
import { bindActions, parseActions } from '../operations/transact-actions.js'
import { damageError, internalError, parseRecord } from '../reply.js'
import { owner } from '../router.js'
import { tableNameOf } from '../table-name.js'
import { type BoundCommit, commitUnit, firstCommitterWins, refuseExpired } from './commit.js'
import { bindPredicates } from './predicates.js'
import { forget, type Unit, unitLimits } from './unit.js'
import { type BoundGet, readItems } from './unit-get-items.js'

/** In this process always a timestamp; to the toolkit it may be a text, as over the wire. */
type Ticket = number | string

/** A unit as the toolkit knows it; timestamps are as the store has given them. */
export interface DirectUnit {
  readonly id: string
  readonly isolation: Unit['isolation']
  readonly timeoutMs: number
  readonly readTimestamp: Ticket | undefined
  readonly began: Ticket | undefined
  readonly attemptBegan: number | undefined
}

interface Address {
  readonly table: string
  readonly key: Item
}

export interface DirectGets {
  readonly unit: DirectUnit
  readonly addresses: readonly Address[]
  readonly lock: boolean
  readonly released: readonly Ticket[] | undefined
}

export interface DirectItem {
  readonly item?: Item
  readonly version?: number
  readonly bytes: number
  /** An ItemRef, which is nobody else's business. */
  readonly place: unknown
}

export interface DirectAnswer {
  readonly readTimestamp: number | undefined
  readonly clock: number
  readonly items: readonly DirectItem[]
}

interface DirectRead extends Address {
  readonly version?: unknown
  readonly place?: unknown
  /** There is an action on the same item, which this read belongs to. */
  readonly written?: true
}

interface DirectAction extends Address {
  readonly kind: 'put' | 'update' | 'delete' | 'check'
  readonly item?: Item
  readonly read?: DirectRead
  /** An update that is no text. */
  readonly bound?: BoundUpdate
  readonly expressions: { readonly condition?: string }
}

export interface DirectCommit {
  readonly unit: DirectUnit
  readonly reads: readonly DirectRead[]
  readonly actions: readonly DirectAction[]
  /** As on the wire. */
  readonly predicates: readonly object[]
  /** The actions as on the wire. */
  wireActions(): readonly object[]
}

export interface DirectUnits {
  getItems(request: DirectGets): Promise<DirectAnswer>
  /** Without locks: with them a commit is the wire's. */
  commit(request: DirectCommit): Promise<void>
}

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
    getItems: async (request) => {
      try {
        return await getItems(context, request)
      } catch (error) {
        throw answered(error, 'UnitGetItems')
      }
    },
    commit: async (request) => {
      try {
        await commitUnit(context, request.unit as Unit, bindCommit(context, request))
      } catch (error) {
        throw answered(error, 'UnitCommit')
      }
    },
  }
}

async function getItems(context: RouterContext, request: DirectGets): Promise<DirectAnswer> {
  const { addresses, lock, released } = request
  const unit = request.unit as Unit
  refuseTimeout(unit)
  if (released !== undefined) for (const each of released) forget(context, each as Timestamp)
  const gets = addresses.map(({ table: tableName, key: keyAttributes }): BoundGet => {
    const { shape } = context.catalog.table(tableNameOf(tableName))
    const ref = { space: shape.space, key: keyOf(shape, keyAttributes) }
    return { tableName, keyAttributes, ref, locked: lock }
  })
  const { records, readTimestamp, clock } = await readItems(context, unit, gets)
  return { readTimestamp, clock, items: gets.map(({ ref }, at) => itemOf(records[at], ref)) }
}

const itemOf = (record: ItemRecord | undefined, place: ItemRef): DirectItem =>
  record === undefined
    ? { bytes: 0, place }
    : { item: parseRecord(record), version: record.timestamp, bytes: record.itemBytes, place }

/** What the wire's shape would refuse of what a caller, and not the toolkit, has chosen. */
function refuseTimeout({ timeoutMs }: Unit): void {
  if (Number.isInteger(timeoutMs) && timeoutMs >= 1 && timeoutMs <= unitLimits.timeoutMsMax) return
  throw validationError(`timeoutMs is a whole number from 1 to ${unitLimits.timeoutMsMax}, not ${timeoutMs}`)
}

function bindCommit(context: RouterContext, request: DirectCommit): BoundCommit {
  const { reads, actions, predicates } = request
  const unit = request.unit as Unit
  refuseTimeout(unit)
  refuseExpired(context, unit)
  if (reads.length > unitLimits.readsMax || predicates.length > unitLimits.predicatesMax)
    throw validationError(
      `A unit of work reads at most ${unitLimits.readsMax} items and ${unitLimits.predicatesMax} ranges`,
    )
  const validates = unit.isolation === 'serializable'
  const { writes, showsItem } = plainWrites(context, unit, actions) ?? wiredWrites(context, unit, request)
  const bound = [...writes]
  if (validates) for (const read of reads) if (read.written !== true) bound.push(readCheck(context, read))
  return {
    actions: bound,
    writes: writes.length,
    predicates: validates ? bindPredicates(context, predicates as readonly Input[], SCOPE, unit) : [],
    showsItem,
    release: () => {
      if (unit.readTimestamp !== undefined) forget(context, unit.readTimestamp)
    },
  }
}

/** Whoever is in the process may do everything. */
const SCOPE: RequestScope = {
  principal: owner,
  addressed: {},
  authorise: () => undefined,
  allows: () => true,
}

interface Writes {
  readonly writes: readonly Action[]
  readonly showsItem: (position: number) => boolean
}

const SHOWS_NONE = (): boolean => false

/** Undefined if one of them is a text, or is refused: the way of the wire says why. */
function plainWrites(
  context: RouterContext,
  unit: Unit,
  actions: readonly DirectAction[],
): Writes | undefined {
  try {
    const writes: Action[] = []
    for (const action of actions) {
      const mutation = action.expressions.condition === undefined ? plainMutation(action) : undefined
      if (mutation === undefined) return undefined
      const { shape: table } = context.catalog.table(action.table)
      if (mutation.kind === 'update') refuseKeyUpdate(mutation.update, table.key)
      const key = keyAt(table, action, action.read?.place)
      const write = { table, key, keyAttributes: action.key, mutation }
      const expected = expectedBy(unit, action, write)
      // Members in one order: what the rules look at has one shape.
      writes.push(
        expected === undefined ? write : { table, key, keyAttributes: action.key, mutation, expected },
      )
    }
    return { writes, showsItem: SHOWS_NONE }
  } catch (error) {
    if (error instanceof DynamoError) return undefined
    throw error
  }
}

function plainMutation({ kind, item, bound }: DirectAction): Action['mutation'] | undefined {
  if (kind === 'update') return bound && { kind, update: bound }
  if (kind === 'delete') return DELETE
  if (kind !== 'put') return undefined
  const parsed = parseItem(item)
  return itemBytes(parsed) > limits.itemBytesMax ? undefined : { kind, item: parsed }
}

const DELETE = { kind: 'delete' } as const

function wiredWrites(context: RouterContext, unit: Unit, request: DirectCommit): Writes {
  const parsed = parseActions(request.wireActions() as readonly Input[], SCOPE, limits.requestBytesMax)
  const writes = bindActions(context, parsed)
  return {
    writes: writes.map(({ action }, at) => {
      const expected = expectedBy(unit, request.actions[at]!, action)
      return expected === undefined ? action : { ...action, expected }
    }),
    showsItem: (position) => writes[position]?.showsItem === true,
  }
}

/** What the unit requires of an item that it writes, beside the condition. */
function expectedBy(
  { isolation, readTimestamp }: Unit,
  { read }: DirectAction,
  write: Action,
): Action['expected'] {
  if (isolation === 'serializable') return read && versionRead(read)
  return isolation === 'snapshot' ? firstCommitterWins(write, readTimestamp) : undefined
}

/** The key as it was found when the item was read, if the table is still the same. */
function keyAt(table: TableShape, { key }: Address, place: unknown): ItemKey {
  const known = place as ItemRef | undefined
  return known !== undefined && known.space === table.space ? known.key : keyOf(table, key)
}

const versionRead = ({ version }: DirectRead): NonNullable<Action['expected']> => ({
  kind: 'version',
  written: version as Timestamp | undefined,
})

function readCheck({ catalog }: RouterContext, read: DirectRead): Action {
  const { shape: table } = catalog.table(read.table)
  const key = keyAt(table, read, read.place)
  return { table, key, keyAttributes: read.key, mutation: CHECK, expected: versionRead(read) }
}

const CHECK = { kind: 'check' } as const
