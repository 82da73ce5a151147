// A change of an item as a record of a stream, as JSON text around the images, which stand as they are kept.
import { hash } from 'node:crypto'
import { type ChangePosition, sequenceNumberOf } from '../../commit-log/sequence-number.js'
import type { CommitRecord, LoggedChange } from '../../commit-log/commit-record.js'
import { itemBytes, type Item, pickAttributes } from '../../model/value.js'
import { imagesOf, type StreamRecord } from '../lineage/stream-record.js'

export interface StreamedChange extends ChangePosition {
  readonly change: LoggedChange
  readonly timestamp: CommitRecord['timestamp']
}

export interface RecordText {
  readonly pieces: readonly (string | Uint8Array)[]
  /** As DynamoDB counts them: the key and the images that the record has. */
  readonly sizeBytes: number
}

const EVENT_NAMES = { insert: 'INSERT', modify: 'MODIFY', remove: 'REMOVE' } as const
/** An id is the same whenever its record is read, and no other record has it. */
const EVENT_ID_DIGITS = 32
const EXPIRY_IDENTITY = ',"userIdentity":{"PrincipalId":"dynamodb.amazonaws.com","Type":"Service"}'

export function recordText(streamed: StreamedChange, stream: StreamRecord, region: string): RecordText {
  const { change, timestamp } = streamed
  const view = imagesOf(stream.viewType)
  const newImage = view.new ? change.new : undefined
  const oldImage = view.old ? change.old : undefined
  const newItem = newImage && parsed(newImage)
  const oldItem = oldImage && parsed(oldImage)
  const keys = pickAttributes(newItem ?? oldItem ?? keysIn(change), keyNamesOf(stream))
  const sequenceNumber = sequenceNumberOf(streamed)
  const sizeBytes = itemBytes(keys) + bytesOf(newItem) + bytesOf(oldItem)
  const id = hash('sha256', `${stream.tableId}/${stream.label}/${sequenceNumber}`, 'hex').slice(
    0,
    EVENT_ID_DIGITS,
  )
  const head =
    `{"eventID":"${id}","eventName":"${EVENT_NAMES[change.event]}","eventVersion":"1.1",` +
    `"eventSource":"aws:dynamodb","awsRegion":"${region}","dynamodb":{` +
    `"ApproximateCreationDateTime":${Math.floor(timestamp / 1e6)},"Keys":${JSON.stringify(keys)}`
  const tail =
    `,"SequenceNumber":"${sequenceNumber}","SizeBytes":${sizeBytes},"StreamViewType":"${stream.viewType}"}` +
    `${change.cause === 'expiry' ? EXPIRY_IDENTITY : ''}}`
  return {
    pieces: [
      head,
      ...(newImage === undefined ? [] : [',"NewImage":', newImage]),
      ...(oldImage === undefined ? [] : [',"OldImage":', oldImage]),
      tail,
    ],
    sizeBytes,
  }
}

/** Of a record without images; there may be some that the stream does not show. */
function keysIn({ keys, old, new: next }: LoggedChange): Item {
  const text = keys ?? next ?? old
  if (text === undefined) throw new Error('a change in the log without its key')
  return parsed(text)
}

const keyNamesOf = ({ keySchema }: StreamRecord): readonly string[] =>
  keySchema.map(({ AttributeName: name }) => name)

const bytesOf = (item: Item | undefined): number => (item === undefined ? 0 : itemBytes(item))

const parsed = ({ buffer, byteOffset, byteLength }: Uint8Array): Item =>
  JSON.parse(Buffer.from(buffer, byteOffset, byteLength).toString()) as Item
