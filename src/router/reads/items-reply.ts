// The answer to a read of many items: one allocation, into which stored items are copied as they are.
import { headroomOf, withRoom } from '../request/reply.js'
import type { Reply } from '../request/router.js'

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
