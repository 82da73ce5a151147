// Amazon Ion, in the text form that exports have: a line for each item, after a version marker.
//
//   $ion_1_0 {Item:{Authors:$dynamodb_SS::["a","b"],Id:103.,Price:2d3,Cover:{{aGk=}}}}
//
//   string S   decimal N   blob B   bool BOOL   null NULL   list L   struct M   list annotated $dynamodb_SS, _NS, _BS: sets
//
// Not read: binary Ion, and items over several lines. The test compares this reader and writer with Amazon's own library.
import { type AttributeValue, type Item, type MutableItem, setAttribute } from '../model/value.js'
import { changeOf, type ChangeTexts } from './dynamodb-json.js'
import type { SourceRecord } from './transfer.js'

const MARKER = '$ion_1_0'

/** Undefined: a line of white space, or of a marker alone. */
export function readIonLine(line: string): SourceRecord | undefined {
  const text = line.trim()
  if (text === '' || text === MARKER) return undefined
  try {
    const reader = new IonText(text.startsWith(MARKER) ? text.slice(MARKER.length) : text)
    const value = reader.value(0)
    reader.end()
    const members = 'M' in value ? value.M : {}
    // The outermost structs are no attributes.
    const images = Object.fromEntries(
      Object.entries(members).flatMap(([name, member]) => ('M' in member ? [[name, member.M]] : [])),
    )
    return changeOf(images) ?? { kind: 'error', message: 'a line has no Item', ends: true }
  } catch (error) {
    if (!(error instanceof IonError)) throw error
    return { kind: 'error', message: `a line is not Ion text: ${error.message}`, ends: true }
  }
}

export const ionItemLine = (item: Item): string => `${MARKER} {Item:${ionStruct(item)}}\n`

/** The texts are JSON of the wire. */
export function ionChangeLine({ timestampMicros, keys, old, new: image }: ChangeTexts): string {
  const struct = (name: string, json: string | undefined): string =>
    json === undefined ? '' : `,${name}:${ionStruct(JSON.parse(json) as Item)}`
  const images = struct('Keys', keys) + struct('OldImage', old) + struct('NewImage', image)
  return `${MARKER} {Metadata:{WriteTimestampMicros:${timestampMicros}.}${images}}\n`
}

const ionStruct = (item: Item): string =>
  `{${Object.entries(item)
    .map(([name, value]) => `${ionName(name)}:${ionValue(value)}`)
    .join(',')}}`

const PLAIN_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/
const KEYWORDS: ReadonlySet<string> = new Set(['null', 'true', 'false', 'nan'])

/** A field name may be a string. */
const ionName = (name: string): string =>
  PLAIN_NAME.test(name) && !KEYWORDS.has(name) ? name : JSON.stringify(name)

function ionValue(value: AttributeValue): string {
  if ('S' in value) return JSON.stringify(value.S)
  if ('N' in value) return ionDecimal(value.N)
  if ('B' in value) return `{{${value.B}}}`
  if ('BOOL' in value) return String(value.BOOL)
  if ('M' in value) return ionStruct(value.M)
  if ('L' in value) return `[${value.L.map(ionValue).join(',')}]`
  if ('SS' in value) return `$dynamodb_SS::[${value.SS.map((each) => JSON.stringify(each)).join(',')}]`
  if ('NS' in value) return `$dynamodb_NS::[${value.NS.map(ionDecimal).join(',')}]`
  if ('BS' in value) return `$dynamodb_BS::[${value.BS.map((each) => `{{${each}}}`).join(',')}]`
  return 'null'
}

/** Canonical text has no exponent; without a point it would be an integer. */
const ionDecimal = (number: string): string => (number.includes('.') ? number : `${number}.`)

class IonError extends Error {}

/** Beyond DynamoDB's 32 levels: the structs around an item. */
const DEPTH_MAX = 40
const NUMBER = /[+-]?[0-9][0-9_]*(?:\.[0-9_]*)?(?:[dDeE][+-]?[0-9]+)?/y
const IDENTIFIER = /[A-Za-z_$][A-Za-z0-9_$]*/y
const SPACE = /(?:[ \t\r\n\f\v]+|\/\/[^\n]*|\/\*[^]*?\*\/)*/y
const BASE64 = /[A-Za-z0-9+/= \t\r\n]*/y
const SETS = { $dynamodb_SS: 'S', $dynamodb_NS: 'N', $dynamodb_BS: 'B' } as const

class IonText {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  end(): void {
    this.#space()
    if (this.#at < this.#text.length) throw this.#wrong('more than one value')
  }

  value(depth: number): AttributeValue {
    if (depth > DEPTH_MAX) throw this.#wrong('more levels than an item may have')
    const first = this.#peek()
    if (first === '"') return { S: this.#string() }
    if (first === "'") return this.#quoted(depth)
    if (first === '{')
      return this.#text[this.#at + 1] === '{' ? { B: this.#blob() } : { M: this.#struct(depth) }
    if (first === '[') return { L: this.#list(depth) }
    if (/[-+0-9]/.test(first)) return { N: this.#number() }
    return this.#word(depth)
  }

  #struct(depth: number): Item {
    const item: MutableItem = {}
    this.#at++
    while (this.#peek() !== '}') {
      const name = this.#name()
      this.#expect(':')
      setAttribute(item, name, this.value(depth + 1))
      if (this.#peek() === ',') this.#at++
      else if (this.#peek() !== '}') throw this.#wrong('a struct that does not end')
    }
    this.#at++
    return item
  }

  #list(depth: number): AttributeValue[] {
    const list: AttributeValue[] = []
    this.#at++
    while (this.#peek() !== ']') {
      list.push(this.value(depth + 1))
      if (this.#peek() === ',') this.#at++
      else if (this.#peek() !== ']') throw this.#wrong('a list that does not end')
    }
    this.#at++
    return list
  }

  #name(): string {
    const first = this.#peek()
    if (first === '"') return this.#string()
    if (first === "'") return this.#between("'")
    return this.#match(IDENTIFIER, 'a field without a name')
  }

  #number(): string {
    const text = this.#match(NUMBER, 'a number').replaceAll('_', '')
    return text.replace(/[dD]/, 'e').replace(/\.(?=e|$)/, '')
  }

  /** true, false, a null of any type, or an annotation. */
  #word(depth: number): AttributeValue {
    const word = this.#match(IDENTIFIER, 'a value')
    if (this.#peek() === ':') return this.#annotated(word, depth)
    if (word === 'true' || word === 'false') return { BOOL: word === 'true' }
    if (word !== 'null') throw this.#wrong(`the symbol ${word}`)
    if (this.#text[this.#at] === '.') {
      this.#at++
      this.#match(IDENTIFIER, 'a type')
    }
    return { NULL: true }
  }

  #annotated(annotation: string, depth: number): AttributeValue {
    if (!this.#text.startsWith('::', this.#at)) throw this.#wrong('a value')
    this.#at += 2
    const value = this.value(depth)
    if (!Object.hasOwn(SETS, annotation)) throw this.#wrong(`the annotation ${annotation}`)
    const type = SETS[annotation as keyof typeof SETS]
    const members = 'L' in value ? value.L : undefined
    if (members === undefined || members.some((member) => !(type in member)))
      throw this.#wrong(`a set of ${type} with something else in it`)
    return {
      [`${type}S`]: members.map((member) => (member as Readonly<Record<string, string>>)[type]),
    } as unknown as AttributeValue
  }

  /** A long string in three quotes each, or a quoted annotation. */
  #quoted(depth: number): AttributeValue {
    if (!this.#text.startsWith("'''", this.#at)) {
      const symbol = this.#between("'")
      if (this.#peek() === ':') return this.#annotated(symbol, depth)
      throw this.#wrong(`the symbol '${symbol}'`)
    }
    let text = ''
    while (this.#peek() === "'") {
      if (!this.#text.startsWith("'''", this.#at)) throw this.#wrong('a long string')
      this.#at += 2
      text += this.#between("'''")
    }
    return { S: text }
  }

  #string(): string {
    return this.#between('"')
  }

  /** What stands between the quotes; the first one may stand for the last of several. */
  #between(quote: string): string {
    this.#at++
    let text = ''
    for (;;) {
      const start = this.#at
      while (
        this.#at < this.#text.length &&
        this.#text[this.#at] !== '\\' &&
        !this.#text.startsWith(quote, this.#at)
      )
        this.#at++
      text += this.#text.slice(start, this.#at)
      if (this.#at >= this.#text.length) throw this.#wrong('a string that does not end')
      if (this.#text[this.#at] !== '\\') break
      text += this.#escape()
    }
    this.#at += quote.length
    return text
  }

  #escape(): string {
    const letter = this.#text[this.#at + 1] ?? ''
    this.#at += 2
    const digits = letter === 'x' ? 2 : letter === 'u' ? 4 : letter === 'U' ? 8 : 0
    if (digits === 0) {
      const plain = ESCAPES.get(letter)
      if (plain === undefined) throw this.#wrong(`the escape \\${letter}`)
      return plain
    }
    const hex = this.#text.slice(this.#at, this.#at + digits)
    this.#at += digits
    const code = /^[0-9a-fA-F]+$/.test(hex) && hex.length === digits ? Number.parseInt(hex, 16) : -1
    if (code < 0 || code > 0x10ffff) throw this.#wrong(`the escape \\${letter}${hex}`)
    return digits === 4 ? String.fromCharCode(code) : String.fromCodePoint(code)
  }

  #blob(): string {
    this.#at += 2
    const text = this.#match(BASE64, 'a blob').replaceAll(/\s/g, '')
    this.#expect('}')
    if (this.#text[this.#at] !== '}') throw this.#wrong('a blob that does not end')
    this.#at++
    return text
  }

  #peek(): string {
    this.#space()
    return this.#text[this.#at] ?? ''
  }

  #space(): void {
    SPACE.lastIndex = this.#at
    SPACE.test(this.#text)
    this.#at = SPACE.lastIndex
  }

  #expect(character: string): void {
    if (this.#peek() !== character) throw this.#wrong(`no ${character}`)
    this.#at++
  }

  #match(pattern: RegExp, what: string): string {
    pattern.lastIndex = this.#at
    const [found] = pattern.exec(this.#text) ?? []
    if (found === undefined) throw this.#wrong(`no ${what}`)
    this.#at += found.length
    return found
  }

  #wrong(what: string): IonError {
    return new IonError(`${what} at ${this.#at}`)
  }
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['0', '\0'],
  ['a', '\u0007'],
  ['b', '\b'],
  ['t', '\t'],
  ['n', '\n'],
  ['f', '\f'],
  ['r', '\r'],
  ['v', '\v'],
  ['"', '"'],
  ["'", "'"],
  ['?', '?'],
  ['\\', '\\'],
  ['/', '/'],
])
