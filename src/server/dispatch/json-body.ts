// From the bytes of a body to the object in it. Whatever is wrong with them is a SerializationException; nothing here
// recurses, so depth costs no stack.
import { isUtf8 } from 'node:buffer'
import { type DynamoError, serializationError } from '../../model/errors.js'
import type { ItemTexts } from './item-texts.js'

export type ParsedBody =
  | { readonly ok: true; readonly input: object }
  /** A text with so much in it that it is to be read along the shape of its operation. */
  | { readonly ok: true; readonly large: string }
  | { readonly ok: false; readonly error: DynamoError }

/** Below this, whatever a body has in it is parsed in a moment. */
const LARGE_BYTES = 128 * 1024
const BRACKETS_MAX = 5_000
const COMMAS_MAX = 50_000

/** Of a request for an operation that puts items, most of whose text need not be parsed. */
export interface PutItems {
  readonly operation: string
  readonly texts: ItemTexts
}

/** @param large what to do with a text that is large and has many values in it. */
export function parseBody(
  body: Buffer,
  depthMax: number,
  large: 'parse' | 'leave' = 'parse',
  puts?: PutItems,
): ParsedBody {
  if (body.length === 0) return refused('the body of the request is empty')
  if (!isUtf8(body)) return refused('the body of the request is not valid UTF-8')
  if (puts !== undefined && body.length <= LARGE_BYTES) {
    const input = inputWithTexts(body, depthMax, puts)
    if (input !== undefined) return { ok: true, input }
  }
  const text = body.toString('utf8')
  if (large === 'leave' && text.length > LARGE_BYTES && hasMany(text)) return { ok: true, large: text }
  return parseText(text, depthMax)
}

function parseText(text: string, depthMax: number): ParsedBody {
  if (deeperThan(text, depthMax))
    return refused(`the body of the request nests deeper than ${depthMax} levels`)
  let input: unknown
  try {
    input = JSON.parse(text)
  } catch {
    return NOT_JSON
  }
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    return refused('the body of the request is not a JSON object')
  }
  return { ok: true, input }
}

/** The service says nothing of it. */
const NOT_JSON: ParsedBody = { ok: false, error: serializationError('') }

/** Undefined: all of the body is to be parsed, which also tells what is wrong with it. */
function inputWithTexts(body: Buffer, depthMax: number, { operation, texts }: PutItems): object | undefined {
  const without = texts.take(operation, body)
  if (without === undefined) return undefined
  const parsed = parseText(without.text, depthMax)
  return parsed.ok && 'input' in parsed && texts.putBack(operation, parsed.input, without.items)
    ? parsed.input
    : undefined
}

function refused(message: string): ParsedBody {
  return { ok: false, error: serializationError(message) }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Whether the brackets of a JSON text nest deeper than that. Linear, and for a text with few brackets a few searches. */
export function deeperThan(text: string, depthMax: number): boolean {
  // Every level takes two characters.
  if (text.length <= 2 * depthMax) return false
  if (occurrences(text, '{', depthMax) + occurrences(text, '[', depthMax) <= depthMax) return false
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    // `[` and `{` (and `]` and `}`) differ in one bit.
    if ((code | 0x20) === 0x7b) {
      if (++depth > depthMax) return true
    } else if ((code | 0x20) === 0x7d) {
      depth--
    } else if (code === QUOTE) {
      at = endOfString(text, at)
    }
  }
  return false
}

/** Text in strings is counted too: it errs on the safe side. */
const hasMany = (text: string): boolean =>
  occurrences(text, '{', BRACKETS_MAX) > BRACKETS_MAX ||
  occurrences(text, '[', BRACKETS_MAX) > BRACKETS_MAX ||
  occurrences(text, ',', COMMAS_MAX) > COMMAS_MAX

function occurrences(text: string, bracket: string, countMax: number): number {
  let count = 0
  for (let at = text.indexOf(bracket); at !== -1 && count <= countMax; at = text.indexOf(bracket, at + 1))
    count++
  return count
}

/** The position of the quote that closes the string opened at `start`, or the last character. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === BACKSLASH) at++
    else if (code === QUOTE) return at
  }
  return text.length
}
