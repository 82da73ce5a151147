// Reads an item from the bytes of its JSON without making a value of it: what an import of many items, or a request that puts them,
// spends most of its time with (docs/adr/0039, 0049). Only for texts that are as the store keeps them; of any other it says so, and the caller parses it
// (parse-value.ts), which alone decides what is wrong with an item.
//
//   {"pk":{"S":"user#7"},"sk":{"N":"42"},"tags":{"SS":["a","b"]}}   no white space, no escapes, members of a map once each
//
// Plain are strings, integers of up to 15 digits, flags, null, lists, maps, and sets of strings in order.
import { isUtf8 } from 'node:buffer'
import {
  CONTAINER_BYTES,
  FLAG_BYTES,
  setAttribute,
  type AttributeValue,
  type Item,
  type MutableItem,
} from './value.js'
import { limits } from './limits.js'
import { numberBytes } from './number.js'

export interface PlainItem {
  /** As `itemBytes` counts it; within the limit. */
  readonly itemBytes: number
  /** The attributes that were asked for, if they are there and are strings or numbers. */
  readonly attributes: Item
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const COMMA = 0x2c
const OPEN = 0x7b
const CLOSE = 0x7d
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const MINUS = 0x2d
const ZERO = 0x30
const NINE = 0x39
const SPACE = 0x20
const [S, N, B, O, L, M, U, T] = [...Buffer.from('SNBOLMUt')]

/** Of four bytes: each with that value. A byte below another leaves the high bit when it is subtracted, and has none itself. */
const ONES = 0x01010101
const QUOTES = 0x22222222
const BACKSLASHES = 0x5c5c5c5c
const SPACES = 0x20202020
const HIGH_BITS = 0x80808080 | 0
const SHORT_BYTES = 24

const DEPTH_MAX = 16
const MEMBERS_MAX = 64
const DIGITS_MAX = 15
const NAME_BYTES_MAX = 255

export const NOT_THERE = -1
/** Thrown, and caught here: the text is not plain. Made once, because it is no error. */
const NOT_PLAIN = new Error('not plain')

const isDigit = (byte: number): boolean => byte >= ZERO && byte <= NINE

export class PlainItems {
  readonly #wanted: readonly { readonly name: string; readonly bytes: Buffer }[]
  /** Names of the members of the maps that are open, where each begins and ends; those of inner maps behind those of outer ones. */
  readonly #names = new Int32Array(2 * MEMBERS_MAX * DEPTH_MAX)
  #bytes: Buffer = Buffer.alloc(0)
  /** The memory of these bytes by four; the order of the four does not matter. */
  #words = new Int32Array(0)
  #at = 0
  #size = 0
  #attributes: MutableItem = {}

  /** The attributes whose values are needed: those of keys. */
  constructor(wanted: readonly string[]) {
    this.#wanted = wanted.map((name) => ({ name, bytes: Buffer.from(name) }))
  }

  /** Undefined: it is not plain, or no item at all. */
  read(bytes: Buffer, from: number, to: number): PlainItem | undefined {
    if (this.skip(bytes, from, to) !== to || !isUtf8(bytes.subarray(from, to))) return undefined
    return { itemBytes: this.#size, attributes: this.#attributes }
  }

  /** The position behind the item that begins there, in bytes that are UTF-8; `NOT_THERE`: it is not plain. */
  skip(bytes: Buffer, from: number, to: number): number {
    this.#bytes = bytes
    this.#at = from
    this.#size = 0
    this.#attributes = {}
    try {
      this.#map(0, to)
    } catch (error) {
      if (error !== NOT_PLAIN) throw error
      return NOT_THERE
    }
    return this.#size > limits.itemBytesMax ? NOT_THERE : this.#at
  }

  /** Of the item that was read or skipped last. */
  get itemBytes(): number {
    return this.#size
  }

  #map(depth: number, end: number): number {
    const bytes = this.#bytes
    if (depth >= DEPTH_MAX) throw NOT_PLAIN
    this.#expect(OPEN)
    let count = 0
    if (bytes[this.#at] === CLOSE) {
      this.#at++
      return count
    }
    for (;;) {
      const from = this.#at + 1
      const nameBytes = this.#string(end)
      if (nameBytes === 0 || nameBytes > NAME_BYTES_MAX || count >= MEMBERS_MAX) throw NOT_PLAIN
      // An object has names that are numbers in the order of these, wherever they stood.
      if (isDigit(bytes[from]!)) throw NOT_PLAIN
      this.#name(depth, count++, from, from + nameBytes)
      this.#size += nameBytes
      this.#expect(COLON)
      const valueFrom = this.#at
      this.#value(depth, end)
      if (depth === 0 && this.#wanted.length > 0) this.#keep(from, nameBytes, valueFrom)
      const next = bytes[this.#at++]
      if (next === CLOSE) return count
      if (next !== COMMA) throw NOT_PLAIN
    }
  }

  /** A member that is there twice would be told twice: such a text is not kept as it is. */
  #name(depth: number, count: number, from: number, to: number): void {
    const names = this.#names
    const bytes = this.#bytes
    const base = 2 * MEMBERS_MAX * depth
    for (let at = base; at < base + 2 * count; at += 2) {
      const other = names[at]!
      if (names[at + 1]! - other !== to - from || bytes[other] !== bytes[from]) continue
      if (bytes.compare(bytes, from, to, other, other + to - from) === 0) throw NOT_PLAIN
    }
    names[base + 2 * count] = from
    names[base + 2 * count + 1] = to
  }

  /** Its value stands behind `{"S":"` or `{"N":"`. */
  #keep(from: number, nameBytes: number, valueFrom: number): void {
    const bytes = this.#bytes
    for (const { name, bytes: wanted } of this.#wanted) {
      if (wanted.length !== nameBytes || wanted[0] !== bytes[from]) continue
      if (wanted.compare(bytes, from, from + nameBytes) !== 0) continue
      const tag = bytes[valueFrom + 2]
      if ((tag !== S && tag !== N) || bytes[valueFrom + 3] !== QUOTE) return
      const text = bytes.toString('utf8', valueFrom + 6, this.#at - 2)
      const value: AttributeValue = tag === S ? { S: text } : { N: text }
      setAttribute(this.#attributes, name, value)
    }
  }

  #value(depth: number, end: number): void {
    const bytes = this.#bytes
    this.#expect(OPEN)
    this.#expect(QUOTE)
    const tag = bytes[this.#at++]
    const second = bytes[this.#at]
    if (second === QUOTE) {
      this.#at++
      this.#expect(COLON)
      if (tag === S) this.#size += this.#string(end)
      else if (tag === N) this.#number(end)
      else if (tag === M) {
        const members = this.#map(depth + 1, end)
        this.#size += CONTAINER_BYTES + members
      } else if (tag === L) this.#list(depth + 1, end)
      else throw NOT_PLAIN
    } else if (tag === S && second === S) {
      this.#at++
      this.#expect(QUOTE)
      this.#expect(COLON)
      this.#stringSet(end)
    } else if (tag === B && second === O) {
      this.#literal(bytes[this.#at + 5] === T ? 'OOL":true' : 'OOL":false')
    } else if (tag === N && second === U) this.#literal('ULL":true')
    else throw NOT_PLAIN
    this.#expect(CLOSE)
  }

  #literal(text: string): void {
    const bytes = this.#bytes
    for (let n = 0; n < text.length; n++) if (bytes[this.#at + n] !== text.charCodeAt(n)) throw NOT_PLAIN
    this.#at += text.length
    this.#size += FLAG_BYTES
  }

  /** How many bytes it has between its quotes. */
  #string(end: number): number {
    const bytes = this.#bytes
    this.#expect(QUOTE)
    const from = this.#at
    // A long one is looked at by four bytes at once behind its beginning.
    const begun = from + SHORT_BYTES + (-(bytes.byteOffset + from + SHORT_BYTES) & 3)
    let at = this.#pastLetters(from, Math.min(begun, end))
    if (at === begun) at = this.#pastLetters(this.#pastWords(at, end), end)
    if (at >= end || bytes[at] !== QUOTE) throw NOT_PLAIN
    this.#at = at + 1
    return at - from
  }

  /** The first byte that is a quote, a backslash or a control character. */
  #pastLetters(from: number, to: number): number {
    const bytes = this.#bytes
    let at = from
    for (; at < to; at++) {
      const byte = bytes[at]!
      if (byte === QUOTE || byte === BACKSLASH || byte < SPACE) break
    }
    return at
  }

  /** Nothing in front of it is such a byte; its address is a multiple of four, as that of the first. */
  #pastWords(from: number, to: number): number {
    const { buffer, byteOffset } = this.#bytes
    if (this.#words.buffer !== buffer)
      this.#words = new Int32Array(buffer as ArrayBuffer, 0, buffer.byteLength >>> 2)
    const words = this.#words
    const behind = (byteOffset + to) >>> 2
    let word = (byteOffset + from) >>> 2
    for (; word < behind; word++) {
      const four = words[word]!
      const quotes = four ^ QUOTES
      const backslashes = four ^ BACKSLASHES
      const found =
        ((four - SPACES) & ~four) | ((quotes - ONES) & ~quotes) | ((backslashes - ONES) & ~backslashes)
      if ((found & HIGH_BITS) !== 0) break
    }
    return 4 * word - byteOffset
  }

  #number(end: number): void {
    const bytes = this.#bytes
    const from = this.#at + 1
    const length = this.#string(end)
    const digits = bytes[from] === MINUS ? from + 1 : from
    const count = from + length - digits
    if (count < 1 || count > DIGITS_MAX || (bytes[digits] === ZERO && length > 1)) throw NOT_PLAIN
    for (let at = digits; at < from + length; at++)
      if (bytes[at]! < ZERO || bytes[at]! > NINE) throw NOT_PLAIN
    this.#size += numberBytes(bytes.toString('latin1', from, from + length))
  }

  #list(depth: number, end: number): void {
    const bytes = this.#bytes
    if (depth >= DEPTH_MAX) throw NOT_PLAIN
    this.#expect(OPEN_LIST)
    this.#size += CONTAINER_BYTES
    if (bytes[this.#at] === CLOSE_LIST) {
      this.#at++
      return
    }
    for (;;) {
      this.#value(depth, end)
      this.#size++
      const next = bytes[this.#at++]
      if (next === CLOSE_LIST) return
      if (next !== COMMA) throw NOT_PLAIN
    }
  }

  /** In the order of the bytes, and so each once. */
  #stringSet(end: number): void {
    const bytes = this.#bytes
    this.#expect(OPEN_LIST)
    for (let [before, beforeEnd] = [-1, -1]; ;) {
      const from = this.#at + 1
      const to = from + this.#string(end)
      if (before >= 0 && bytes.compare(bytes, from, to, before, beforeEnd) >= 0) throw NOT_PLAIN
      this.#size += to - from
      ;[before, beforeEnd] = [from, to]
      const next = bytes[this.#at++]
      if (next === CLOSE_LIST) return
      if (next !== COMMA) throw NOT_PLAIN
    }
  }

  #expect(byte: number): void {
    if (this.#bytes[this.#at++] !== byte) throw NOT_PLAIN
  }
}
