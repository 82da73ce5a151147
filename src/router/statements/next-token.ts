// NextToken: where a SELECT goes on. It is sealed for the key that it was given to, and bound to the statement, its parameters
// and the table or index that was read: what was changed, made up, or given for another request is refused. A restart makes new
// seals, so that a token of before is refused, too; a fleet keeps its own.
import { createHash } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { validationError } from '../../model/errors.js'
import type { AttributeValue, Item } from '../../model/value.js'
import type { RequestScope, RouterContext } from '../request/context.js'
import type { ReadTarget } from '../reads/read-target.js'
import type { ReadPosition } from './statement-reads.js'

export interface TokenSubject {
  readonly text: string
  readonly parameters: readonly AttributeValue[]
  readonly target: ReadTarget
}

interface Content {
  readonly of: string
  readonly read: number
  readonly after: Item
}

export function tokenFor(
  { passes }: RouterContext,
  { principal }: RequestScope,
  subject: TokenSubject,
  { read, after }: ReadPosition,
): string {
  const content: Content = { of: digestOf(subject), read, after }
  return passes.seal(principal, 'statement', packed(JSON.stringify(content)))
}

/** The keys of an item and of its entry have some kilobytes, of which JSON makes six times as many if they are control characters. */
const CHARACTERS_MAX = 16_000
const PACKED = '='

/** As short as a NextToken may be: at most 32,768 characters once it is sealed. */
const packed = (json: string): string =>
  json.length <= CHARACTERS_MAX ? json : PACKED + deflateRawSync(json).toString('base64')

const unpacked = (text: string): string =>
  text.startsWith(PACKED) ? inflateRawSync(Buffer.from(text.slice(PACKED.length), 'base64')).toString() : text

export function tokenPosition(
  { passes }: RouterContext,
  { principal }: RequestScope,
  subject: TokenSubject,
  token: unknown,
): ReadPosition | undefined {
  if (typeof token !== 'string') return undefined
  const text = passes.open(principal, 'statement', token)
  if (text === undefined) throw validationError('Invalid NextToken')
  const { of, read, after } = JSON.parse(unpacked(text)) as Content
  if (of !== digestOf(subject)) throw validationError('NextToken does not match request')
  return { read, after }
}

const digestOf = ({ text, parameters, target }: TokenSubject): string =>
  createHash('sha256')
    .update(JSON.stringify([text, parameters, target.table.shape.space, target.space]))
    .digest('base64url')
