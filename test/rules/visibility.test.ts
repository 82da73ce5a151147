// What readers at a timestamp see, and when a predicate holds, case by case.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { timestamp as stamp, type Timestamp, type TxId } from '../../src/model/brand.js'
import type { Item } from '../../src/model/value.js'
import type { ItemState } from '../../src/rules/item/item.js'
import type { Image, Pending } from '../../src/rules/item/contended-item.js'
import { decidePredicate, stateAt, wasAt, type PastState } from '../../src/rules/units/visibility.js'
import { actionOn, plainImage, storedImage } from './plain-values.js'

const image = (n: number | undefined): Image => (n === undefined ? undefined : storedImage('x', { n }))
const state = (n: number | undefined): ItemState => ({ record: undefined, item: () => image(n) })
const past = (since: number, until: number, n: number | undefined): PastState => ({
  ...state(n),
  since: stamp(since),
  until: stamp(until),
})
const seen = (found: ItemState): unknown => plainImage(found.item())?.['n']

test('visibility: the image at a timestamp is the one that the next write after it has overwritten', () => {
  const images = [past(10, 20, 1), past(20, 30, undefined), past(40, 50, 3)]
  const at = (timestamp: number): unknown => seen(stateAt(images, state(4), stamp(timestamp)))
  assert.deepEqual([10, 19, 20, 29, 30, 49, 50, 99].map(at), [1, 1, undefined, undefined, 3, 3, 4, 4])
})

test('visibility: in an index an image shows from the write that left it, exclusive of the one that ended it', () => {
  const shows = [9, 10, 19, 20].map((timestamp) => wasAt(past(10, 20, 1), stamp(timestamp)))
  assert.deepEqual(shows, [false, true, true, false])
})

interface Case {
  readonly says: string
  readonly past?: readonly PastState[]
  readonly now: number | undefined
  readonly written: number
  readonly pending?: readonly Pending[]
  readonly at?: number
  readonly verdict: string
}

const pending = (at: number, n: number, decided = false): Pending => ({
  tx: `t${at}` as TxId,
  timestamp: stamp(at),
  action: actionOn('x', { kind: 'put', item: { n } }),
  decided,
})

/** The predicate is n < 10, read at 100, validated at 200 unless the case says otherwise. */
const cases: readonly Case[] = [
  { says: 'nothing has changed', now: 1, written: 50, verdict: 'holds' },
  {
    says: 'one that matches came',
    past: [past(0, 150, undefined)],
    now: 1,
    written: 150,
    verdict: 'changed',
  },
  {
    says: 'one that does not match came',
    past: [past(0, 150, undefined)],
    now: 11,
    written: 150,
    verdict: 'holds',
  },
  {
    says: 'one that matched went',
    past: [past(50, 150, 1)],
    now: undefined,
    written: 150,
    verdict: 'changed',
  },
  {
    says: 'one that matched matches no more',
    past: [past(50, 150, 1)],
    now: 11,
    written: 150,
    verdict: 'changed',
  },
  { says: 'one that matches is another', past: [past(50, 150, 1)], now: 2, written: 150, verdict: 'changed' },
  {
    says: 'it was written again as it was',
    past: [past(50, 150, 1)],
    now: 1,
    written: 150,
    verdict: 'holds',
  },
  {
    says: 'it came and went',
    past: [past(0, 120, undefined), past(120, 150, 1)],
    now: undefined,
    written: 150,
    verdict: 'holds',
  },
  {
    says: 'a change before the snapshot is none',
    past: [past(50, 90, 1)],
    now: 2,
    written: 90,
    verdict: 'holds',
  },
  {
    says: 'a change after the commit is none',
    past: [past(50, 250, 1)],
    now: 2,
    written: 250,
    verdict: 'holds',
  },
  {
    says: 'two changes around the commit, of which only the first is known',
    past: [past(50, 150, 1)],
    now: 2,
    written: 250,
    verdict: 'too-old',
  },
  {
    says: 'two changes around the commit, of which only the last is known beside the first',
    past: [past(50, 150, 1), past(220, 250, 3)],
    now: 2,
    written: 250,
    verdict: 'too-old',
  },
  {
    says: 'two changes around the commit, both known',
    past: [past(50, 150, 1), past(150, 250, 3)],
    now: 1,
    written: 250,
    verdict: 'changed',
  },
  {
    says: 'one that matches is pending',
    now: undefined,
    written: 50,
    pending: [pending(150, 1)],
    verdict: 'pending',
  },
  {
    says: 'one that does not match is pending',
    now: undefined,
    written: 50,
    pending: [pending(150, 11)],
    verdict: 'holds',
  },
  {
    says: 'one is pending above the commit',
    now: undefined,
    written: 50,
    pending: [pending(201, 1)],
    verdict: 'holds',
  },
  {
    says: 'one that matches is decided',
    now: undefined,
    written: 50,
    pending: [pending(150, 1, true)],
    verdict: 'changed',
  },
  {
    says: 'changed already, whatever becomes of what is pending',
    past: [past(50, 150, 1)],
    now: 2,
    written: 150,
    pending: [pending(160, 3)],
    verdict: 'changed',
  },
  {
    says: 'changed, but what is pending would change it back',
    past: [past(50, 150, 1)],
    now: 2,
    written: 150,
    pending: [pending(160, 1)],
    verdict: 'pending',
  },
  {
    says: 'one that is decided deletes what one pending before the snapshot would have put',
    now: undefined,
    written: 50,
    pending: [pending(90, 1), { ...pending(150, 1, true), action: actionOn('x', { kind: 'delete' }) }],
    verdict: 'pending',
  },
  {
    says: 'what is pending below the last write is overwritten',
    now: 11,
    written: 90,
    pending: [pending(80, 1)],
    verdict: 'holds',
  },
  {
    says: 'more is pending than can be thought through',
    now: undefined,
    written: 50,
    pending: [150, 151, 152, 153, 154].map((at) => pending(at, 11)),
    verdict: 'pending',
  },
]

for (const { says, past: images = [], now, written, pending: waiting = [], at = 200, verdict } of cases) {
  test(`predicate: ${says}: ${verdict}`, () => {
    const item = {
      item: () => image(now),
      state: state(now),
      past: images,
      written: stamp(written),
      writtenBlindly: true,
      read: stamp(0),
      pending: waiting,
      version: now === undefined ? undefined : stamp(written),
    }
    const matches = (each: Item): boolean => Number(plainImage(each)?.['n']) < 10
    const places = { since: stamp(100), timestamp: at as Timestamp }
    assert.equal(decidePredicate(item, { inRange: matches }, places).verdict, verdict)
  })
}
