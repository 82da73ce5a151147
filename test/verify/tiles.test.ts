// Tiles and bundles of C2SP's tlog-tiles: their places, their hashes, and proofs made of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { concat } from '../../src/verify/bytes.js'
import { Frontier, isConsistent, isIncluded, leafHash, rootOf } from '../../src/verify/merkle.js'
import { consistencyPath, inclusionPath, stretchHash } from '../../src/verify/paths.js'
import {
  blockAt,
  blockPath,
  decodeBundle,
  encodeBundle,
  indexPath,
  subtreesIn,
  tileAt,
  tileOf,
  tilePath,
  tilesFor,
  tilesOf,
} from '../../src/verify/tiles.js'

test('verify: paths of tiles are those of the specification', () => {
  assert.equal(indexPath(1_234_067), 'x001/x234/067')
  assert.equal(tilePath({ level: 0, index: 0, width: 256 }), 'tile/0/000')
  assert.equal(tilePath({ level: 1, index: 999, width: 17 }), 'tile/1/999.p/17')
  assert.equal(tilePath({ level: 'entries', index: 1000, width: 112 }), 'tile/entries/x001/000.p/112')
  assert.equal(blockPath(1_234_067), 'block/x001/x234/067')
})

test('verify: a path of a tile or block leads back to it, and what is none leads nowhere', () => {
  fc.assert(
    fc.property(
      fc.constantFrom<number | 'entries'>(0, 1, 2, 6, 'entries'),
      fc.integer({ min: 0, max: 2 ** 40 }),
      fc.integer({ min: 1, max: 256 }),
      (level, index, width) => {
        assert.deepEqual(tileAt(tilePath({ level, index, width })), { level, index, width })
        assert.equal(blockAt(blockPath(index)), index)
      },
    ),
  )
  for (const path of [
    ['tile/00/000', 'tile/0/00', 'tile/0/x000/001', 'tile/0/1000', 'tile/0/x001/x000', 'tile/0/000.p/0'],
    ['tile/0/000.p/256', 'tile/0/000.p/01', 'tile/-1/000', 'tile/0/000/', 'tile/0/../000', 'tile/64/000'],
  ].flat())
    assert.equal(tileAt(path), undefined, path)
  for (const path of ['block/', 'block/1', 'block/x000/001', 'block/0e1', 'block/abc', 'tile/0/000'])
    assert.equal(blockAt(path), undefined, path)
})

test('verify: a tree of 70,000 leaves has the tiles that the specification counts', () => {
  const tiles = [...tilesOf(70_000)].map(tilePath)
  const level = (name: number): string[] => tiles.filter((path) => path.startsWith(`tile/${name}/`))
  assert.deepEqual([level(0).length, level(1).length, level(2).length, tiles.length], [274, 2, 1, 277])
  for (const path of ['tile/0/273.p/112', 'tile/1/000', 'tile/1/001.p/17', 'tile/2/000.p/1'])
    assert.ok(tiles.includes(path), path)
  assert.deepEqual([...tilesOf(256)].map(tilePath), ['tile/0/000', 'tile/1/000.p/1'])
  assert.equal(tileOf(1, 0, 255), undefined)
})

test('verify: the tiles by which a tree differs from a smaller one are all new, and with its old ones all of them', () => {
  for (const [oldSize, size] of [
    [0, 1],
    [1, 1],
    [255, 256],
    [256, 257],
    [1000, 70_000],
    [65_535, 65_536],
  ] as const) {
    const old = new Set([...tilesOf(oldSize)].map(tilePath))
    const all = [...tilesOf(size)].map(tilePath)
    assert.deepEqual(
      [...tilesOf(size, oldSize)].map(tilePath),
      all.filter((path) => !old.has(path)),
    )
  }
})

test('verify: proofs made of tiles lead to the root, at sizes around the edges of tiles', () => {
  const leaves = Array.from({ length: 66_000 }, (_, at) => leafHash(Uint8Array.of(at, at >> 8, at >> 16)))
  const levels = [leaves]
  while (levels.at(-1)!.length >= 256)
    levels.push(
      Array.from({ length: Math.floor(levels.at(-1)!.length / 256) }, (_, at) =>
        rootOf(levels.at(-1)!.slice(at * 256, (at + 1) * 256)),
      ),
    )
  const treeOf = (size: number): ReturnType<typeof subtreesIn> =>
    subtreesIn((level, index) => {
      const { width } = tileOf(level, index, size)!
      return concat(...levels[level]!.slice(index * 256, index * 256 + width))
    })
  const proof = (stretches: ReturnType<typeof inclusionPath>, size: number): Uint8Array[] =>
    stretches.map((stretch) => stretchHash(stretch, treeOf(size)))
  const sizes = [1, 2, 255, 256, 257, 511, 513, 65_535, 65_536, 65_537, 66_000]
  const frontier = new Frontier()
  const roots = new Map<number, Uint8Array>()
  for (const leaf of leaves) {
    frontier.append(leaf)
    if (sizes.includes(frontier.size)) roots.set(frontier.size, frontier.root())
  }
  for (const size of sizes) {
    const root = roots.get(size)!
    for (const index of [0, 1, 255, 256, 65_535, 65_536, size - 1].filter((one) => one < size)) {
      const path = proof(inclusionPath(index, size), size)
      assert.ok(isIncluded(index, size, leaves[index]!, path, root), `${index} of ${size}`)
      assert.ok(tilesFor(inclusionPath(index, size), size).length <= 6)
    }
    for (const old of sizes.filter((one) => one <= size)) {
      const path = proof(consistencyPath(old, size), size)
      assert.ok(isConsistent(old, roots.get(old)!, size, root, path), `${old} of ${size}`)
    }
  }
})

test('verify: a bundle holds its leaves, and half of one is refused', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 700 }), { maxLength: 20 }), (leaves) => {
      const bundle = encodeBundle(leaves)
      assert.deepEqual(
        decodeBundle(bundle)!.map((leaf) => [...leaf]),
        leaves.map((leaf) => [...leaf]),
      )
    }),
  )
  const bundle = encodeBundle([Uint8Array.of(1, 2, 3), new Uint8Array(0)])
  assert.deepEqual(Array.from(bundle), [0, 3, 1, 2, 3, 0, 0])
  for (const length of [1, 2, 4, 6]) assert.equal(decodeBundle(bundle.subarray(0, length)), undefined)
  assert.throws(() => encodeBundle([new Uint8Array(65_536)]), RangeError)
})
