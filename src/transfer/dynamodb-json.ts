// DYNAMODB_JSON: a line for each item, in the form of the wire.
//
//   full:         {"Item":{"id":{"S":"a"}}}
//   incremental:  {"Metadata":{"WriteTimestampMicros":{"N":"..."}},"Keys":{...},"OldImage":{...},"NewImage":{...}}
//                 without NewImage the item was deleted
import type { PlainItems } from '../model/plain-item.js'
import type { PlainPut, RawChange, SourceRecord } from './transfer.js'

const BRACE = 0x7b
const CLOSING_BRACE = 0x7d

/** Undefined: a line of white space. */
export function readJsonLine(line: string): SourceRecord | undefined {
  // Before it is parsed: what is no JSON takes long to be told, and an object may have nothing but white space in it.
  if (line.charCodeAt(0) !== BRACE && line.trim() === '') return undefined
  let json: unknown
  try {
    json = JSON.parse(line)
  } catch (error) {
    return { kind: 'error', message: `a line is not JSON: ${(error as Error).message}`, ends: true }
  }
  return changeOf(json) ?? { kind: 'error', message: 'a line has no Item', ends: true }
}

const BEFORE_ITEM = Buffer.from('{"Item":')

/** A line with an item that need not be parsed, between these two places. */
export function readPlainLine(
  items: PlainItems,
  bytes: Buffer,
  from: number,
  to: number,
): PlainPut | undefined {
  const itemFrom = from + BEFORE_ITEM.length
  if (bytes[to - 1] !== CLOSING_BRACE || to <= itemFrom) return undefined
  if (BEFORE_ITEM.compare(bytes, from, itemFrom) !== 0) return undefined
  const item = items.read(bytes, itemFrom, to - 1)
  return item && { kind: 'plain', ...item, json: bytes.subarray(itemFrom, to - 1) }
}

/** What an object with these members says; undefined if it is neither an item nor a change. */
export function changeOf(json: unknown): RawChange | undefined {
  if (typeof json !== 'object' || json === null) return undefined
  const { Item, Keys, NewImage } = json as Readonly<Record<string, unknown>>
  if (isMap(Item)) return { kind: 'put', item: Item }
  if (!isMap(Keys)) return undefined
  return isMap(NewImage) ? { kind: 'put', item: NewImage } : { kind: 'delete', key: Keys }
}

const isMap = (json: unknown): boolean => typeof json === 'object' && json !== null && !Array.isArray(json)

/** A change of an incremental export; images as texts of the wire. */
export interface ChangeTexts {
  readonly timestampMicros: number
  readonly keys: string
  readonly old?: string | undefined
  readonly new?: string | undefined
}

/** `item`: its JSON, as the store keeps it. */
export const jsonItemLine = (item: string): string => `{"Item":${item}}\n`

export function jsonChangeLine({ timestampMicros, keys, old, new: image }: ChangeTexts): string {
  const metadata = `"Metadata":{"WriteTimestampMicros":{"N":"${timestampMicros}"}}`
  const oldMember = old === undefined ? '' : `,"OldImage":${old}`
  const newMember = image === undefined ? '' : `,"NewImage":${image}`
  return `{${metadata},"Keys":${keys}${oldMember}${newMember}}\n`
}
