// What a storage node puts into the journal for the log of commits, beside the physical changes of the same step.
//
//   change      one change of one item
//   part        a node has carried out all that it holds of a transaction that concerns several nodes, or says which nodes
//   completed   the ledger has taken a transaction off its list: every node has carried it out
//
// Entries of all nodes that share a journal are numbered by one counter as they are put (`order`), so that they can be
// brought back into the order in which the steps were decided. The journal writes them in that order: whoever takes a batch
// takes those of the other nodes along (journal.ts). The counter begins anew with each start; only entries that were written
// together are compared.
import type { KeyBytes, SpaceId, Timestamp, TxId } from '../model/brand.js'
import { spaceId } from '../model/brand.js'
import { apart, type Cause, keysAndAbout, type LoggedChange } from './commit-record.js'
import {
  differenceBytes,
  isWorthSharing,
  sharedEnds,
  type SharedEnds,
  withDifference,
  writeDifference,
} from './shared-ends.js'

/** Whose change it is: a write of its own, a transaction in one step, or one that is finished node by node. */
export type ChangeOf = 'single' | 'step' | 'finish'

interface Noted {
  /** Given when it is noted; 0 before. */
  order: number
}

export interface ChangeEntry extends Noted {
  readonly kind: 'change'
  readonly of: ChangeOf
  readonly tx?: TxId | undefined
  readonly timestamp: Timestamp
  readonly change: LoggedChange
}

export interface PartEntry extends Noted {
  readonly kind: 'part'
  readonly tx: TxId
  readonly node: number
  /** All nodes of the transaction, as far as this one knows. */
  readonly nodes: readonly number[]
  /** Nothing of the transaction is pending at this node any more. */
  readonly isDone: boolean
}

export interface CompletedEntry extends Noted {
  readonly kind: 'completed'
  readonly tx: TxId
}

export type LogEntry = ChangeEntry | PartEntry | CompletedEntry

// As bytes; integers are big-endian, key bytes and ids have one byte a character:
//
//   change     0 kind  1 flags  2 order f64  10 timestamp f64  18 space u32  22 length u8, tx  | length u16, key
//              then, as the flags say: length u32, keys | length u32, old (or how it differs) | length u32, new
//   part       0 kind  1 is done  2 order f64  10 node u16  12 length u8, tx  | count u16, nodes u16 each
//   completed  0 kind  1 zero  2 order f64  10 length u8, tx
const CHANGE = 1
const PART = 2
const COMPLETED = 3

const EVENTS = ['insert', 'modify', 'remove'] as const
const OPERATIONS = ['put', 'update', 'delete'] as const
const OWNERS = ['single', 'step', 'finish'] as const
const CAUSES: readonly Cause[] = ['request', 'expiry']

const HAS_KEYS = 1
const HAS_OLD = 2
const HAS_NEW = 4
/** The new image is that of the item in the same frame of the journal, and is not written twice. */
const NEW_IN_FRAME = 8
/** Of the old image only what differs from the new one. */
const OLD_DIFFERS = 16

/** An entry as bytes, written straight to where they go. */
export interface EncodedLogEntry {
  readonly byteLength: number
  writeTo(target: Buffer, at: number): void
}

/** Whether the frame that the entry goes into has the new image as the value of the item. */
export type IsInFrame = (change: LoggedChange) => boolean

export function encodeLogEntry(entry: LogEntry, isInFrame: IsInFrame): EncodedLogEntry {
  switch (entry.kind) {
    case 'change':
      return new EncodedChange(entry, isInFrame(entry.change))
    case 'part': {
      const { tx, node, nodes, isDone, order } = entry
      const bytes = Buffer.allocUnsafe(13 + tx.length + 2 + 2 * nodes.length)
      bytes[0] = PART
      bytes[1] = isDone ? 1 : 0
      bytes.writeDoubleBE(order, 2)
      bytes.writeUInt16BE(node, 10)
      let at = writeText(bytes, tx, 12)
      at = bytes.writeUInt16BE(nodes.length, at)
      for (const each of nodes) at = bytes.writeUInt16BE(each, at)
      return entryOf(bytes)
    }
    case 'completed': {
      const bytes = Buffer.allocUnsafe(11 + entry.tx.length)
      bytes[0] = COMPLETED
      bytes[1] = 0
      bytes.writeDoubleBE(entry.order, 2)
      writeText(bytes, entry.tx, 10)
      return entryOf(bytes)
    }
  }
}

const entryOf = (bytes: Buffer): EncodedLogEntry => ({
  byteLength: bytes.byteLength,
  writeTo: (target, at) => target.set(bytes, at),
})

/** Its images are copied once, from where they are into the frame. */
class EncodedChange implements EncodedLogEntry {
  readonly byteLength: number
  readonly #entry: ChangeEntry
  readonly #inFrame: boolean
  /** Undefined: the old image is written whole, or there is none. */
  readonly #shared: SharedEnds | undefined
  readonly #keys: Uint8Array | undefined

  constructor(entry: ChangeEntry, inFrame: boolean) {
    this.#entry = entry
    this.#inFrame = inFrame
    const { key, old, new: next } = entry.change
    const keys = keysAndAbout(entry.change)
    this.#keys = keys
    this.#shared = sharedOf(entry)
    this.byteLength =
      26 +
      (entry.tx?.length ?? 0) +
      key.length +
      partBytes(keys) +
      (old !== undefined && this.#shared !== undefined
        ? 4 + differenceBytes(old, this.#shared)
        : partBytes(old)) +
      (inFrame ? 0 : partBytes(next))
  }

  writeTo(bytes: Buffer, from: number): void {
    const { of, order, tx = '', timestamp, change } = this.#entry
    const { key, old, new: next } = change
    const keys = this.#keys
    bytes[from] = CHANGE
    bytes[from + 1] =
      EVENTS.indexOf(change.event) |
      (OPERATIONS.indexOf(change.operation) << 2) |
      (OWNERS.indexOf(of) << 4) |
      (CAUSES.indexOf(change.cause) << 6)
    bytes.writeDoubleBE(order, from + 2)
    bytes.writeDoubleBE(timestamp, from + 10)
    bytes.writeUInt32BE(change.space, from + 18)
    let at = writeText(bytes, tx, from + 22)
    at = bytes.writeUInt16BE(key.length, at)
    at += bytes.write(key, at, 'latin1')
    bytes[at++] =
      (keys ? HAS_KEYS : 0) |
      (old ? HAS_OLD : 0) |
      (this.#shared === undefined ? 0 : OLD_DIFFERS) |
      (next === undefined ? 0 : HAS_NEW | (this.#inFrame ? NEW_IN_FRAME : 0))
    at = writePart(bytes, keys, at)
    if (old !== undefined && this.#shared !== undefined) {
      bytes.writeUInt32BE(differenceBytes(old, this.#shared), at)
      at = writeDifference(bytes, at + 4, old, this.#shared)
    } else at = writePart(bytes, old, at)
    if (!this.#inFrame) writePart(bytes, next, at)
  }
}

function sharedOf({ change }: ChangeEntry): SharedEnds | undefined {
  const { old, new: next, shared } = change
  if (old === undefined || next === undefined) return undefined
  const known = shared ?? sharedEnds(old, next)
  return isWorthSharing(known) ? known : undefined
}

const partBytes = (part: Uint8Array | undefined): number => (part === undefined ? 0 : 4 + part.byteLength)

function writePart(bytes: Buffer, part: Uint8Array | undefined, at: number): number {
  if (part === undefined) return at
  bytes.writeUInt32BE(part.byteLength, at)
  bytes.set(part, at + 4)
  return at + 4 + part.byteLength
}

function writeText(bytes: Buffer, text: string, at: number): number {
  bytes.writeUInt8(text.length, at)
  return at + 1 + bytes.write(text, at + 1, 'latin1')
}

/** The text of the item with that key that stands in the same frame. */
export type ImageInFrame = (space: SpaceId, key: KeyBytes) => Uint8Array

/** Images are parts of `bytes`, not copies. */
export function decodeLogEntry(bytes: Buffer, imageInFrame: ImageInFrame): LogEntry {
  const order = bytes.readDoubleBE(2)
  switch (bytes[0] as number) {
    case CHANGE:
      return decodeChange(bytes, order, imageInFrame)
    case PART: {
      const txEnd = 13 + (bytes[12] as number)
      return {
        kind: 'part',
        order,
        tx: bytes.toString('latin1', 13, txEnd) as TxId,
        node: bytes.readUInt16BE(10),
        nodes: Array.from({ length: bytes.readUInt16BE(txEnd) }, (_, at) =>
          bytes.readUInt16BE(txEnd + 2 + 2 * at),
        ),
        isDone: bytes[1] === 1,
      }
    }
    case COMPLETED:
      return {
        kind: 'completed',
        order,
        tx: bytes.toString('latin1', 11, 11 + (bytes[10] as number)) as TxId,
      }
    default:
      throw new Error(`an entry of kind ${bytes[0]} for the log of commits, which this version does not know`)
  }
}

function decodeChange(bytes: Buffer, order: number, imageInFrame: ImageInFrame): ChangeEntry {
  const flags = bytes[1] as number
  const txEnd = 23 + (bytes[22] as number)
  const keyEnd = txEnd + 2 + bytes.readUInt16BE(txEnd)
  const space = spaceId(bytes.readUInt32BE(18))
  const key = bytes.toString('latin1', txEnd + 2, keyEnd) as KeyBytes
  const has = bytes[keyEnd] as number
  let at = keyEnd + 1
  const part = (): Buffer => {
    const from = at + 4
    at = from + bytes.readUInt32BE(at)
    return bytes.subarray(from, at)
  }
  const keys = (has & HAS_KEYS) !== 0 ? part() : undefined
  const oldPart = (has & HAS_OLD) !== 0 ? part() : undefined
  const inFrame = (has & NEW_IN_FRAME) !== 0
  const next = (has & HAS_NEW) === 0 ? undefined : inFrame ? imageInFrame(space, key) : part()
  const differs = (has & OLD_DIFFERS) !== 0
  const old = oldPart && next && differs ? withDifference(oldPart, next) : oldPart
  return {
    kind: 'change',
    of: OWNERS[(flags >> 4) & 3] as ChangeOf,
    order,
    ...(txEnd > 23 && { tx: bytes.toString('latin1', 23, txEnd) as TxId }),
    timestamp: bytes.readDoubleBE(10) as Timestamp,
    change: {
      space,
      key,
      event: EVENTS[flags & 3] as LoggedChange['event'],
      operation: OPERATIONS[(flags >> 2) & 3] as LoggedChange['operation'],
      cause: CAUSES[(flags >> 6) & 3] as Cause,
      ...(keys && apart(keys)),
      ...(old && { old }),
      ...(next && { new: next }),
    },
  }
}
