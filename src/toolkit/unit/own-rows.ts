// A unit's own writes within what a query or scan answers: rows that the unit has changed are left out of the endpoint's
// answer, and put back as the unit left them, at their place, if they still match.
import { evaluateCondition, openExpressions } from '../../expression/expression.js'
import type { KeyBytes } from '../../model/brand.js'
import { validationError } from '../../model/errors.js'
import { indexEntryKey, indexSortBytes, itemKey, sortBytes } from '../../model/key-bytes.js'
import { indexRange, itemRange, type KeyRange, type SortCondition } from '../../model/key-range.js'
import { keyNames, sortParts, type IndexShape } from '../../model/table.js'
import { attribute, type Item, pickAttributes } from '../../model/value.js'
import { positionNames, projected, type IndexLayout } from './layout.js'
import type { UnitRange, TableLayout } from './protocol.js'

/** One range of a table or index, understood here as the endpoint does. */
export interface RangeView {
  readonly positionNames: readonly string[]
  /** Whether an item of that key may be in the range, as far as the key alone tells. */
  mayHold(key: Item): boolean
  /** The row that an item makes in the range; undefined if it is not in it. */
  rowOf(item: Item): Item | undefined
  /** Rows in the order in which the endpoint answers them; undefined where that is not known. */
  readonly compare: ((a: Item, b: Item) => number) | undefined
}

export function rangeView(
  layout: TableLayout,
  request: UnitRange,
  { ordersLikeSeriatim }: { readonly ordersLikeSeriatim: boolean },
): RangeView {
  const index = indexOf(layout, request.index)
  const expressions = openExpressions({
    ...(request.names !== undefined && { ExpressionAttributeNames: request.names }),
    ...(request.values !== undefined && { ExpressionAttributeValues: request.values }),
  })
  const range = request.keyCondition === undefined ? undefined : keyRange()
  const filter =
    request.filter === undefined ? undefined : expressions.condition(request.filter, 'FilterExpression')
  const positionOf = (item: Item): KeyBytes | undefined => positionIn(layout, index, item)

  function keyRange(): KeyRange {
    const schema = index?.key ?? layout.key
    const { partition, further, ...asked } = expressions.keyCondition(request.keyCondition!, schema)
    const sort = asked.sort as SortCondition | undefined
    return index === undefined
      ? itemRange(schema, partition, sort)
      : indexRange(schema, partition, sort, further)
  }

  const orderOf = ordersLikeSeriatim
    ? (item: Item): string => positionOf(item) ?? ''
    : range === undefined
      ? undefined
      : (item: Item): string => sortPosition(layout, index, item)
  const sign = request.reverse ? -1 : 1
  return {
    positionNames: positionNames(layout, index),
    mayHold: (key) => index !== undefined || range === undefined || inRange(range, positionOf(key)),
    rowOf: (item) => {
      const position = positionOf(item)
      if (position === undefined || (range !== undefined && !inRange(range, position))) return undefined
      const row = projected(layout, index, item)
      return filter === undefined || evaluateCondition(filter, row) ? row : undefined
    },
    compare: orderOf && ((a, b) => sign * compareText(orderOf(a), orderOf(b))),
  }
}

const indexOf = (layout: TableLayout, name: string | undefined): IndexLayout | undefined => {
  if (name === undefined) return undefined
  const index = layout.indexes.find((one) => one.name === name)
  if (index === undefined) throw validationError(`The table does not have the specified index: ${name}`)
  return index
}

/** Where an item stands in the table, or in the index; undefined if it is not in that. */
function positionIn(layout: TableLayout, index: IndexLayout | undefined, item: Item): KeyBytes | undefined {
  const base = itemKey(layout.key, pickAttributes(item, keyNames(layout.key)))
  return index === undefined ? base.bytes : indexEntryKey(index as IndexShape, item, base)
}

/** The sort key alone: the order of equal ones is the endpoint's own. */
function sortPosition(layout: TableLayout, index: IndexLayout | undefined, item: Item): string {
  let bytes = ''
  for (const { name, type } of sortParts(index?.key ?? layout.key)) {
    const value = attribute(item, name)
    if (value === undefined) return bytes
    bytes += index === undefined ? sortBytes(type, value) : indexSortBytes(type, value)
  }
  return bytes
}

const inRange = (range: KeyRange, position: KeyBytes | undefined): boolean =>
  position !== undefined && position >= range.from && (range.to === undefined || position < range.to)

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

interface OwnRowsParts {
  readonly hidden: ReadonlySet<string>
  readonly rows: readonly Item[]
  readonly idOfRow: (row: Item) => string
  readonly compare: ((a: Item, b: Item) => number) | undefined
}

/** Merges a unit's own rows into the endpoint's, page by page. */
export class OwnRows {
  readonly hidden: ReadonlySet<string>
  readonly #rows: readonly Item[]
  readonly #idOfRow: (row: Item) => string
  readonly #compare: ((a: Item, b: Item) => number) | undefined
  #next = 0

  constructor({ hidden, rows, idOfRow, compare }: OwnRowsParts) {
    this.hidden = hidden
    this.#rows = compare === undefined ? rows : rows.toSorted(compare)
    this.#idOfRow = idOfRow
    this.#compare = compare
  }

  merged(page: readonly Item[], follows: 'more' | 'last'): readonly Item[] {
    const merged: Item[] = []
    for (const row of page) {
      if (this.hidden.has(this.#idOfRow(row))) continue
      // Where the order is not known the unit's own rows come first.
      while (this.#next < this.#rows.length && this.#precedes(this.#rows[this.#next]!, row))
        merged.push(this.#rows[this.#next++]!)
      merged.push(row)
    }
    if (follows === 'last') merged.push(...this.#rows.slice(this.#next))
    return merged
  }

  #precedes(own: Item, row: Item): boolean {
    return this.#compare === undefined || this.#compare(own, row) < 0
  }
}
