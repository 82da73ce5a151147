// Copies of an index in memory: random changes and copies of copies, against plain maps.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KeyBytes } from '../../src/model/brand.js'
import { memoryMap, type MemoryMap } from '../../src/ordered-map/memory-map.js'
import { seededRandom } from '../suites/seeded-random.js'
import { sized } from '../support/sizes.js'

const STEPS = 3000
const MAPS_MAX = 12
const ALL = { from: '' as KeyBytes, to: '\xff' as KeyBytes }

interface Pair {
  readonly map: MemoryMap
  readonly model: Map<string, string>
}

/** Throws if a map holds anything else than its model. */
function runHistory(seed: number, open: () => MemoryMap): void {
  const random = seededRandom(seed)
  // Few keys are changed often; many make trees of several levels, whose nodes are split, merged and shared.
  const keys = [20, 300, 3000][seed % 3] as number
  const keyOf = (): KeyBytes => `k${random(keys)}`.padEnd(6, '-') as KeyBytes
  const pairs: Pair[] = [{ map: open(), model: new Map() }]
  const at = (): Pair => pairs[random(pairs.length)] as Pair
  for (let step = 0; step < STEPS; step++) {
    const { map, model } = at()
    const dice = random(100)
    if (dice < 60) {
      const [key, text] = [keyOf(), String(step)]
      void map.apply([[key, Buffer.from(text)]], step)
      model.set(key, text)
    } else if (dice < 80) {
      const key = keyOf()
      void map.apply([[key, undefined]], step)
      model.delete(key)
    } else if (dice < 90) {
      const key = keyOf()
      assert.equal(textOf(map.get(key)), model.get(key))
    } else if (dice < 91) {
      // All of a range goes, as in the sweep of a dropped table.
      const gone = [...map.range({ ...ALL, reverse: false })].slice(0, random(keys)).map(([key]) => key)
      void map.apply(
        gone.map((key) => [key, undefined] as const),
        step,
      )
      for (const key of gone) model.delete(key)
    } else if (dice < 97) {
      const reverse = dice % 2 === 0
      assertSame(map, model, reverse)
    } else {
      const copy = { map: map.copy(), model: new Map(model) }
      if (pairs.length < MAPS_MAX) pairs.push(copy)
      else pairs[random(pairs.length)] = copy
    }
  }
  for (const { map, model } of pairs) for (const reverse of [false, true]) assertSame(map, model, reverse)
}

function assertSame(map: MemoryMap, model: ReadonlyMap<string, string>, reverse: boolean): void {
  const expected = [...model].toSorted(([one], [other]) => (one < other === reverse ? 1 : -1))
  assert.deepEqual(
    Array.from(map.range({ ...ALL, reverse }), ([key, value]) => [key, textOf(value)]),
    expected,
  )
  const scanned: unknown[] = []
  map.scan({ ...ALL, reverse }, (lent, length) => scanned.push(textOf(lent.subarray(0, length))) > 0)
  assert.deepEqual(
    scanned,
    expected.map(([, text]) => text),
  )
}

const textOf = (value: Uint8Array | undefined): string | undefined =>
  value === undefined ? undefined : Buffer.from(value).toString()

test('copies: maps and their copies, in any order, hold what plain maps do', () => {
  for (let seed = 0; seed < sized(30, 600); seed++)
    runHistory(seed, () => memoryMap({ unsortedKeysMax: [1, 10, 1000][seed % 3] as number }))
})

/** Where what is changed in place is seen by both sides: a copy of which only the structure is its own. */
class SharesValues implements MemoryMap {
  readonly #map: MemoryMap
  readonly #cells: Map<KeyBytes, { value: Uint8Array | undefined }>

  constructor(map: MemoryMap = memoryMap(), cells = new Map<KeyBytes, { value: Uint8Array | undefined }>()) {
    this.#map = map
    this.#cells = cells
  }

  get = (key: KeyBytes): Uint8Array | undefined => this.#map.get(key) && this.#cells.get(key)?.value
  range: MemoryMap['range'] = (range) => this.#map.range(range)
  scan: MemoryMap['scan'] = (range, look) => this.#map.scan(range, look)
  close: MemoryMap['close'] = () => this.#map.close()
  copy = (): MemoryMap => new SharesValues(this.#map.copy(), new Map(this.#cells))
  get appliedUpTo(): number {
    return this.#map.appliedUpTo
  }

  apply: MemoryMap['apply'] = (changes, upTo) => {
    const all = [...changes]
    for (const [key, value] of all) {
      const cell = this.#cells.get(key)
      if (cell === undefined) this.#cells.set(key, { value })
      else cell.value = value
    }
    return this.#map.apply(all, upTo)
  }
}

test('copies: a map whose copies write to what they share is found out', () => {
  assert.throws(() => runHistory(0, () => new SharesValues()), { code: 'ERR_ASSERTION' })
})

test('copies: a copy takes memory for what is changed, not for what it holds', () => {
  const map = memoryMap()
  const value = Buffer.from('v')
  for (let n = 0; n < 50_000; n++) void map.apply([[`k${n}` as KeyBytes, value]], n)
  // Copied as a whole, each of them, they would need gigabytes.
  const copies = Array.from({ length: 10_000 }, (_, n) => {
    const copy = map.copy()
    void copy.apply([[`k${n}` as KeyBytes, undefined]], 0)
    return copy
  })
  for (const [n, copy] of copies.entries()) {
    assert.equal(copy.get(`k${n}` as KeyBytes), undefined)
    assert.equal(copy.get(`k${n + 1}` as KeyBytes), value)
  }
})
