// Answers as bytes. Items travel as the bytes they are stored in; only what is around them is made anew.
import { messageOf } from '../../model/message-of.js'
import { ItemPending, TableGone } from '../../line/errors.js'
import { DynamoError, transactionConflict } from '../../model/errors.js'
import type { Catalog } from './context.js'
import { HEADROOM_BYTES, type Reply } from './router.js'
import { capitalised, damageIn, nameOfRecord } from '../../storage/items/damage.js'

/** The answer of an operation as an object, for answers that carry no items. */
export const jsonReply = (answer: object): Uint8Array => Buffer.from(JSON.stringify(answer))

/** Pieces of JSON text in order: strings are ours, bytes come from storage. One buffer, and nothing copied twice. */
export function joinReply(pieces: readonly (string | Uint8Array)[]): Reply {
  let length = 0
  for (const piece of pieces) length += typeof piece === 'string' ? Buffer.byteLength(piece) : piece.length
  const headroomBytes = headroomOf(length)
  const reply = Buffer.allocUnsafe(headroomBytes + length)
  let at = headroomBytes
  for (const piece of pieces) {
    if (typeof piece === 'string') {
      at += reply.write(piece, at)
    } else {
      reply.set(piece, at)
      at += piece.length
    }
  }
  return withRoom(reply, headroomBytes)
}

/** A short answer is sent as a text, which is cheaper than bytes. */
const ROOMY_BYTES_MIN = 4096

/** How much room to leave before an answer of that length. */
export const headroomOf = (length: number): number => (length < ROOMY_BYTES_MIN ? 0 : HEADROOM_BYTES)

/** The answer that stands behind so much room. */
export const withRoom = (bytes: Buffer, headroomBytes: number): Reply =>
  headroomBytes === 0 ? bytes : { body: bytes.subarray(headroomBytes), headroomBytes }

/** `,"name":value` for each member that is there. */
export function furtherMembers(members: Readonly<Record<string, unknown>>): string {
  let text = ''
  for (const name of Object.keys(members)) {
    const value = members[name]
    if (value !== undefined) text += `,${JSON.stringify(name)}:${JSON.stringify(value)}`
  }
  return text
}

/** The caller cannot tell whether the write happened: DynamoDB's word for that is InternalServerError. */
export function internalError(error: unknown): DynamoError {
  const reason = messageOf(error)
  return new DynamoError('InternalServerError', `The request processing has failed: ${reason}`)
}

/** An error of storage that the caller can react to, in DynamoDB's words. */
export function storageRefusal(error: unknown): DynamoError | undefined {
  if (error instanceof ItemPending) return transactionConflict()
  return error instanceof TableGone
    ? new DynamoError('ResourceNotFoundException', 'Requested resource not found')
    : undefined
}

/** A damaged record by table and key. Nothing was read of it, and nothing written. */
export function damageError(error: unknown, catalog: Catalog): DynamoError | undefined {
  const damage = damageIn(error)
  if (damage === undefined) return undefined
  return new DynamoError(
    'InternalServerError',
    `${capitalised(nameOfRecord(damage.key, catalog.shapes()))} is damaged (${damage.why}). Run seriatim verify on the data folder.`,
  )
}

// The answer to a read of many items: one allocation, into which stored items are copied as they are.

/** An item as it was stored, or JSON text made for this answer. */
export type ItemJson = Uint8Array | string

/** `head`, the items with commas between them, `tail`, in UTF-8. */
export function listReply(head: string, items: readonly ItemJson[], tail: string): Reply {
  let length = Buffer.byteLength(head) + Buffer.byteLength(tail) + Math.max(0, items.length - 1)
  for (const item of items) length += typeof item === 'string' ? Buffer.byteLength(item) : item.byteLength
  const headroomBytes = headroomOf(length)
  const reply = Buffer.allocUnsafe(headroomBytes + length)
  let position = headroomBytes + reply.write(head, headroomBytes)
  let first = true
  for (const item of items) {
    if (!first) reply[position++] = COMMA
    first = false
    if (typeof item === 'string') {
      position += reply.write(item, position)
    } else {
      reply.set(item, position)
      position += item.byteLength
    }
  }
  reply.write(tail, position)
  return withRoom(reply, headroomBytes)
}

const COMMA = 0x2c
