// The tree of RFC 6962, section 2.1: its hashes, its root, and what a proof comes to. A leaf and a node never hash alike, and
// a hash binds the place of what it is made of.
import { isEqual } from './bytes.js'
import { sha256, type Sha256 } from './sha256.js'

export const HASH_BYTES = 32
/** A path in a tree of 2^53 leaves. */
export const PATH_HASHES_MAX = 64

const LEAF = 0x00
const NODE = 0x01
/** Used within one call, which does not wait. */
const scratch = new Uint8Array(4096)
const pair = new Uint8Array(1 + 2 * HASH_BYTES)

export const emptyRoot = (): Uint8Array => sha256(new Uint8Array(0))

/**
 * The hash of a leaf of RFC 6962: of an entry, or of the header of a block. `hash` is for those who have a faster SHA-256.
 *
 * @example
 * console.log(leafHash(new TextEncoder().encode('a')).length) // 32
 */
export function leafHash(bytes: Uint8Array, hash: Sha256 = sha256): Uint8Array {
  const whole = 1 + bytes.length
  const prefixed = whole <= scratch.length ? scratch.subarray(0, whole) : new Uint8Array(whole)
  prefixed[0] = LEAF
  prefixed.set(bytes, 1)
  return hash(prefixed)
}

export function nodeHash(left: Uint8Array, right: Uint8Array, hash: Sha256 = sha256): Uint8Array {
  pair[0] = NODE
  pair.set(left, 1)
  pair.set(right, 1 + HASH_BYTES)
  return hash(pair)
}

/** The right edge of a growing tree: as many hashes as its size has binary ones. */
export class Frontier {
  #size = 0
  /** Of whole subtrees, the largest first. */
  readonly #hashes: Uint8Array[] = []
  readonly #sha256: Sha256

  constructor(hash: Sha256 = sha256) {
    this.#sha256 = hash
  }

  get size(): number {
    return this.#size
  }

  append(leaf: Uint8Array): void {
    let hash = leaf
    for (let size = this.#size; size % 2 === 1; size = (size - 1) / 2)
      hash = nodeHash(this.#hashes.pop()!, hash, this.#sha256)
    this.#hashes.push(hash)
    this.#size++
  }

  root(): Uint8Array {
    return this.#hashes.length === 0
      ? emptyRoot()
      : this.#hashes.reduceRight((right, left) => nodeHash(left, right, this.#sha256))
  }
}

export function rootOf(leaves: Iterable<Uint8Array>, hash: Sha256 = sha256): Uint8Array {
  const frontier = new Frontier(hash)
  for (const leaf of leaves) frontier.append(leaf)
  return frontier.root()
}

/**
 * Whether the path leads from the leaf at `index` to the root of the tree of `size` leaves (RFC 9162, section 2.1.3.2, which
 * spells out RFC 6962's). `verifyProof` does this and all else; this is for other logs.
 *
 * @example
 * const leaf = leafHash(new TextEncoder().encode('a'))
 * console.log(isIncluded(0, 1, leaf, [], leaf)) // true
 */
export function isIncluded(
  index: number,
  size: number,
  leaf: Uint8Array,
  path: readonly Uint8Array[],
  root: Uint8Array,
): boolean {
  if (!isSize(index) || !isSize(size) || index >= size || !areHashes([leaf, root, ...path])) return false
  let at = index
  let last = size - 1
  let hash = leaf
  for (const sibling of path) {
    if (last === 0) return false
    if (at % 2 === 1 || at === last) {
      hash = nodeHash(sibling, hash)
      // The last of an odd number stands for itself, until it has a sibling on its left.
      for (; at % 2 === 0 && at !== 0; at /= 2) last = Math.floor(last / 2)
    } else hash = nodeHash(hash, sibling)
    at = Math.floor(at / 2)
    last = Math.floor(last / 2)
  }
  return last === 0 && isEqual(hash, root)
}

/**
 * Whether the tree of `size` leaves begins with that of `oldSize` leaves (RFC 9162, section 2.1.4.2). The empty tree begins
 * every tree. `verifyConsistency` does this and looks at the signatures.
 *
 * @example
 * const leaf = leafHash(new TextEncoder().encode('a'))
 * console.log(isConsistent(1, leaf, 1, leaf, [])) // true
 */
export function isConsistent(
  oldSize: number,
  oldRoot: Uint8Array,
  size: number,
  root: Uint8Array,
  path: readonly Uint8Array[],
): boolean {
  if (!isSize(oldSize) || !isSize(size) || oldSize > size) return false
  if (oldSize === size && size > 0) return path.length === 0 && isEqual(oldRoot, root)
  if (!areHashes([oldRoot, root, ...path])) return false
  if (oldSize === 0)
    return path.length === 0 && isEqual(oldRoot, emptyRoot()) && (size > 0 || isEqual(root, oldRoot))
  let at = oldSize - 1
  let last = size - 1
  for (; at % 2 === 1; at = (at - 1) / 2) last = Math.floor(last / 2)
  // If the old tree is one whole subtree, its root is where both walks begin, and the proof leaves it out.
  const [first, ...rest] = at === 0 ? [oldRoot, ...path] : path
  if (first === undefined) return false
  let oldHash = first
  let hash = first
  for (const sibling of rest) {
    if (last === 0) return false
    if (at % 2 === 1 || at === last) {
      oldHash = nodeHash(sibling, oldHash)
      hash = nodeHash(sibling, hash)
      for (; at % 2 === 0 && at !== 0; at /= 2) last = Math.floor(last / 2)
    } else hash = nodeHash(hash, sibling)
    at = Math.floor(at / 2)
    last = Math.floor(last / 2)
  }
  return last === 0 && isEqual(oldHash, oldRoot) && isEqual(hash, root)
}

const isSize = (size: number): boolean => Number.isSafeInteger(size) && size >= 0

const areHashes = (hashes: readonly Uint8Array[]): boolean =>
  hashes.length <= PATH_HASHES_MAX + 2 && hashes.every((hash) => hash.length === HASH_BYTES)
