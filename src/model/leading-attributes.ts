// Reads attributes from the text of a stored item without parsing all of it, where they stand in front of what is not plain: those
// of the key of an item, for the position at which a page ended. It decides nothing: where a look is not enough, the text is parsed.
//
//   {"pk":{"S":"user#7"},"sk":{"N":"42"},"data":{"S":"...     -> pk, sk; what follows is not looked at
import { pickAttributes, setAttribute, type AttributeValue, type Item, type MutableItem } from './value.js'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
/** From the end of a name to its value, `":{"S":"`; and where in that the tag stands. */
const BEFORE_VALUE = 8
const TAG_AT = 4

/** The attributes of those names that the item has, in the order of the names. The text is one that the store has written. */
export function leadingAttributes(bytes: Buffer, start: number, end: number, names: readonly string[]): Item {
  return atOnce(bytes, start, names) ?? parsed(bytes, start, end, names)
}

const parsed = (bytes: Buffer, start: number, end: number, names: readonly string[]): Item =>
  pickAttributes(JSON.parse(bytes.toString('utf8', start, end)) as Item, names)

/** Undefined: not all of them stand in front. */
function atOnce(bytes: Buffer, start: number, names: readonly string[]): Item | undefined {
  const found: MutableItem = {}
  let left = names.length
  let at = start + 1
  while (left > 0) {
    if (bytes[at] !== QUOTE) return undefined
    const nameEnd = bytes.indexOf(QUOTE, at + 1)
    const valueAt = nameEnd + BEFORE_VALUE
    // A string, a number or a binary: one letter, and its content in quotes.
    if (bytes[valueAt - 1] !== QUOTE || bytes[nameEnd + TAG_AT + 1] !== QUOTE) return undefined
    const valueEnd = bytes.indexOf(QUOTE, valueAt)
    if (bytes[nameEnd - 1] === BACKSLASH || bytes[valueEnd - 1] === BACKSLASH) return undefined
    const name = bytes.toString('utf8', at + 1, nameEnd)
    if (name.includes('\\')) return undefined
    if (names.includes(name)) {
      const text = bytes.toString('utf8', valueAt, valueEnd)
      if (text.includes('\\')) return undefined
      setAttribute(found, name, taggedValue(bytes[nameEnd + TAG_AT]!, text))
      left--
    }
    at = valueEnd + 3
    if (left > 0 && bytes[at - 1] !== COMMA) return undefined
  }
  return pickAttributes(found, names)
}

const taggedValue = (tag: number, text: string): AttributeValue =>
  ({ [String.fromCharCode(tag)]: text }) as unknown as AttributeValue
