// Reads a large request along its shape, so that it costs no more than what a valid one could need:
//
//   structs, lists and maps of the shape   are walked here: the first wrong token ends it, and so does one element too many
//   attribute values (`any`)               are measured first, then parsed by JSON.parse
//   members that the shape does not know   are passed over
//
// Between its parts it yields, and the caller may let others have their turn. What is read is checked against the shape
// again by the router, which says what is wrong in DynamoDB's words; only what no valid request could have is refused here.
// Small requests need none of this.
import { setMember } from '../../model/value.js'
import { type DynamoError, serializationError } from '../../model/errors.js'
import { limits } from '../../model/limits.js'
import { checkTypes } from './check-shape.js'
import type { RequestShape } from './shape.js'

export const shapedLimits = {
  /** An item's smallest values take two of its bytes each: no valid map of attributes has more brackets, or commas. */
  valuesMax: limits.itemBytesMax / 2 + 20_000,
  /** Of a list or map, beyond what its shape allows: so that a little too many are refused in DynamoDB's words. */
  elementsBeyondMax: 1_000,
  /** Brackets of a member that is unknown. */
  unknownMax: 1_000,
  /** Levels of brackets in a value; the deepest legal one needs about 65. */
  depthMax: 1000,
  /** Between two yields, about. */
  charactersPerTurn: 128 * 1024,
} as const

/** Yields now and then; returns what JSON.parse would, without unknown members. Throws DynamoError. */
export function* readShaped(text: string, shape: RequestShape): Generator<undefined, unknown> {
  const reader = new Reader(text)
  const value = yield* read(reader, shape)
  reader.end()
  return value
}

function* read(reader: Reader, shape: RequestShape): Generator<undefined, unknown> {
  const start = reader.peek()
  if (start === NULL) return reader.scalar()
  if (start !== OPENING[shape.kind]) return wrong(reader, shape)
  switch (shape.kind) {
    case 'struct':
    case 'map':
      return yield* readMembers(reader, shape)
    case 'list': {
      const elements: unknown[] = []
      const most = (shape.lengthMax ?? 0) + shapedLimits.elementsBeyondMax
      for (let more = reader.open(BRACKET_END); more; more = reader.next(BRACKET_END)) {
        if (elements.length >= most) throw tooMany()
        elements.push(yield* read(reader, shape.member))
        if (reader.isDue()) yield
      }
      return elements
    }
    case 'any':
    case 'string':
    case 'integer':
    case 'long':
    case 'double':
    case 'boolean':
      return reader.scalar()
  }
}

function* readMembers(
  reader: Reader,
  shape: Extract<RequestShape, { kind: 'struct' | 'map' }>,
): Generator<undefined, unknown> {
  const object: Record<string, unknown> = {}
  const ofValues = shape.kind === 'map' && shape.member.kind === 'any'
  if (ofValues) reader.beginValues()
  const most = ofValues
    ? shapedLimits.valuesMax
    : (shape.kind === 'map' ? (shape.lengthMax ?? 0) : 0) + shapedLimits.elementsBeyondMax
  let members = 0
  for (let more = reader.open(BRACE_END); more; more = reader.next(BRACE_END)) {
    if (++members > most) throw tooMany()
    const name = reader.name()
    const member = shape.kind === 'map' ? shape.member : ownMember(shape.members, name)
    if (member === undefined) reader.skip(shapedLimits.unknownMax)
    else setMember(object, name, member.kind === 'any' ? reader.value(ofValues) : yield* read(reader, member))
    if (reader.isDue()) yield
  }
  return object
}

const ownMember = (
  members: Readonly<Record<string, RequestShape>>,
  name: string,
): RequestShape | undefined => (Object.hasOwn(members, name) ? members[name] : undefined)

/** A value of another type than the shape has: the types are checked with a small one of that kind, which throws. */
function wrong(reader: Reader, shape: RequestShape): unknown {
  const start = reader.peek()
  if (shape.kind === 'any') return reader.value(false)
  const sample = start === '{' ? {} : start === '[' ? [] : reader.scalar()
  checkTypes(shape, sample)
  return sample
}

const NULL = 'n'
const BRACE_END = '}'
const BRACKET_END = ']'
/** What a value of that kind begins with; scalars are looked at by `wrong`, which takes them if they fit. */
const OPENING: Readonly<Record<RequestShape['kind'], string>> = {
  struct: '{',
  map: '{',
  list: '[',
  string: '"',
  any: '',
  integer: '',
  long: '',
  double: '',
  boolean: '',
}

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c

/** The position in the text, and what was counted so far. */
class Reader {
  readonly #text: string
  #at = 0
  #yieldedAt = 0
  /** Of the map of attributes that is being read. */
  #brackets = 0
  #commas = 0

  constructor(text: string) {
    this.#text = text
  }

  isDue(): boolean {
    if (this.#at - this.#yieldedAt < shapedLimits.charactersPerTurn) return false
    this.#yieldedAt = this.#at
    return true
  }

  /** The next character that is no white space; '' at the end. */
  peek(): string {
    const text = this.#text
    while (isSpace(text.charCodeAt(this.#at))) this.#at++
    return text.charAt(this.#at)
  }

  /** Goes into a list or an object; whether there is anything in it. */
  open(end: string): boolean {
    this.#at++
    if (this.peek() !== end) return true
    this.#at++
    return false
  }

  /** Behind an element: whether there is another one. */
  next(end: string): boolean {
    const character = this.peek()
    this.#at++
    if (character === ',') return true
    if (character === end) return false
    throw notJson()
  }

  /** A name, and the colon behind it. */
  name(): string {
    if (this.peek() !== '"') throw notJson()
    const name = this.scalar() as string
    if (this.peek() !== ':') throw notJson()
    this.#at++
    return name
  }

  end(): void {
    if (this.peek() !== '') throw notJson()
  }

  scalar(): unknown {
    return parse(this.#pass(0))
  }

  beginValues(): void {
    this.#brackets = 0
    this.#commas = 0
  }

  /** An attribute value; one of a map is counted together with the others of it. */
  value(together: boolean): unknown {
    if (!together) this.beginValues()
    return parse(this.#pass(shapedLimits.valuesMax))
  }

  /** Passes over a value, which must be one. */
  skip(bracketsMax: number): void {
    this.beginValues()
    parse(this.#pass(bracketsMax))
  }

  /** The text of the next value, with at most so many brackets and commas; it may still be no JSON. */
  #pass(valuesMax: number): string {
    this.peek()
    const text = this.#text
    const start = this.#at
    let depth = 0
    let at = start
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code === QUOTE) {
        at = endOfString(text, at)
        if (depth === 0) {
          at++
          break
        }
      } else if ((code | 0x20) === 0x7b) {
        // `[` and `{` (and `]` and `}`) differ in one bit.
        if (++depth > shapedLimits.depthMax) throw tooDeep()
        if (++this.#brackets > valuesMax) throw tooMany()
      } else if ((code | 0x20) === 0x7d) {
        if (depth === 0) break
        if (--depth === 0) {
          at++
          break
        }
      } else if (code === COMMA) {
        if (depth === 0) break
        if (++this.#commas > valuesMax) throw tooMany()
      } else if (depth === 0 && isSpace(code)) break
    }
    this.#at = at
    return text.slice(start, at)
  }
}

const isSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09

/** The position of the quote that closes the string, or the end of the text. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let backslashes = 0
    while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return at
  }
  return text.length
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw notJson()
  }
}

const notJson = (): DynamoError => serializationError('the body of the request is not valid JSON')
const tooDeep = (): DynamoError =>
  serializationError(`the body of the request nests deeper than ${shapedLimits.depthMax} levels`)
const tooMany = (): DynamoError => serializationError('the request has more values than any valid one')
