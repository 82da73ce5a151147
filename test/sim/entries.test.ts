import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KeyBytes, SpaceId } from '../../src/model/brand.js'
import { itemKey } from '../../src/model/key-bytes.js'
import type { Item } from '../../src/model/value.js'
import { judgeEntries } from '../../sim/check/entries.js'
import { INDEXED_TABLE } from '../../sim/table.js'
import { forEachEntry } from '../../src/storage/items/index-entries.js'

const item = (id: string, rest: Item): Item => ({ p: { S: 'p' }, id: { S: id }, ...rest })
const ITEMS = [item('a', { w: { S: 'one' }, n: { N: '7' } }), item('b', { w: { S: 'two' } }), item('c', {})]

function impliedBy(items: readonly Item[]): Map<SpaceId, KeyBytes[]> {
  const entries = new Map<SpaceId, KeyBytes[]>()
  for (const each of items) {
    const images = { old: undefined, new: each }
    forEachEntry(INDEXED_TABLE, itemKey(INDEXED_TABLE.key, each), images, (space, _, key) => {
      if (key !== undefined) entries.set(space, [...(entries.get(space) ?? []), key])
    })
  }
  return entries
}

const judge = (
  items: readonly Item[],
  entries: ReadonlyMap<SpaceId, readonly KeyBytes[]>,
): readonly string[] =>
  judgeEntries('node-0', INDEXED_TABLE, items, (space) => entries.get(space) ?? []).map(({ kind }) => kind)

test('entries judge: what the items imply is right, and an item without the attribute implies nothing', () => {
  const entries = impliedBy(ITEMS)
  assert.deepEqual(
    [...entries.values()].map((keys) => keys.length).toSorted((a, b) => a - b),
    [1, 1, 2],
  )
  assert.deepEqual(judge(ITEMS, entries), [])
})

test('entries judge: an entry too many and an entry too few are found', () => {
  assert.deepEqual(judge(ITEMS.slice(1), impliedBy(ITEMS)), ['entry-left', 'entry-left', 'entry-left'])
  assert.deepEqual(judge(ITEMS, impliedBy(ITEMS.slice(1))), [
    'entry-missing',
    'entry-missing',
    'entry-missing',
  ])
})
