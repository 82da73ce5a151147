// The tree of RFC 6962: every size up to 300, every leaf, every pair of sizes, against a tree that is written as the RFC
// defines it and with Node's hash.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import * as fc from 'fast-check'
import {
  emptyRoot,
  Frontier,
  isConsistent,
  isIncluded,
  leafHash,
  nodeHash,
  rootOf,
} from '../../src/verify/merkle.js'
import {
  consistencyPath,
  inclusionPath,
  type Stretch,
  stretchHash,
  subtreesFrom,
} from '../../src/verify/paths.js'
import { sha256 } from '../../src/verify/sha256.js'

const SIZE_MAX = 300
const nodeSha = (...parts: readonly Uint8Array[]): Buffer => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}
const text = (value: string): Uint8Array => new TextEncoder().encode(value)
const leaves = Array.from({ length: SIZE_MAX }, (_, at) => leafHash(text(`leaf ${at}`)))

/** MTH of section 2.1, word for word, over hashes of leaves. */
const roots = new Map<string, Buffer>()
function definedRoot(start: number, end: number): Buffer {
  const known = roots.get(`${start} ${end}`)
  if (known !== undefined) return known
  const count = end - start
  const half = 2 ** Math.ceil(Math.log2(count) - 1)
  const root =
    count === 0
      ? nodeSha()
      : count === 1
        ? Buffer.from(leaves[start]!)
        : nodeSha(Uint8Array.of(1), definedRoot(start, start + half), definedRoot(start + half, end))
  roots.set(`${start} ${end}`, root)
  return root
}

const subtrees = subtreesFrom(leaves)
const known = new Map<number, Uint8Array>()
const pathOf = (stretches: readonly Stretch[]): Uint8Array[] =>
  stretches.map((stretch) =>
    stretchHash(stretch, (height, index) => {
      const place = height * 1000 + index
      known.set(place, known.get(place) ?? subtrees(height, index))
      return known.get(place)!
    }),
  )

test('verify: SHA-256 is that of Node, of every length up to 300 and some long ones', () => {
  for (const length of [...Array.from({ length: 300 }, (_, at) => at), 4095, 4096, 100_000]) {
    const bytes = Uint8Array.from({ length }, (_, at) => at * 7 + length)
    assert.deepEqual(Buffer.from(sha256(bytes)), nodeSha(bytes), `${length} bytes`)
  }
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 2000 }), (bytes) => {
      assert.deepEqual(Buffer.from(sha256(bytes)), nodeSha(bytes))
    }),
  )
})

test('verify: hashes of RFC 6962: nothing, a leaf and a node', () => {
  assert.deepEqual(Buffer.from(emptyRoot()), nodeSha())
  assert.deepEqual(Buffer.from(leafHash(text('a'))), nodeSha(Uint8Array.of(0), text('a')))
  const [one, other] = [leaves[0]!, leaves[1]!]
  assert.deepEqual(Buffer.from(nodeHash(one, other)), nodeSha(Uint8Array.of(1), one, other))
})

test('verify: the root of every tree up to 300 leaves is the one that RFC 6962 defines', () => {
  const frontier = new Frontier()
  for (let size = 0; size <= SIZE_MAX; size++) {
    assert.deepEqual(Buffer.from(frontier.root()), definedRoot(0, size), `${size} leaves`)
    if (size < SIZE_MAX) frontier.append(leaves[size]!)
  }
  assert.deepEqual(Buffer.from(rootOf(leaves)), definedRoot(0, SIZE_MAX))
})

test('verify: every leaf of every tree up to 300 leaves has a proof, of no other leaf, place, size or root', () => {
  for (let size = 1; size <= SIZE_MAX; size++) {
    const root = definedRoot(0, size)
    for (let index = 0; index < size; index++) {
      const path = pathOf(inclusionPath(index, size))
      assert.ok(isIncluded(index, size, leaves[index]!, path, root), `${index} of ${size}`)
      if ((index * 31 + size) % 17 !== 0 && size > 20) continue
      const other = leaves[(index + 1) % size]!
      if (size > 1) {
        assert.ok(!isIncluded(index, size, other, path, root), 'another leaf')
        assert.ok(!isIncluded((index + 1) % size, size, leaves[index]!, path, root), 'another place')
        assert.ok(!isIncluded(index, size, leaves[index]!, path.slice(1), root), 'a sibling less')
      }
      if (path.length > 1) assert.ok(!isIncluded(index, size, leaves[index]!, path.toReversed(), root))
      assert.ok(!isIncluded(index, size, leaves[index]!, [...path, other], root), 'a sibling more')
      assert.ok(!isIncluded(size, size, leaves[index]!, path, root), 'a place behind the end')
      assert.ok(!isIncluded(index, 2 * size, leaves[index]!, path, root), 'a larger tree of the same root')
      assert.ok(!isIncluded(index, size, leaves[index]!, path, emptyRoot()), 'another root')
    }
  }
})

test('verify: every pair of sizes up to 300 has a proof of consistency, of no other size and no other root', () => {
  for (let size = 1; size <= SIZE_MAX; size++) {
    const root = definedRoot(0, size)
    for (let old = 0; old <= size; old++) {
      const oldRoot = definedRoot(0, old)
      const path = pathOf(consistencyPath(old, size))
      assert.ok(isConsistent(old, oldRoot, size, root, path), `${old} of ${size}`)
      if ((old * 31 + size) % 17 !== 0 && size > 20) continue
      assert.ok(
        !isConsistent(old, leaves[0]!, size, root, path) || (old === 1 && size > 0),
        'another old root',
      )
      if (old > 0) assert.ok(!isConsistent(old, oldRoot, size, leaves[1]!, path), 'another root')
      assert.ok(!isConsistent(old, oldRoot, size, root, [...path, root]), 'a hash more')
      if (path.length > 0) {
        assert.ok(!isConsistent(old, oldRoot, size, root, path.slice(0, -1)), 'a hash less')
        assert.ok(!isConsistent(old, oldRoot, size, root, []), 'no hash')
      }
      if (old > 0 && old < size) {
        assert.ok(!isConsistent(old, oldRoot, old, root, path), 'the same size')
        assert.ok(!isConsistent(size, root, old, oldRoot, path), 'the other way round')
        assert.ok(!isConsistent(old, oldRoot, 2 * size, root, path), 'a larger tree of the same root')
      }
      for (const other of [old - 1, old + 1])
        if (other > 0 && other < size)
          assert.ok(!isConsistent(other, oldRoot, size, root, path), `as of ${other}, not ${old}`)
    }
  }
})

test('verify: a path is refused with an index, size or hash that is none', () => {
  const root = definedRoot(0, 2)
  const path = [leaves[1]!]
  assert.ok(isIncluded(0, 2, leaves[0]!, path, root))
  for (const index of [-1, 0.5, Number.NaN, 2 ** 53]) assert.ok(!isIncluded(index, 2, leaves[0]!, path, root))
  for (const size of [-2, 2.5, Number.NaN, Number.POSITIVE_INFINITY])
    assert.ok(!isIncluded(0, size, leaves[0]!, path, root))
  assert.ok(!isIncluded(0, 2, leaves[0]!, [leaves[1]!.subarray(1)], root))
  assert.ok(
    !isIncluded(
      0,
      2,
      leaves[0]!,
      Array.from({ length: 100 }, () => leaves[1]!),
      root,
    ),
  )
  assert.throws(() => inclusionPath(2, 2), RangeError)
  assert.throws(() => consistencyPath(3, 2), RangeError)
})

test('verify: sizes near 2^53 are reckoned exactly', () => {
  for (const size of [2 ** 31, 2 ** 32 + 1, 2 ** 48 - 1, 2 ** 53 - 1]) {
    const stretches = inclusionPath(size - 1, size)
    assert.equal(stretches.at(-1)!.start, 0)
    assert.ok(stretches.every(({ start, end }) => end > start && end < size))
    assert.equal(
      stretches.reduce((sum, { start, end }) => sum + end - start, 1),
      size,
    )
  }
})
