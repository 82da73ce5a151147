// Ranges of overlay and index against plain maps, under everything a line does to them, in all orders: puts of each kind,
// batches that are taken, written or lost, loads that are brought into the index and dropped, and reads between any two.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { memoryMap } from '../../src/ordered-map/memory-map.js'
import type { KeyBytes } from '../../src/model/brand.js'
import { Overlay } from '../../src/line/overlay.js'
import { viewOf } from '../../src/line/merged-view.js'

interface ModelBatch {
  readonly number: number
  readonly changes: Map<KeyBytes, Uint8Array | undefined>
  /** Put as new, and nothing else since. */
  readonly fresh: Map<KeyBytes, Uint8Array>
}

const newBatch = (number: number): ModelBatch => ({ number, changes: new Map(), fresh: new Map() })

/** Overlay and index as a line uses them (journal-line.ts), beside what they should show. */
class Pair {
  readonly #overlay: Overlay
  readonly #index
  readonly #shown: { durable: Map<KeyBytes, Uint8Array>; decided: Map<KeyBytes, Uint8Array> } = {
    durable: new Map(),
    decided: new Map(),
  }
  #open = newBatch(1)
  #flying: ModelBatch | undefined
  #written: ModelBatch[] = []
  /** The last batch in which a key was put for all to see. */
  readonly #visibleIn = new Map<KeyBytes, number>()
  /** In the index already, and not dropped from the overlay yet. */
  #loaded: { readonly keys: readonly KeyBytes[]; readonly batch: number } | undefined

  constructor(knobs: { readonly overlaySpareKeysMax: number; readonly unsortedKeysMax: number }) {
    this.#overlay = new Overlay(knobs)
    this.#index = memoryMap(knobs)
  }

  put(key: KeyBytes, value: Uint8Array | undefined): void {
    const { fresh, changes, number } = this.#open
    if (fresh.delete(key)) {
      this.#overlay.takeBack(key)
      this.#restore(key)
      if (value === undefined) return
    }
    this.#overlay.put(key, value, number)
    changes.set(key, value)
    set(this.#shown.decided, key, value)
  }

  putNew(key: KeyBytes, value: Uint8Array): void {
    if (this.#overlay.has(key)) {
      this.put(key, value)
      return
    }
    this.#overlay.putNew(key, () => value, this.#open.number)
    this.#open.fresh.set(key, value)
    this.#shown.decided.set(key, value)
  }

  /** Only upon what readers see. */
  putVisible(key: KeyBytes, value: Uint8Array | undefined): void {
    if (this.#overlay.unseenIn(key) !== undefined) return
    this.#overlay.putVisible(key, value, this.#open.number)
    this.#visibleIn.set(key, this.#open.number)
    this.#open.changes.set(key, value)
    set(this.#shown.decided, key, value)
    set(this.#shown.durable, key, value)
  }

  takeBack(key: KeyBytes): void {
    if (this.#open.fresh.has(key)) this.put(key, undefined)
  }

  take(): void {
    if (this.#flying !== undefined) return
    const batch = this.#open
    for (const [key, value] of batch.fresh) {
      assert.deepEqual(this.#overlay.decided(key)?.value, value)
      batch.changes.set(key, value)
    }
    this.#flying = batch
    this.#open = newBatch(batch.number + 1)
  }

  written(): void {
    const batch = this.#flying
    if (batch === undefined) return
    this.#flying = undefined
    this.#overlay.promote(batch.number)
    for (const [key, value] of batch.changes) {
      // What was put later and seen at once is what readers go on to see.
      if ((this.#visibleIn.get(key) ?? 0) <= batch.number) set(this.#shown.durable, key, value)
    }
    this.#written.push(batch)
  }

  lost(): void {
    const lost = this.#flying === undefined ? [this.#open] : [this.#flying, this.#open]
    this.#flying = undefined
    this.#open = newBatch(this.#open.number + 1)
    const keys = new Set(lost.flatMap(({ changes, fresh }) => [...changes.keys(), ...fresh.keys()]))
    this.#overlay.rollBack(keys)
    this.#shown.decided = new Map(this.#shown.durable)
    for (const key of keys) {
      const version = this.#overlay.decided(key)
      if (version?.visible === true) this.#open.changes.set(key, version.value)
    }
  }

  /** Brings the oldest batches into the index; some later step drops them. */
  load(batches: number): void {
    const last = this.#written[batches - 1]
    if (this.#loaded !== undefined || last === undefined) return
    const changes = new Map<KeyBytes, Uint8Array | undefined>()
    for (const batch of this.#written.splice(0, batches))
      for (const [key, value] of batch.changes) changes.set(key, value)
    void this.#index.apply(changes, last.number)
    this.#loaded = { keys: [...changes.keys()], batch: last.number }
  }

  drop(): void {
    if (this.#loaded === undefined) return
    this.#overlay.drop(this.#loaded.keys, this.#loaded.batch)
    this.#loaded = undefined
  }

  compare(view: 'durable' | 'decided', from: KeyBytes, to: KeyBytes, reverse: boolean): void {
    const seen = viewOf(this.#index, this.#overlay, view)
    const shown = [...this.#shown[view]].toSorted(([a], [b]) => (a < b ? -1 : 1))
    const inRange = shown.filter(([key]) => key >= from && key < to)
    const expected = reverse ? inRange.toReversed() : inRange
    assert.deepEqual([...seen.range({ from, to, reverse })], expected)
    const scanned: Uint8Array[] = []
    seen.scan(
      { from, to, reverse },
      (value, length) => scanned.push(Buffer.from(value).subarray(0, length)) > 0,
    )
    assert.deepEqual(
      scanned.map((each) => Buffer.from(each)),
      expected.map(([, value]) => Buffer.from(value)),
    )
    for (const key of KEYS) assert.deepEqual(seen.get(key), this.#shown[view].get(key))
    // Whether there is any version, of whatever batch: more may be said to be there than is shown, never less.
    const isThere = KEYS.some((key) => key >= from && key < to && this.#overlay.has(key))
    assert.equal(this.#overlay.hasAny(from, to), isThere)
    assert.equal(this.#overlay.keys, KEYS.filter((key) => this.#overlay.has(key)).length)
  }

  compareAll(): void {
    for (const view of ['durable', 'decided'] as const)
      for (const reverse of [false, true]) this.compare(view, '' as KeyBytes, END, reverse)
  }

  /** Everything is brought into the index. */
  drain(): void {
    for (let batches = 0; batches < 2; batches++) {
      this.written()
      this.take()
    }
    this.written()
    this.drop()
    this.load(this.#written.length)
    this.drop()
    assert.equal(this.#overlay.keys, 0, 'nothing is left in the overlay that the index has')
  }

  #restore(key: KeyBytes): void {
    set(this.#shown.decided, key, this.#shown.durable.get(key))
  }
}

function set(map: Map<KeyBytes, Uint8Array>, key: KeyBytes, value: Uint8Array | undefined): void {
  if (value === undefined) map.delete(key)
  else map.set(key, value)
}

const KEYS = Array.from({ length: 12 }, (_, at) => `k${String.fromCharCode(97 + at)}` as KeyBytes)
const END = 'l' as KeyBytes

const key = fc.constantFrom(...KEYS)
const value = fc.integer({ min: 0, max: 255 }).map((byte) => Uint8Array.of(byte))
const maybe = fc.option(value, { nil: undefined })
type Changing = Exclude<keyof Pair, 'compare' | 'compareAll' | 'drain'>
/** A method of the pair and what it is called with: plain data, so that a failure says how to see it again. */
type Step = {
  [Name in Changing]: readonly [Name, ...Parameters<Pair[Name]>]
}[Changing]
type Look = readonly ['compare', ...Parameters<Pair['compare']>]

const step: fc.Arbitrary<Step | Look> = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(fc.constant('put' as const), key, maybe) },
  { weight: 4, arbitrary: fc.tuple(fc.constant('putNew' as const), key, value) },
  { weight: 3, arbitrary: fc.tuple(fc.constant('putVisible' as const), key, maybe) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('takeBack' as const), key) },
  { weight: 3, arbitrary: fc.tuple(fc.constant('take' as const)) },
  { weight: 3, arbitrary: fc.tuple(fc.constant('written' as const)) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('lost' as const)) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('load' as const), fc.integer({ min: 1, max: 3 })) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('drop' as const)) },
  {
    weight: 1,
    arbitrary: fc.tuple(
      fc.constant('compare' as const),
      fc.constantFrom('durable' as const, 'decided' as const),
      key,
      fc.option(key, { nil: END }),
      fc.boolean(),
    ),
  },
)

test('overlay and index show the ranges of a sorted map, whatever was put, written, lost, loaded and read before', () => {
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 150, size: 'max' }),
      fc.record({
        overlaySpareKeysMax: fc.integer({ min: 0, max: 6 }),
        unsortedKeysMax: fc.integer({ min: 1, max: 6 }),
      }),
      (steps, knobs) => {
        const pair = new Pair(knobs)
        for (const [name, ...args] of steps) (pair[name] as (...all: unknown[]) => void).apply(pair, args)
        pair.compareAll()
        pair.drain()
        pair.compareAll()
      },
    ),
    { numRuns: 1500 },
  )
})
