// What the images before and after a change have in common: mostly all but a few attributes. In the journal and in the files of
// the log an old image that stands beside the new one is written as what differs (docs/adr/0033).
//
//   new   {"id":{"S":"a"},"n":{"N":"17"},"text":{"S":"..."}}
//   old   {"id":{"S":"a"},"n":{"N":"9"},"text":{"S":"..."}}     --> prefix 25, suffix 22, "9"
//
// As bytes: 0 length of the prefix  4 length of the suffix  8 what is between them, of the old image.

/** How many bytes two texts have in common at their beginnings and, beyond those, at their ends. */
export interface SharedEnds {
  readonly prefix: number
  readonly suffix: number
}

export function sharedEnds(one: Uint8Array, other: Uint8Array): SharedEnds {
  const most = Math.min(one.length, other.length)
  const [words, otherWords] = [wordsOf(one), wordsOf(other)]
  let prefix = 0
  while (prefix + 4 <= most && words.getInt32(prefix) === otherWords.getInt32(prefix)) prefix += 4
  while (prefix < most && one[prefix] === other[prefix]) prefix++
  let suffix = 0
  const [end, otherEnd, left] = [one.length, other.length, most - prefix]
  while (
    suffix + 4 <= left &&
    words.getInt32(end - suffix - 4) === otherWords.getInt32(otherEnd - suffix - 4)
  )
    suffix += 4
  while (suffix < left && one[end - suffix - 1] === other[otherEnd - suffix - 1]) suffix++
  return { prefix, suffix }
}

/** Four bytes at a time: each write of a table with a log compares its images. */
const wordsOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength)

const HEADER_BYTES = 8
/** Below that it is not worth the trouble of putting the image together again. */
const SHARED_BYTES_MIN = 16

/** Whether an image with that much in common with another is written as what differs. */
export const isWorthSharing = ({ prefix, suffix }: SharedEnds): boolean => prefix + suffix >= SHARED_BYTES_MIN

export const differenceBytes = (old: Uint8Array, { prefix, suffix }: SharedEnds): number =>
  HEADER_BYTES + old.length - prefix - suffix

/** The offset behind it. */
export function writeDifference(target: Buffer, at: number, old: Uint8Array, shared: SharedEnds): number {
  const { prefix, suffix } = shared
  target.writeUInt32BE(prefix, at)
  target.writeUInt32BE(suffix, at + 4)
  const end = old.length - suffix
  if (end > prefix) target.set(old.subarray(prefix, end), at + HEADER_BYTES)
  return at + HEADER_BYTES + end - prefix
}

/** The old image again. */
export function withDifference(difference: Buffer, next: Uint8Array): Buffer {
  const prefix = difference.readUInt32BE(0)
  const suffix = difference.readUInt32BE(4)
  const end = prefix + difference.length - HEADER_BYTES
  const old = Buffer.allocUnsafe(end + suffix)
  old.set(next.subarray(0, prefix))
  old.set(difference.subarray(HEADER_BYTES), prefix)
  old.set(next.subarray(next.length - suffix), end)
  return old
}
