// What a search answers of an item: what the index holds of it, without the vector unless that is asked for.
import { keyNames, type TableShape, type VectorShape } from '../../model/table.js'
import {
  attribute,
  setAttribute,
  type AttributeValue,
  type Item,
  type MutableItem,
} from '../../model/value.js'
import { parseNumber } from '../../model/number.js'
import { coordinate, vectorNames } from '../../rules/item/vectors.js'

export function searchedItem(
  { key }: TableShape,
  index: VectorShape,
  item: Item,
  project: ((item: Item) => Item) | undefined,
): Item {
  const names = keyNames(key)
  const held: MutableItem = {}
  for (const name of vectorNames(index, names) ?? Object.keys(item)) {
    const value = attribute(item, name)
    if (value === undefined || (name === index.attribute && project === undefined)) continue
    setAttribute(held, name, name === index.attribute ? asIndexed(value) : value)
  }
  return project === undefined ? held : project(held)
}

/** The index has numbers of 32 bits; the item keeps all digits. */
function asIndexed(value: AttributeValue): AttributeValue {
  if (!('L' in value)) return value
  return { L: value.L.map((element) => ({ N: parseNumber(shortest(coordinate(element) ?? 0)) })) }
}

/** Digits that always tell a number of 32 bits from its neighbours. */
const DIGITS_MAX = 9

/** Any six digits come back from a number of 32 bits as they were, but from the smallest. */
const DIGITS_KEPT = 6
const KEPT_MIN = 2 ** -126

/** The shortest decimal that is nearest to this number of 32 bits; zeros at its end count for nothing. */
function shortest(number: number): string {
  for (let digits = Math.abs(number) < KEPT_MIN ? 1 : DIGITS_KEPT; digits < DIGITS_MAX; digits++) {
    const text = number.toPrecision(digits)
    if (Math.fround(Number(text)) === number) return text
  }
  return number.toPrecision(DIGITS_MAX)
}
