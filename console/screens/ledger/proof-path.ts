// The way of hashes from a leaf to the root, step by step, as it is drawn. `verifyProof` has checked it before; this only shows it.
import { base64 } from '../../../src/verify/bytes.js'
import { nodeHash } from '../../../src/verify/merkle.js'

export interface PathStep {
  /** On which side of it the sibling stands. */
  readonly side: 'left' | 'right'
  readonly sibling: string
  readonly hash: string
}

/** RFC 9162, section 2.1.3.2, as `isIncluded` walks it. */
export function pathSteps(
  index: number,
  size: number,
  leaf: Uint8Array,
  path: readonly Uint8Array[],
): readonly PathStep[] {
  let at = index
  let last = size - 1
  let hash = leaf
  return path.map((sibling): PathStep => {
    const isLeft = at % 2 === 1 || at === last
    hash = isLeft ? nodeHash(sibling, hash) : nodeHash(hash, sibling)
    if (isLeft) for (; at % 2 === 0 && at !== 0; at /= 2) last = Math.floor(last / 2)
    at = Math.floor(at / 2)
    last = Math.floor(last / 2)
    return { side: isLeft ? 'left' : 'right', sibling: base64(sibling), hash: base64(hash) }
  })
}
