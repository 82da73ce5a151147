// What the protocol stores, as plain data, and its form in items.
//
//   an item:        the user's attributes, as committed
//                   seriatimVersion   S   who wrote them: a transaction's id
//                   seriatimIntent    M   who is about to write them, and what (the redo)
//   record table:   id (partition key), part (sort key)
//                   part 'header'         state, turn, stamp, participants
//                   part 'items/00001'    more participants
//                   part 'redo/00001'     a redo that does not fit its item
//                   part 'plan/00001'     a detached unit
//                   part 'guard'          of a partition (guards.ts); version and intent as in an item
//
// Everything here is pure.
import type { AttributeValue, Item } from '../../../model/value.js'
import { attribute } from '../../../model/value.js'
import type { ItemAddress } from '../../unit/protocol.js'

export const VERSION = 'seriatimVersion'
export const INTENT = 'seriatimIntent'

/** What becomes of the item when the transaction commits. */
export type Redo =
  | { readonly act: 'write'; readonly set: Item; readonly remove: readonly string[] }
  | { readonly act: 'delete' }
  /** It was only locked. */
  | { readonly act: 'keep' }
  /** A write that is kept in so many records from `redo/<first>` on. */
  | { readonly act: 'spilled'; readonly first: number; readonly count: number }

export interface Intent {
  /** The transaction's. */
  readonly id: string
  /** Which version of the transaction's plan this belongs to; another one than the header's counts for nothing. */
  readonly turn: number
  /** When its unit began, in microseconds of its own clock: the smaller, the older. */
  readonly since: number
  /** How long the transaction may stand still before it is taken for stalled. */
  readonly patienceMs: number
  /** The item was inserted only to be locked. */
  readonly transient: boolean
  readonly redo: Redo
}

export type HeaderState = 'pending' | 'committed' | 'cancelled'

export interface Header {
  readonly id: string
  readonly state: HeaderState
  readonly turn: number
  /** Changes whenever somebody works on it. */
  readonly stamp: string
  /** Grows while its commit makes progress; not there before the first. */
  readonly beat?: number
  readonly since: number
  readonly patienceMs: number
  /** Participants, as far as they are in the header. */
  readonly items: readonly ItemAddress[]
  /** Records with more of them. */
  readonly parts: number
  /** Every participant is finished or undone. */
  readonly done: boolean
  /** Records that hold the unit itself, from `plan/<planFirst>` on: it was detached. */
  readonly plan: number
  readonly planFirst: number
  /** The unit has no other attempt: what becomes of this one becomes of the unit. */
  readonly once: boolean
}

/** An item as it is in the table: the user's attributes apart from ours. */
export interface Stored {
  readonly item: Item
  readonly version?: string
  readonly intent?: Intent
}

/** Undefined for no item at all. */
export function storedOf(raw: Item | undefined): Stored | undefined {
  if (raw === undefined) return undefined
  const version = attribute(raw, VERSION)
  const intent = attribute(raw, INTENT)
  if (version === undefined && intent === undefined) return { item: raw }
  const { [VERSION]: _version, [INTENT]: _intent, ...item } = raw
  return {
    item,
    ...(version !== undefined && 'S' in version && { version: version.S }),
    ...(intent !== undefined && 'M' in intent && { intent: intentOf(intent.M) }),
  }
}

export function intentItem(intent: Intent): Item {
  const { id, turn, since, patienceMs, transient, redo } = intent
  return {
    id: { S: id },
    turn: { N: String(turn) },
    since: { N: String(since) },
    patienceMs: { N: String(patienceMs) },
    act: { S: redo.act },
    ...(transient && { transient: { BOOL: true } }),
    ...(redo.act === 'write' && { set: { M: redo.set } }),
    ...(redo.act === 'write' && redo.remove.length > 0 && { remove: strings(redo.remove) }),
    ...(redo.act === 'spilled' && { first: { N: String(redo.first) }, count: { N: String(redo.count) } }),
  }
}

function intentOf(map: Item): Intent {
  return {
    id: text(map, 'id'),
    turn: number(map, 'turn'),
    since: number(map, 'since'),
    patienceMs: number(map, 'patienceMs'),
    transient: attribute(map, 'transient') !== undefined,
    redo: redoOf(map),
  }
}

function redoOf(map: Item): Redo {
  const act = text(map, 'act')
  if (act === 'write') return { act, set: mapOf(map, 'set'), remove: list(map, 'remove').map(textOf) }
  if (act === 'spilled') return { act, first: number(map, 'first'), count: number(map, 'count') }
  return { act: act === 'delete' ? 'delete' : 'keep' }
}

// The record table.

export const HEADER_PART = 'header'
export const GUARD_PART = 'guard'
export const partName = (kind: 'items' | 'redo' | 'plan', position: number): string =>
  `${kind}/${String(position).padStart(5, '0')}`

export const recordKey = (id: string, part: string): Item => ({ id: { S: id }, part: { S: part } })
export const headerKey = (id: string): Item => recordKey(id, HEADER_PART)

export function headerItem(header: Header): Item {
  return { ...headerKey(header.id), ...headerAttributes(header) }
}

/** All but its key. */
export function headerAttributes(header: Omit<Header, 'id'>): Item {
  const { state, turn, stamp, since, patienceMs, items, parts, done, plan, planFirst, once } = header
  return {
    state: { S: state },
    turn: { N: String(turn) },
    stamp: { S: stamp },
    since: { N: String(since) },
    patienceMs: { N: String(patienceMs) },
    items: addressesValue(items),
    parts: { N: String(parts) },
    plan: { N: String(plan) },
    planFirst: { N: String(planFirst) },
    ...(done && { done: { BOOL: true } }),
    ...(once && { once: { BOOL: true } }),
  }
}

export function headerOf(item: Item): Header {
  const state = text(item, 'state')
  return {
    id: text(item, 'id'),
    state: state === 'committed' || state === 'cancelled' ? state : 'pending',
    turn: number(item, 'turn'),
    stamp: text(item, 'stamp'),
    since: number(item, 'since'),
    patienceMs: number(item, 'patienceMs'),
    items: addressesOf(attribute(item, 'items')),
    parts: number(item, 'parts'),
    done: attribute(item, 'done') !== undefined,
    plan: number(item, 'plan'),
    planFirst: number(item, 'planFirst'),
    once: attribute(item, 'once') !== undefined,
    ...(attribute(item, 'beat') !== undefined && { beat: number(item, 'beat') }),
  }
}

/** Keys by table: `{ Accounts: [{ id: 'a' }, ...] }`. */
function addressesValue(addresses: readonly ItemAddress[]): AttributeValue {
  const tables = new Map<string, AttributeValue[]>()
  for (const { table, key } of addresses) {
    const keys = tables.get(table)
    if (keys === undefined) tables.set(table, [{ M: key }])
    else keys.push({ M: key })
  }
  return { M: Object.fromEntries([...tables].map(([table, keys]) => [table, { L: keys }])) }
}

function addressesOf(value: AttributeValue | undefined): ItemAddress[] {
  if (value === undefined || !('M' in value)) return []
  return Object.entries(value.M).flatMap(([table, keys]) =>
    'L' in keys ? keys.L.flatMap((key) => ('M' in key ? [{ table, key: key.M }] : [])) : [],
  )
}

/** Stands in a version between its writer and the transaction whose insert is not known to be done (see rules.ts). */
export const STAR = '*'

export function inserterOf(version: string | undefined): string | undefined {
  const at = version?.indexOf(STAR) ?? -1
  return at < 0 ? undefined : version!.slice(at + 1)
}

export const writerOf = (version: string): string => version.split(STAR, 1)[0]!

function text(item: Item, name: string): string {
  const value = attribute(item, name)
  return value !== undefined ? textOf(value) : ''
}

const textOf = (value: AttributeValue): string => ('S' in value ? value.S : '')

function number(item: Item, name: string): number {
  const value = attribute(item, name)
  return value !== undefined && 'N' in value ? Number(value.N) : 0
}

function mapOf(item: Item, name: string): Item {
  const value = attribute(item, name)
  return value !== undefined && 'M' in value ? value.M : {}
}

function list(item: Item, name: string): readonly AttributeValue[] {
  const value = attribute(item, name)
  return value !== undefined && 'L' in value ? value.L : []
}

const strings = (texts: readonly string[]): AttributeValue => ({ L: texts.map((one) => ({ S: one })) })
