// Answers as bytes. Items travel as the bytes they are stored in; only what is around them is made anew.
import { DynamoError } from '../model/errors.js'
import type { Item } from '../model/value.js'
import type { ItemRecord } from '../storage/storage-node.js'

/** The answer of an operation as an object, for answers that carry no items. */
export const jsonReply = (answer: object): Uint8Array => Buffer.from(JSON.stringify(answer))

/** Pieces of JSON text in order: strings are ours, bytes come from storage. One buffer, and nothing copied twice. */
export function joinReply(pieces: readonly (string | Uint8Array)[]): Uint8Array {
  let length = 0
  for (const piece of pieces) length += typeof piece === 'string' ? Buffer.byteLength(piece) : piece.length
  const reply = Buffer.allocUnsafe(length)
  let at = 0
  for (const piece of pieces) {
    if (typeof piece === 'string') {
      at += reply.write(piece, at)
    } else {
      reply.set(piece, at)
      at += piece.length
    }
  }
  return reply
}

/** `,"name":value` for each member that is there. */
export function furtherMembers(members: Readonly<Record<string, unknown>>): string {
  let text = ''
  for (const [name, value] of Object.entries(members)) {
    if (value !== undefined) text += `,${JSON.stringify(name)}:${JSON.stringify(value)}`
  }
  return text
}

/** The caller cannot tell whether the write happened: DynamoDB's word for that is InternalServerError. */
export function internalError(error: unknown): DynamoError {
  const reason = error instanceof Error ? error.message : String(error)
  return new DynamoError('InternalServerError', `The request processing has failed: ${reason}`)
}

/** The item inside a record, parsed. */
export function parseRecord(record: ItemRecord): Item {
  return JSON.parse(
    Buffer.from(record.json.buffer, record.json.byteOffset, record.json.byteLength).toString(),
  ) as Item
}
