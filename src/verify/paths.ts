// The hashes of which a proof is made: each is that of a stretch of leaves, which is one whole subtree or a few of them at
// the right edge of the tree. Whoever has the hashes of whole subtrees can make every proof.
import { nodeHash } from './merkle.js'

/** The leaves from `start` to before `end`. */
export interface Stretch {
  readonly start: number
  readonly end: number
}

/** The hash of the whole subtree of 2^height leaves that is the `index`-th of its height. */
export type SubtreeHash = (height: number, index: number) => Uint8Array

export interface Subtree {
  readonly height: number
  readonly index: number
}

/** Of the proof that the leaf at `index` is in the tree of `size` leaves: PATH of RFC 6962, section 2.1.1. */
export function inclusionPath(index: number, size: number): Stretch[] {
  checkSizes(index + 1, size)
  const path: Stretch[] = []
  let [start, end] = [0, size]
  while (end - start > 1) {
    const middle = start + leftOf(end - start)
    if (index < middle) {
      path.push({ start: middle, end })
      end = middle
    } else {
      path.push({ start, end: middle })
      start = middle
    }
  }
  return path.toReversed()
}

/** Of the proof that the tree of `size` leaves begins with that of `oldSize`: PROOF of RFC 6962, section 2.1.2. */
export function consistencyPath(oldSize: number, size: number): Stretch[] {
  checkSizes(oldSize, size)
  if (oldSize === 0 || oldSize === size) return []
  const path: Stretch[] = []
  let [start, end] = [0, size]
  while (end !== oldSize) {
    const middle = start + leftOf(end - start)
    if (oldSize <= middle) {
      path.push({ start: middle, end })
      end = middle
    } else {
      path.push({ start, end: middle })
      start = middle
    }
  }
  // What both trees have at the end of the walk; if it is the whole old tree, the verifier knows its hash.
  if (start > 0) path.push({ start, end })
  return path.toReversed()
}

/** The whole subtrees that a stretch consists of, from left to right. */
export function subtreesOf({ start, end }: Stretch): Subtree[] {
  const subtrees: Subtree[] = []
  while (start < end) {
    const height = heightOf(end - start)
    subtrees.push({ height, index: start / 2 ** height })
    start += 2 ** height
  }
  return subtrees
}

export function stretchHash(stretch: Stretch, subtreeHash: SubtreeHash): Uint8Array {
  return subtreesOf(stretch)
    .map(({ height, index }) => subtreeHash(height, index))
    .reduceRight((right, left) => nodeHash(left, right))
}

/** A subtree's hashes from a list of leaf hashes, for small trees. */
export function subtreesFrom(leaves: readonly Uint8Array[]): SubtreeHash {
  const hash: SubtreeHash = (height, index) =>
    height === 0 ? leaves[index]! : nodeHash(hash(height - 1, 2 * index), hash(height - 1, 2 * index + 1))
  return hash
}

/** The largest power of two below the number, which is at least 2. */
const leftOf = (count: number): number => 2 ** heightOf(count - 1)

/** The height of the largest whole subtree that has at most so many leaves. */
function heightOf(count: number): number {
  const height = Math.floor(Math.log2(count))
  // The logarithm of a number just below a power of two is rounded up.
  return 2 ** height > count ? height - 1 : height
}

function checkSizes(size: number, newSize: number): void {
  if (!(Number.isSafeInteger(size) && Number.isSafeInteger(newSize) && size >= 0 && size <= newSize))
    throw new RangeError(`a tree of ${newSize} leaves has no proof for ${size} of them`)
}
