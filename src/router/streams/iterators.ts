// Shard iterators: where in a shard a reader is, sealed.
//
//   <ARN of the stream>|1|<shard, number, position, time in base64url>.<code>
//
// The code is made with the secret of the stream from all that is before it, and from the access key's id: a client can
// neither make an iterator up, nor move one to another place, shard or stream, nor use one of another key. The secret is in
// the catalogue: iterators go on after a restart. They live for 15 minutes.
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { ChangePosition } from '../../commit-log/sequence-number.js'
import { DynamoError, validationError } from '../../model/errors.js'
import { streamKey, type StreamRecord } from '../lineage/stream-record.js'

export const ITERATOR_AGE_MS_MAX = 15 * 60 * 1000

export interface ShardPlace extends ChangePosition {
  readonly shardId: string
}

export interface Sealing {
  readonly stream: StreamRecord
  /** Of the access key. */
  readonly principalId: string
  readonly nowMicros: number
}

const ITERATOR = /^(arn:[^|]+)\|1\|([\w-]{1,200})\.([\w-]{43})$/

export function sealIterator(arn: string, place: ShardPlace, sealing: Sealing): string {
  const { shardId, number, position } = place
  const body = Buffer.from(`${shardId} ${number} ${position} ${sealing.nowMicros}`).toString('base64url')
  return `${arn}|1|${body}.${codeOf(body, sealing)}`
}

/** The ARN of the stream that an iterator is for, or says to be for. */
export function arnIn(iterator: string): string {
  return partsOf(iterator).arn
}

/** @throws ValidationException if it was not given for this stream to this key, ExpiredIteratorException if that is too long ago */
export function openIterator(iterator: string, sealing: Sealing): ShardPlace {
  const { body, code } = partsOf(iterator)
  if (!timingSafeEqual(Buffer.from(code), Buffer.from(codeOf(body, sealing)))) throw invalidIterator()
  const [shardId = '', number, position, givenMicros] = Buffer.from(body, 'base64url').toString().split(' ')
  if (sealing.nowMicros - Number(givenMicros) > ITERATOR_AGE_MS_MAX * 1000) {
    throw new DynamoError('ExpiredIteratorException', 'The provided iterator exceeds the maximum age allowed')
  }
  return { shardId, number: Number(number), position: Number(position) }
}

function partsOf(iterator: string): { readonly arn: string; readonly body: string; readonly code: string } {
  const [, arn, body, code] = ITERATOR.exec(iterator) ?? []
  if (arn === undefined || body === undefined || code === undefined) throw invalidIterator()
  return { arn, body, code }
}

const invalidIterator = (): DynamoError => validationError('Invalid ShardIterator')

const codeOf = (body: string, { stream, principalId }: Sealing): string =>
  createHmac('sha256', stream.secret)
    .update(`${streamKey(stream)} ${body} ${principalId}`)
    .digest('base64url')
