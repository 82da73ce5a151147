// The tree over blocks as tiles on a shelf: whatever size it is opened at, it is the tree of RFC 6962.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BlockTree } from '../../src/blocks/tree.js'
import type { KeyBytes } from '../../src/model/brand.js'
import { isConsistent, isIncluded, leafHash, rootOf } from '../../src/verify/merkle.js'
import { consistencyPath, inclusionPath } from '../../src/verify/paths.js'
import { utf8 } from '../../src/verify/bytes.js'
import { sized } from '../support/sizes.js'

class MapShelf {
  readonly #entries = new Map<KeyBytes, Uint8Array>()

  kept(keys: readonly KeyBytes[]): Promise<readonly (Uint8Array | undefined)[]> {
    return Promise.resolve(keys.map((key) => this.#entries.get(key)))
  }

  keep(tree: BlockTree): void {
    for (const { key, value } of tree.changes()) this.#entries.set(key, value!)
    tree.kept()
  }
}

const leaf = (at: number): Uint8Array => leafHash(utf8(`block ${at}`))

test('blocks: the tree has the root of RFC 6962 at every size, and proofs that lead there, across restarts', async () => {
  const shelf = new MapShelf()
  const sizes = sized(530, 1100)
  const leaves = Array.from({ length: sizes }, (_, at) => leaf(at))
  let tree = await BlockTree.open(shelf, 0)
  for (let size = 1; size <= sizes; size++) {
    tree.append(leaves[size - 1]!)
    // Batches of all lengths, and starts between them.
    if (size % 7 === 0 || size % 256 < 3) shelf.keep(tree)
    if (size % 7 === 0 && size % 5 === 0) tree = await BlockTree.open(shelf, size)
    if (size % 13 !== 0 && size % 256 > 2) continue
    const root = rootOf(leaves.slice(0, size))
    assert.deepEqual(Buffer.from(await tree.root(size)), Buffer.from(root))
    for (const index of [0, size >> 1, size - 1]) {
      const path = await tree.hashes(inclusionPath(index, size))
      assert.ok(isIncluded(index, size, leaves[index]!, path, root), `${index} in ${size}`)
    }
    for (const old of [1, size >> 2, size >> 1, size - 1].filter((each) => each > 0)) {
      const path = await tree.hashes(consistencyPath(old, size))
      assert.ok(isConsistent(old, rootOf(leaves.slice(0, old)), size, root, path), `${old} in ${size}`)
    }
  }
})

test('blocks: what a tree was given and is not on the shelf is gone when it is opened again', async () => {
  const shelf = new MapShelf()
  const tree = await BlockTree.open(shelf, 0)
  for (let at = 0; at < 300; at++) tree.append(leaf(at))
  shelf.keep(tree)
  for (let at = 300; at < 520; at++) tree.append(leaf(at + 1000))
  const again = await BlockTree.open(shelf, 300)
  assert.deepEqual(await again.root(300), await tree.root(300))
  for (let at = 300; at < 520; at++) again.append(leaf(at))
  shelf.keep(again)
  assert.deepEqual(
    Buffer.from(await (await BlockTree.open(shelf, 520)).root(520)),
    Buffer.from(rootOf(Array.from({ length: 520 }, (_, at) => leaf(at)))),
  )
})
