// Queries and scans. Rows are read consistently and without the server's filter, because what is stored is not always
// what is committed; the filter is evaluated here, on the image that counts. What was seen of a range is kept, so that
// the same range can be read again after the intents are placed.
import { keyAttributesOf } from '../../../model/table.js'
import { createHash } from 'node:crypto'
import { evaluateCondition, openExpressions } from '../../../expression/expression.js'
import { compareValues } from '../../../model/compare.js'
import {
  itemBytes,
  attribute,
  type AttributeValue,
  type Item,
  type MutableItem,
  setAttribute,
} from '../../../model/value.js'
import type { IsolationLevel } from '../../unit/transactor.js'
import type { ItemAddress, Page, UnitRange, TableLayout } from '../../unit/protocol.js'
import { fromSdkItem, toSdkItem } from '../../values/values.js'
import type { RequestUsage } from '../context/caller.js'
import { addressText } from '../protocol/images.js'
import { type SeenItem, ItemReader } from './look.js'
import type { Intent } from '../protocol/records.js'
import { effectiveOf } from '../protocol/rules.js'
import type { IntentsContext } from '../context/context.js'
import { redoOfIntent } from '../context/spill.js'

/** One page of a range as a unit saw it. */
export interface SeenPage {
  readonly range: UnitRange
  readonly start?: Item
  /** The rows that were committed and match the filter, in order: key, version and digest of the image. */
  readonly rows: readonly string[]
  /** How many rows were looked at for that; absent in units that an older version has detached. */
  readonly looked?: number
  /** Where it ended; absent for the end of the range. */
  readonly next?: Item
}

export interface PageRead {
  readonly page: Page
  readonly seen: SeenPage
}

const PARTITION_BYTES_MAX = 64 * 1024 * 1024

/** At levels that validate, what comes from a global index cannot be read again consistently. */
export function refuseIndex(layout: TableLayout, range: UnitRange, isolation: IsolationLevel): void {
  const index = layout.indexes.find(({ name }) => name === range.index)
  if (range.index === undefined || index?.kind === 'local') return
  if (isolation === 'serializable' || isolation === 'snapshot')
    throw new TypeError(
      `the index ${range.index} of ${layout.name} is global and cannot be read consistently on this endpoint: ` +
        "query the table itself, or ask for isolation 'read-committed'",
    )
}

export async function readRangePage(
  space: IntentsContext,
  layout: TableLayout,
  asked: {
    readonly range: UnitRange
    readonly start: Item | undefined
    readonly limit: number | undefined
  },
  mine: string | undefined,
  usage: RequestUsage,
): Promise<PageRead> {
  const { range } = asked
  const index = layout.indexes.find(({ name }) => name === range.index)
  const read =
    index?.kind === 'local' && range.keyCondition !== undefined
      ? await readLocalIndex(space, layout, range, mine, usage)
      : await readRows(space, layout, asked, mine, usage)
  const found = matching(read.looks, filterOf(range))
  const { next } = read
  return {
    page: { items: found.map(({ item }) => item), ...(next !== undefined && { next }) },
    seen: {
      range,
      rows: found.map((row) => rowText(layout, row)),
      looked: read.looks.length,
      ...(asked.start !== undefined && { start: asked.start }),
      ...(next !== undefined && { next }),
    },
  }
}

export type Recheck =
  | { readonly verdict: 'same' }
  /** `row`: one that came, went or changed. */
  | { readonly verdict: 'changed'; readonly row?: { readonly key: Item; readonly version?: string } }
  | { readonly verdict: 'undecided'; readonly intent: Intent; readonly item: SeenItem }

/** Reads a page again and compares. My own intents are looked through. */
export async function recheckPage(
  space: IntentsContext,
  layout: TableLayout,
  seen: SeenPage,
  mine: string,
  usage: RequestUsage,
): Promise<Recheck> {
  const { range } = seen
  const index = layout.indexes.find(({ name }) => name === range.index)
  if (index?.kind === 'local' && range.keyCondition !== undefined) {
    const { looks } = await readLocalIndex(space, layout, range, mine, usage)
    return compared(space, layout, seen, looks, usage)
  }
  const place = endOf(layout, seen)
  const collected: SeenItem[] = []
  let start = seen.start
  for (;;) {
    const { looks, next } = await readRows(space, layout, { range, start, limit: undefined }, mine, usage)
    for (const look of looks) {
      const where = look.stored === undefined ? 'before' : place(look.stored.item)
      if (where !== 'beyond') collected.push(look)
      if (where !== 'before') return compared(space, layout, seen, collected, usage)
    }
    if (next === undefined || collected.length > 2 * (seen.looked ?? seen.rows.length) + ROWS_SLACK)
      return compared(space, layout, seen, collected, usage)
    start = next
  }
}

/** Rows that may stand in a range without being committed, before a longer range counts as changed. */
const ROWS_SLACK = 1_000

type Place = 'before' | 'end' | 'beyond'

/** Where a row is, compared with the last one that was looked at. Of a scan the order is not known. */
function endOf({ key }: TableLayout, { range, next }: SeenPage): (row: Item) => Place {
  if (next === undefined) return () => 'before'
  const end = addressText('', keyAttributesOf(key, next))
  const sort = range.keyCondition === undefined || range.index !== undefined ? undefined : key.sort?.name
  const last = sort === undefined ? undefined : attribute(next, sort)
  return (row) => {
    if (addressText('', keyAttributesOf(key, row)) === end) return 'end'
    const value = sort === undefined ? undefined : attribute(row, sort)
    const order = value === undefined || last === undefined ? undefined : compareValues(value, last)
    if (order === undefined) return 'before'
    return (range.reverse ? order < 0 : order > 0) ? 'beyond' : 'before'
  }
}

type Filter = (item: Item) => boolean
type Row = SeenItem & { readonly item: Item }

const matching = (looks: readonly SeenItem[], filter: Filter): Row[] =>
  looks.filter((look): look is Row => look.item !== undefined && filter(look.item))

async function compared(
  space: IntentsContext,
  layout: TableLayout,
  seen: SeenPage,
  looks: readonly SeenItem[],
  usage: RequestUsage,
): Promise<Recheck> {
  const filter = filterOf(seen.range)
  for (const look of looks)
    if (look.undecided !== undefined && (await mayMatch(space, look, look.undecided, seen.range, usage)))
      return { verdict: 'undecided', intent: look.undecided, item: look }
  const found = matching(looks, filter)
  const before = new Set(seen.rows)
  const came = found.find((row) => !before.has(rowText(layout, row)))
  if (came !== undefined) {
    const { item, version } = came
    return {
      verdict: 'changed',
      row: { key: keyAttributesOf(layout.key, item), ...(version !== undefined && { version }) },
    }
  }
  const now = new Set(found.map((row) => rowText(layout, row)))
  const went = seen.rows.find((row) => !now.has(row))
  return went === undefined ? { verdict: 'same' } : { verdict: 'changed', row: { key: keyIn(went) } }
}

/** Whether an undecided transaction concerns what was read: by the image that it found, or by the one that it intends. */
async function mayMatch(
  space: IntentsContext,
  { stored, item }: SeenItem,
  intent: Intent,
  range: UnitRange,
  usage: RequestUsage,
): Promise<boolean> {
  if (range.filter === undefined || stored === undefined) return true
  const filter = filterOf(range)
  if (item !== undefined && filter(item)) return true
  // Records of a redo are written at the same time as its intent: they may not be there yet.
  const redo = await redoOfIntent(space, intent, usage).catch(() => undefined)
  if (redo === undefined) return true
  const { item: intended } = effectiveOf(stored, 'apply', redo)
  return intended !== undefined && filter(intended)
}

const rowText = (layout: TableLayout, { item, version }: Row): string =>
  `${addressText('', keyAttributesOf(layout.key, item))} ${version ?? ''} ${digestOf(item)}`

/** The key that a row's text begins with; what follows has no blanks in it. */
function keyIn(row: string): Item {
  const [, parts] = JSON.parse(row.replace(/ \S* \S*$/, '')) as [string, [string, AttributeValue][]]
  const key: MutableItem = {}
  for (const [name, value] of parts) setAttribute(key, name, value)
  return key
}

/** The same for the same item, whatever the order of its attributes and of the members of its sets. */
export function digestOf(item: Item): string {
  return createHash('sha256')
    .update(JSON.stringify(canonical({ M: item })))
    .digest('base64')
}

function canonical(value: AttributeValue): unknown {
  if ('M' in value)
    return Object.keys(value.M)
      .toSorted()
      .map((name) => [name, canonical(attribute(value.M, name)!)])
  if ('L' in value) return { L: value.L.map(canonical) }
  for (const tag of ['SS', 'NS', 'BS'] as const) {
    const members = (value as Partial<Record<typeof tag, readonly string[]>>)[tag]
    if (members !== undefined) return { [tag]: members.toSorted() }
  }
  return value
}

interface Rows {
  readonly looks: readonly SeenItem[]
  readonly next?: Item
}

async function readRows(
  space: IntentsContext,
  layout: TableLayout,
  asked: {
    readonly range: UnitRange
    readonly start: Item | undefined
    readonly limit: number | undefined
  },
  mine: string | undefined,
  usage: RequestUsage,
): Promise<Rows> {
  const { range, start, limit } = asked
  const index = layout.indexes.find(({ name }) => name === range.index)
  const common = {
    TableName: range.table,
    ConsistentRead: index?.kind !== 'global',
    ...(range.index !== undefined && { IndexName: range.index }),
    ...(start !== undefined && { ExclusiveStartKey: toSdkItem(start) }),
    ...(limit !== undefined && { Limit: limit }),
  }
  const { keyCondition } = range
  const output =
    keyCondition === undefined
      ? await space.caller.read('Scan', common, usage)
      : await space.caller.read(
          'Query',
          {
            ...common,
            KeyConditionExpression: keyCondition,
            ScanIndexForward: !range.reverse,
            ...usedIn(keyCondition, range),
          },
          usage,
        )
  const raw = (output.Items ?? []).map(fromSdkItem)
  const addressOf = (at: number): ItemAddress => ({
    table: range.table,
    key: keyAttributesOf(layout.key, raw[at]!),
  })
  const looks = await new ItemReader(space, usage, mine).looks(raw, addressOf)
  const { LastEvaluatedKey } = output
  return { looks, ...(LastEvaluatedKey !== undefined && { next: fromSdkItem(LastEvaluatedKey) }) }
}

/**
 * A committed transaction may have moved an item within the index without being finished, so the partition of the table
 * itself is read, and the index is made of it here.
 */
async function readLocalIndex(
  space: IntentsContext,
  layout: TableLayout,
  range: UnitRange,
  mine: string | undefined,
  usage: RequestUsage,
): Promise<Rows> {
  const index = layout.indexes.find(({ name }) => name === range.index)!
  const expressions = openExpressions(parametersOf(range))
  const { partition } = expressions.keyCondition(range.keyCondition!, index.key)
  const within = expressions.condition(range.keyCondition!, 'KeyConditionExpression')
  const whole: UnitRange = {
    table: range.table,
    keyCondition: '#p = :p',
    names: { '#p': layout.key.partition.name },
    values: { ':p': partition },
    reverse: false,
  }
  const looks: SeenItem[] = []
  let bytes = 0
  let start: Item | undefined
  do {
    const rows = await readRows(space, layout, { range: whole, start, limit: undefined }, mine, usage)
    looks.push(...rows.looks)
    bytes += rows.looks.reduce((sum, { item }) => sum + (item === undefined ? 0 : itemBytes(item)), 0)
    if (bytes > PARTITION_BYTES_MAX)
      throw new RangeError(`a partition of ${range.table} is too large to be read whole`)
    start = rows.next
  } while (start !== undefined)
  const sort = index.key.sort!.name
  const indexed = looks.flatMap((look): SeenItem[] => {
    const { item, stored, undecided } = look
    if (item !== undefined && attribute(item, sort) !== undefined && evaluateCondition(within, item))
      return [look]
    // It is not in the range, but it may be about to move there.
    return undecided === undefined ? [] : [{ undecided, ...(stored && { stored }) }]
  })
  const order = (look: SeenItem): AttributeValue | undefined =>
    look.item === undefined ? undefined : attribute(look.item, sort)
  const sorted = indexed.toSorted((a, b) => {
    const [left, right] = [order(a), order(b)]
    return left === undefined || right === undefined ? 0 : (compareValues(left, right) ?? 0)
  })
  return { looks: range.reverse ? sorted.toReversed() : sorted }
}

function filterOf(range: UnitRange): Filter {
  const { filter } = range
  if (filter === undefined) return () => true
  const bound = openExpressions(parametersOf(range)).condition(filter, 'FilterExpression')
  return (item) => evaluateCondition(bound, item)
}

const parametersOf = ({ names, values }: UnitRange): Parameters<typeof openExpressions>[0] => ({
  ...(names !== undefined && { ExpressionAttributeNames: names }),
  ...(values !== undefined && { ExpressionAttributeValues: values }),
})

/** Only the names and values that this expression uses: DynamoDB refuses others. */
function usedIn(
  expression: string,
  { names = {}, values = {} }: UnitRange,
): {
  ExpressionAttributeNames?: Record<string, string>
  ExpressionAttributeValues?: ReturnType<typeof toSdkItem>
} {
  const tokens = new Set(expression.match(/[#:][A-Za-z0-9_]+/g))
  const usedNames = Object.entries(names).filter(([name]) => tokens.has(name))
  const usedValues = Object.entries(values).filter(([name]) => tokens.has(name))
  return {
    ...(usedNames.length > 0 && { ExpressionAttributeNames: Object.fromEntries(usedNames) }),
    ...(usedValues.length > 0 && { ExpressionAttributeValues: toSdkItem(Object.fromEntries(usedValues)) }),
  }
}
