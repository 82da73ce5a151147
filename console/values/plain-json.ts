// Items as plain JSON, without loss: a number keeps every digit that it was written with, both ways. Sets and binary values have
// no plain form; they are written as DynamoDB's JSON under one member each, `{"SS": [...]}`, and read back as such. So is a map that
// would look like one of them: a map with the one member `SS` is written `{"M": {"SS": ...}}`.
import { type AttributeValue, type Item, numberProblem } from './attribute.js'

const TYPED = new Set(['SS', 'NS', 'BS', 'B', 'M'])
const DEPTH_MAX = 40

export const toPlainJson = (item: Item): string => plainObject(item, 0)
export const toDynamoJson = (item: Item): string => JSON.stringify(item, null, 2)

function plainValue(value: AttributeValue, depth: number): string {
  if ('S' in value) return JSON.stringify(value.S)
  if ('N' in value) return value.N
  if ('BOOL' in value) return String(value.BOOL)
  if ('NULL' in value) return 'null'
  if ('M' in value) return looksTyped(value.M) ? JSON.stringify(value) : plainObject(value.M, depth + 1)
  if (!('L' in value)) return JSON.stringify(value)
  if (value.L.length === 0) return '[]'
  const indent = '  '.repeat(depth + 2)
  return `[\n${value.L.map((each) => indent + plainValue(each, depth + 1)).join(',\n')}\n${'  '.repeat(depth + 1)}]`
}

function plainObject(members: Item, depth: number): string {
  const names = Object.keys(members)
  if (names.length === 0) return '{}'
  const indent = '  '.repeat(depth + 1)
  const lines = names.map(
    (name) => `${indent}${JSON.stringify(name)}: ${plainValue(members[name] as AttributeValue, depth)}`,
  )
  return `{\n${lines.join(',\n')}\n${'  '.repeat(depth)}}`
}

/** An item in plain JSON or in DynamoDB's; throws an Error that says where it is wrong. */
export function itemFromJson(text: string, form: 'plain' | 'dynamodb'): Item {
  const reader = new Reader(text)
  const parsed = reader.whole()
  if (!(parsed instanceof Map)) throw new Error('an item is an object: { … }')
  return form === 'plain' ? fromPlainMembers(parsed) : fromTypedMembers(parsed, '')
}

/** Several items: an array, or one after another; and `{ "Item": … }` as exports have it. */
export function itemsFromJson(text: string): readonly Item[] {
  const reader = new Reader(text)
  const values = reader.several().flatMap((value) => (Array.isArray(value) ? value : [value]))
  return values.map((value, at) => {
    if (!(value instanceof Map)) throw new Error(`item ${at + 1} is not an object`)
    const wrapped = value.size === 1 ? value.get('Item') : undefined
    const members = wrapped instanceof Map ? wrapped : value
    return [...members.values()].every(isTyped) ? fromTypedMembers(members, '') : fromPlainMembers(members)
  })
}

type Parsed = string | boolean | null | NumberText | readonly Parsed[] | Members
interface Members extends ReadonlyMap<string, Parsed> {}
class NumberText {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

const isTyped = (value: Parsed): boolean =>
  value instanceof Map &&
  value.size === 1 &&
  /^(?:S|N|B|BOOL|NULL|SS|NS|BS|L|M)$/.test([...value.keys()][0] as string)

/** Which a person may write by hand: a member `M` that is a map of anything but values of DynamoDB. */
const isPlainMap = (content: Parsed | undefined): boolean =>
  content instanceof Map && (content.size === 0 || ![...content.values()].every(isTyped))

function looksTyped(members: Item): boolean {
  const names = Object.keys(members)
  return names.length === 1 && TYPED.has(names[0] as string)
}

const fromPlainMembers = (members: Members): Item => {
  const item = bare()
  for (const [name, value] of members) item[name] = fromPlain(value)
  return item
}

/** Without a prototype: an attribute may be called `__proto__`. */
const bare = (): Record<string, AttributeValue> => Object.create(null) as Record<string, AttributeValue>

function fromPlain(value: Parsed): AttributeValue {
  if (value === null) return { NULL: true }
  if (typeof value === 'string') return { S: value }
  if (typeof value === 'boolean') return { BOOL: value }
  if (value instanceof NumberText) return numberOf(value.text)
  if (Array.isArray(value)) return { L: (value as readonly Parsed[]).map(fromPlain) }
  const members = value as Members
  const [first] = members.keys()
  if (members.size === 1 && first !== undefined && TYPED.has(first) && !isPlainMap(members.get(first)))
    return fromTyped(members, first)
  return { M: fromPlainMembers(members) }
}

function fromTypedMembers(members: Members, path: string): Item {
  const item = bare()
  for (const [name, value] of members) item[name] = fromTyped(value, `${path}${name}`)
  return item
}

function fromTyped(value: Parsed, path: string): AttributeValue {
  const wrong = (): Error => new Error(`${path}: a value of DynamoDB is such as {"S": "text"} or {"N": "1"}`)
  if (!(value instanceof Map) || value.size !== 1) throw wrong()
  const [[type, content]] = [...value] as [[string, Parsed]]
  const texts = (): readonly string[] => {
    if (!Array.isArray(content) || content.length === 0) throw wrong()
    return (content as readonly Parsed[]).map((each) => {
      if (typeof each !== 'string') throw wrong()
      return each
    })
  }
  switch (type) {
    case 'S':
    case 'B':
      if (typeof content !== 'string') throw wrong()
      return type === 'S' ? { S: content } : { B: content }
    case 'N':
      if (typeof content !== 'string') throw wrong()
      return numberOf(content)
    case 'BOOL':
    case 'NULL':
      if (typeof content !== 'boolean') throw wrong()
      return type === 'BOOL' ? { BOOL: content } : { NULL: content }
    case 'SS':
      return { SS: texts() }
    case 'BS':
      return { BS: texts() }
    case 'NS':
      return { NS: texts() }
    case 'L':
      if (!Array.isArray(content)) throw wrong()
      return { L: (content as readonly Parsed[]).map((each, at) => fromTyped(each, `${path}[${at}]`)) }
    case 'M':
      if (!(content instanceof Map)) throw wrong()
      return { M: fromTypedMembers(content as Members, `${path}.`) }
    default:
      throw wrong()
  }
}

function numberOf(text: string): AttributeValue {
  const problem = numberProblem(text)
  if (problem !== undefined) throw new Error(`${text.slice(0, 60)}: ${problem}`)
  return { N: text }
}

/** JSON, with numbers as they are written. */
class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  whole(): Parsed {
    const value = this.#value(0)
    this.#space()
    if (this.#at < this.#text.length) throw this.#wrong('something follows the end')
    return value
  }

  several(): readonly Parsed[] {
    const values: Parsed[] = []
    for (this.#space(); this.#at < this.#text.length; this.#space()) values.push(this.#value(0))
    return values
  }

  #value(depth: number): Parsed {
    if (depth > DEPTH_MAX) throw this.#wrong(`more than ${DEPTH_MAX} levels`)
    this.#space()
    const character = this.#text[this.#at]
    if (character === '{') return this.#object(depth)
    if (character === '[') return this.#array(depth)
    if (character === '"') return this.#string()
    for (const [word, value] of WORDS)
      if (this.#text.startsWith(word, this.#at)) {
        this.#at += word.length
        return value
      }
    NUMBER_AT.lastIndex = this.#at
    const number = NUMBER_AT.exec(this.#text)?.[0]
    if (number === undefined) throw this.#wrong('a value is expected')
    this.#at += number.length
    return new NumberText(number)
  }

  #object(depth: number): Members {
    const members = new Map<string, Parsed>()
    this.#at++
    this.#space()
    if (this.#skip('}')) return members
    do {
      this.#space()
      const name = this.#string()
      if (members.has(name)) throw this.#wrong(`${JSON.stringify(name)} is there twice`)
      this.#space()
      if (!this.#skip(':')) throw this.#wrong("':' is expected")
      members.set(name, this.#value(depth + 1))
      this.#space()
    } while (this.#skip(','))
    if (!this.#skip('}')) throw this.#wrong("',' or '}' is expected")
    return members
  }

  #array(depth: number): readonly Parsed[] {
    const values: Parsed[] = []
    this.#at++
    this.#space()
    if (this.#skip(']')) return values
    do {
      values.push(this.#value(depth + 1))
      this.#space()
    } while (this.#skip(','))
    if (!this.#skip(']')) throw this.#wrong("',' or ']' is expected")
    return values
  }

  #string(): string {
    if (this.#text[this.#at] !== '"') throw this.#wrong('a text in double quotes is expected')
    let end = this.#at + 1
    while (end < this.#text.length && this.#text[end] !== '"') end += this.#text[end] === '\\' ? 2 : 1
    const quoted = this.#text.slice(this.#at, end + 1)
    try {
      const value = JSON.parse(quoted) as string
      this.#at = end + 1
      return value
    } catch {
      throw this.#wrong('the text in quotes is not closed, or has a wrong escape')
    }
  }

  #skip(character: string): boolean {
    if (this.#text[this.#at] !== character) return false
    this.#at++
    return true
  }

  #space(): void {
    while (this.#at < this.#text.length && ' \t\r\n'.includes(this.#text[this.#at] as string)) this.#at++
  }

  #wrong(what: string): Error {
    const line = this.#text.slice(0, this.#at).split('\n')
    return new Error(`line ${line.length}, column ${(line.at(-1) ?? '').length + 1}: ${what}`)
  }
}

const WORDS = [
  ['true', true],
  ['false', false],
  ['null', null],
] as const
const NUMBER_AT = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y
