// What is said between the process that answers requests and the one that writes the index.
//
//   kind (u32) | number (u32) | index (u32) | bytes that follow (u32) | position (f64) | position before (f64) | bytes
//
// Answers are lines of JSON. The number of an answer is that of its request; 0 is the first sign of life.

export const REQUEST_KINDS = ['open', 'piece', 'commit', 'abandon', 'close'] as const
export type RequestKind = (typeof REQUEST_KINDS)[number]

export interface WriterRequest {
  readonly kind: RequestKind
  readonly number: number
  /** Which of the indexes that this process has open. */
  readonly index: number
  /** Of `commit`: the position of the journal that the index has after it, and the one that it has before. */
  readonly appliedUpTo: number
  readonly appliedBefore: number
  /** How many bytes follow: of `open` its path, of `piece` the changes. */
  readonly length: number
}

export interface WriterAnswer {
  readonly number: number
  readonly error?: string
  /** It answers nothing after this. */
  readonly isLast?: true
}

export const HEAD_BYTES = 32

export function encodeHead(request: WriterRequest): Buffer {
  const head = Buffer.allocUnsafe(HEAD_BYTES)
  head.writeUInt32LE(REQUEST_KINDS.indexOf(request.kind), 0)
  head.writeUInt32LE(request.number, 4)
  head.writeUInt32LE(request.index, 8)
  head.writeUInt32LE(request.length, 12)
  head.writeDoubleLE(request.appliedUpTo, 16)
  head.writeDoubleLE(request.appliedBefore, 24)
  return head
}

export function decodeHead(head: Buffer): WriterRequest {
  const kind = REQUEST_KINDS[head.readUInt32LE(0)]
  if (kind === undefined) throw new Error('the request cannot be understood')
  return {
    kind,
    number: head.readUInt32LE(4),
    index: head.readUInt32LE(8),
    length: head.readUInt32LE(12),
    appliedUpTo: head.readDoubleLE(16),
    appliedBefore: head.readDoubleLE(24),
  }
}
