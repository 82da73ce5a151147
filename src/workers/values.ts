// Plain data as bytes: what nodes, ledgers and routers are asked and answer. The same build is on both sides, so nothing of it
// is a format that lasts.
//
// What comes again and again is sent once: the shape of a table and the tree of an expression are the same object from request
// to request, and stand in a table of each direction of a channel. So messages of one direction are read in the order in which
// they were written, each once.
import type { Lsn, Timestamp } from '../model/brand.js'
import { itemBytes as itemBytesOf } from '../model/value.js'
import { TextPut } from '../model/text-put.js'
import type { ItemRecord, LastWrite, Mutation } from '../rules/item/item.js'
import { ByteReader, ByteWriter } from './bytes.js'
import { errorOf, type PlainError, plainError } from './errors.js'

const enumerate = <const Names extends readonly string[]>(
  names: Names,
): { readonly [N in Names[number]]: number } =>
  Object.fromEntries(names.map((name, at) => [name, at])) as never

const TAG = enumerate([
  'undefined',
  'null',
  'false',
  'true',
  'byte',
  'number',
  'latin1',
  'utf16',
  'bytes',
  'array',
  'object',
  'map',
  'set',
  'record',
  'put',
  'known',
  'introduced',
  'error',
  'name',
] as const)

/** Members whose values are the same objects again and again. */
const RECURRING: ReadonlySet<string> = new Set(['table', 'tree', 'index'])
/** So many of them are known at once; the oldest makes room. */
const KNOWN_MAX = 1024
const LATIN1_MAX = 0xff
const BYTE_MAX = 0xff

/** Names and words that stand in most messages. Others are spelt. */
const WORDS = [
  'space',
  'key',
  'hash',
  'bytes',
  'keyAttributes',
  'mutation',
  'kind',
  'put',
  'update',
  'delete',
  'check',
  'condition',
  'tree',
  'bindings',
  'names',
  'values',
  'table',
  'index',
  'answersImage',
  'verdict',
  'done',
  'timestamp',
  'old',
  'new',
  'condition-failed',
  'current',
  'conflict',
  'others',
  'holder',
  'invalid',
  'message',
  'from',
  'to',
  'reverse',
  'entriesMax',
  'bytesMax',
  'itemSpace',
  'entries',
  'more',
  'record',
  'tx',
  'actions',
  'imagesWanted',
  'predicates',
  'unit',
  'ahead',
  'clock',
  'verdicts',
  'accepted',
  'too-old',
  'above',
  'changed',
  'by',
  'ended',
  'predicateVerdicts',
  'run',
  'items',
  'nodes',
  'unfenced',
  'until',
  'visible',
  'known',
  'token',
  'payloadHash',
  'once',
  'outcome',
  'committed',
  'refused',
  'repeated',
  'results',
  'value',
  'lsn',
  'written',
  'pending',
  'at',
  'participants',
  'node',
  'state',
  'preparing',
  'committing',
  'cancelling',
  'completed',
  'begunAt',
  'completedAt',
  'decision',
  'commit',
  'cancel',
  'reasons',
  'begun',
  'exists',
  'S',
  'N',
  'B',
  'M',
  'L',
  'BOOL',
  'id',
  'read',
  'page',
  'expected',
  'version',
  'locked',
  'filter',
  'range',
  'since',
  'operation',
  'input',
  'principal',
  'addressed',
  'name',
  'cause',
  'roomBefore',
  'roomAfter',
  'text',
  'replaces',
  'left',
  'right',
  'operator',
  'operands',
  'path',
] as const
const WORD_NUMBERS: ReadonlyMap<string, number> = new Map(WORDS.map((word, at) => [word, at]))

/** By flags. */
const LAST_WRITES: readonly LastWrite[] = [
  { kind: 'put', blind: false },
  { kind: 'update', blind: false },
  { kind: 'put', blind: true },
  { kind: 'update', blind: true },
]

export class ValueWriter {
  readonly out = new ByteWriter()
  readonly #known: (object | undefined)[] = []
  readonly #numbers = new WeakMap<object, number>()
  #introduced = 0

  value(value: unknown): void {
    switch (typeof value) {
      case 'undefined':
      case 'function':
        // What only has a meaning in its own process: a callback for damage.
        return this.out.u8(TAG.undefined)
      case 'boolean':
        return this.out.u8(value ? TAG.true : TAG.false)
      case 'number':
        return this.#number(value)
      case 'string':
        return this.text(value)
      case 'object':
        return value === null ? this.out.u8(TAG.null) : this.#object(value)
      case 'bigint':
      case 'symbol':
      default:
        throw new TypeError(`a ${typeof value} cannot be sent to another worker`)
    }
  }

  /** What was introduced since may not have been sent: everything is introduced anew. */
  forget(): void {
    this.#known.length = 0
  }

  text(text: string): void {
    const word = WORD_NUMBERS.get(text)
    if (word !== undefined) {
      this.out.u8(TAG.name)
      this.out.u8(word)
    } else if (isLatin1(text)) {
      this.out.u8(TAG.latin1)
      this.out.latin1(text)
    } else {
      this.out.u8(TAG.utf16)
      this.out.utf16(text)
    }
  }

  record(record: ItemRecord): void {
    const { lastWrite } = record
    this.out.u8((lastWrite.kind === 'update' ? 1 : 0) | (lastWrite.blind ? 2 : 0))
    this.out.f64(record.timestamp)
    this.out.f64(record.lsn)
    this.out.u32(record.itemBytes)
    this.out.bytes(record.json)
  }

  /** The item as the node would write it: then the node need not. */
  put({ item, itemBytes, json }: Put): void {
    this.out.u32(itemBytes ?? itemBytesOf(item))
    if (json === undefined) this.out.utf8(JSON.stringify(item))
    else this.out.bytes(json)
  }

  #number(value: number): void {
    if (Number.isInteger(value) && value >= 0 && value <= BYTE_MAX && !Object.is(value, -0)) {
      this.out.u8(TAG.byte)
      this.out.u8(value)
    } else {
      this.out.u8(TAG.number)
      this.out.f64(value)
    }
  }

  #object(value: object): void {
    if (value instanceof Uint8Array) {
      this.out.u8(TAG.bytes)
      this.out.bytes(value)
    } else if (Array.isArray(value)) {
      this.out.u8(TAG.array)
      this.out.length(value.length)
      for (const member of value as unknown[]) this.value(member)
    } else if (value instanceof Map) {
      this.out.u8(TAG.map)
      this.out.length(value.size)
      for (const [key, member] of value as Map<unknown, unknown>) {
        this.value(key)
        this.value(member)
      }
    } else if (value instanceof Set) {
      this.out.u8(TAG.set)
      this.out.length(value.size)
      for (const member of value as Set<unknown>) this.value(member)
    } else if (value instanceof Error) {
      this.out.u8(TAG.error)
      this.value({ ...plainError(value) })
    } else if (isRecord(value)) {
      this.out.u8(TAG.record)
      this.record(value)
    } else if (isPut(value)) {
      this.out.u8(TAG.put)
      this.put(value)
    } else this.#members(value)
  }

  #members(value: object): void {
    const names = Object.keys(value)
    this.out.u8(TAG.object)
    this.out.length(names.length)
    for (const name of names) {
      this.text(name)
      const member = (value as Record<string, unknown>)[name]
      if (typeof member === 'object' && member !== null && RECURRING.has(name)) this.recurring(member)
      else this.value(member)
    }
  }

  /** The same object from message to message. */
  recurring(value: object): void {
    const number = this.#numbers.get(value)
    if (number !== undefined && this.#known[number] === value) {
      this.out.u8(TAG.known)
      this.out.u32(number)
      return
    }
    const next = this.#introduced++ % KNOWN_MAX
    this.#known[next] = value
    this.#numbers.set(value, next)
    this.out.u8(TAG.introduced)
    this.out.u32(next)
    this.value(value)
  }
}

/** What a direction of a channel has introduced. */
export type Introduced = unknown[]

export class ValueReader {
  readonly in: ByteReader
  readonly #known: Introduced

  constructor(bytes: Buffer, known: Introduced) {
    this.in = new ByteReader(bytes)
    this.#known = known
  }

  value(): unknown {
    const tag = this.in.u8()
    switch (tag) {
      case TAG.undefined:
        return undefined
      case TAG.null:
        return null
      case TAG.false:
        return false
      case TAG.true:
        return true
      case TAG.byte:
        return this.in.u8()
      case TAG.number:
        return this.in.f64()
      case TAG.latin1:
        return this.in.latin1()
      case TAG.utf16:
        return this.in.utf16()
      case TAG.name:
        return WORDS[this.in.u8()]
      case TAG.bytes:
        return this.in.bytes()
      case TAG.array:
        return this.#array()
      case TAG.object:
        return this.#members()
      case TAG.map:
        return this.#map()
      case TAG.set:
        return new Set(this.#array())
      case TAG.record:
        return this.record()
      case TAG.put:
        return this.put()
      case TAG.known:
        return this.#known[this.in.u32()]
      case TAG.introduced: {
        const number = this.in.u32()
        return (this.#known[number] = this.value())
      }
      case TAG.error:
        return errorOf(this.value() as PlainError)
      default:
        throw new RangeError(`a message has an unknown tag ${tag}`)
    }
  }

  record(): ItemRecord {
    const lastWrite = LAST_WRITES[this.in.u8() & 3] as LastWrite
    const timestamp = this.in.f64() as Timestamp
    const lsn = this.in.f64() as Lsn
    return { timestamp, lsn, lastWrite, itemBytes: this.in.u32(), json: this.in.bytes() }
  }

  put(): Put {
    return new TextPut(this.in.u32(), this.in.bytes())
  }

  #array(): unknown[] {
    const length = this.in.length()
    const array: unknown[] = []
    for (let at = 0; at < length; at++) array.push(this.value())
    return array
  }

  #map(): Map<unknown, unknown> {
    const size = this.in.length()
    const map = new Map<unknown, unknown>()
    for (let at = 0; at < size; at++) map.set(this.value(), this.value())
    return map
  }

  #members(): object {
    const count = this.in.length()
    const value: Record<string, unknown> = {}
    for (let at = 0; at < count; at++) {
      const name = this.value() as string
      const member = this.value()
      // An attribute may have any name.
      if (name === '__proto__')
        Object.defineProperty(value, name, {
          value: member,
          enumerable: true,
          configurable: true,
          writable: true,
        })
      else value[name] = member
    }
    return value
  }
}

type Put = Extract<Mutation, { readonly kind: 'put' }>

/** An item that a client sent may have attributes of these names. */
const isRecord = (value: object): value is ItemRecord =>
  (value as ItemRecord).json instanceof Uint8Array && 'lastWrite' in value && 'lsn' in value

/** The text of the item says everything, and is parsed by who looks into it. */
const isPut = (value: object): value is Put =>
  (value as Put).kind === 'put' && typeof (value as Put).item === 'object'

function isLatin1(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > LATIN1_MAX) return false
  return true
}
