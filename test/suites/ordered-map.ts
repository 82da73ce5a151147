// What every index promises, run for each of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ScanRange, OrderedMap } from '../../src/ordered-map/ordered-map.js'
import type { KeyBytes } from '../../src/model/brand.js'
import { seededRandom } from './seeded-random.js'

const key = (text: string): KeyBytes => text as KeyBytes
const value = (text: string): Uint8Array => Buffer.from(text)

export function orderedMapSuite(name: string, open: () => Promise<OrderedMap>): void {
  test(`${name}: a value is read back as it was applied, and is gone once removed`, async () => {
    const index = await open()
    await index.apply([[key('a'), value('1')]], 10)
    assert.deepEqual(text(index.get(key('a'))), '1')
    assert.equal(index.appliedUpTo, 10)
    await index.apply([[key('a'), undefined]], 20)
    assert.equal(index.get(key('a')), undefined)
    assert.equal(index.appliedUpTo, 20)
    await index.close()
  })

  test(`${name}: a range holds its lower bound, not its upper one, in both directions`, async () => {
    const index = await open()
    await index.apply(
      ['a', 'b', 'c', 'd'].map((k) => [key(k), value(k)] as const),
      1,
    )
    assert.deepEqual(keysOf(index, 'b', 'd', false), ['b', 'c'])
    assert.deepEqual(keysOf(index, 'b', 'd', true), ['c', 'b'])
    assert.deepEqual(keysOf(index, 'aa', 'cc', true), ['c', 'b'])
    assert.deepEqual(keysOf(index, '\0', 'a', false), [])
    await index.close()
  })

  test(`${name}: a value that was read never changes afterwards`, async () => {
    const index = await open()
    await index.apply([[key('a'), value('first')]], 1)
    const read = index.get(key('a'))
    const [ranged] = [...index.range({ from: key('a'), to: key('b'), reverse: false })]
    await index.apply([[key('a'), value('other')]], 2)
    index.get(key('a'))
    assert.equal(text(read), 'first')
    assert.equal(text(ranged?.[1]), 'first')
    await index.close()
  })

  test(`${name}: a scan shows what a range holds, and ends when it was enough`, async () => {
    const index = await open()
    const letters = ['a', 'b', 'c', 'd', 'e']
    await index.apply(
      letters.map((k) => [key(k), value(`${k}${'z'.repeat(k === 'c' ? 100_000 : 10)}`)] as const),
      1,
    )
    for (const reverse of [false, true]) {
      for (const [from, to] of [
        ['b', 'd'],
        ['aa', 'cc'],
        ['a', 'z'],
        ['f', 'z'],
        ['\0', 'a'],
      ] as const) {
        const range = { from: key(from), to: key(to), reverse }
        const ranged = [...index.range(range)].map(([, bytes]) => text(bytes))
        for (let most = 1; most <= letters.length; most++) {
          assert.deepEqual(scanned(index, range, most), ranged.slice(0, most))
        }
      }
    }
    const range = { from: key('a'), to: key('z'), reverse: false }
    assert.throws(
      () =>
        index.scan(range, () => {
          throw new Error('cannot look')
        }),
      /cannot look/,
    )
    assert.deepEqual(keysOf(index, 'a', 'z', false), letters)
    await index.apply([[key('b'), undefined]], 2)
    assert.deepEqual(
      scanned(index, range, 9).map((each) => each[0]),
      ['a', 'c', 'd', 'e'],
    )
    await index.close()
  })

  test(`${name}: keys of any length up to 1,900 bytes keep their order`, async () => {
    const random = seededRandom(7)
    const index = await open()
    const model = new Map<string, string>()
    const lengths = [1, 2, 40, 255, 500, 1024, 1477, 1481, 1890]
    const randomKey = (): string => {
      const length = lengths[random(lengths.length)] as number
      const filler = ['x', '\xff', '\0'][random(3)] as string
      let made = `s${filler.repeat(length)}`.slice(0, length)
      if (random(2) === 0) made += String.fromCharCode(random(256))
      if (random(3) === 0 && made.length > 1) {
        const at = 1 + random(made.length - 1)
        made = made.slice(0, at) + String.fromCharCode(random(256)) + made.slice(at + 1)
      }
      return made
    }
    for (let round = 0; round < 40; round++) {
      const changes = new Map<string, string | undefined>()
      for (let i = 0; i < 10; i++) changes.set(randomKey(), random(4) === 0 ? undefined : `v${round}.${i}`)
      for (const known of [...model.keys()].slice(0, 3)) if (random(3) === 0) changes.set(known, undefined)
      await index.apply(
        [...changes].map(([k, v]) => [key(k), v === undefined ? undefined : value(v)] as const),
        round + 1,
      )
      for (const [k, v] of changes) {
        if (v === undefined) model.delete(k)
        else model.set(k, v)
      }
      const [low, high] = [randomKey(), randomKey()].toSorted() as [string, string]
      const expected = [...model.keys()].filter((k) => k >= low && k < high).toSorted()
      assert.deepEqual(keysOf(index, low, high, false), expected)
      assert.deepEqual(keysOf(index, low, high, true), expected.toReversed())
      const range = { from: key(low), to: key(high), reverse: random(2) === 0 }
      assert.deepEqual(
        scanned(index, range, Infinity),
        (range.reverse ? expected.toReversed() : expected).map((k) => model.get(k)),
      )
      for (const [k, v] of changes) assert.equal(text(index.get(key(k))), v)
    }
    await index.close()
  })

  test(`${name}: large and empty values are kept`, async () => {
    const index = await open()
    const large = Buffer.alloc(500_000, 'z')
    await index.apply([[key('large'), large], [key('none'), Buffer.alloc(0)]], 1) // prettier-ignore
    assert.deepEqual(Buffer.from(index.get(key('large')) ?? []), large)
    assert.equal(index.get(key('none'))?.byteLength, 0)
    assert.equal([...index.range({ from: key('large'), to: key('z'), reverse: false })].length, 2)
    await index.close()
  })
}

const text = (bytes: Uint8Array | undefined): string | undefined =>
  bytes === undefined ? undefined : Buffer.from(bytes).toString()

function keysOf(index: OrderedMap, from: string, to: string, reverse: boolean): string[] {
  return [...index.range({ from: key(from), to: key(to), reverse })].map(([k]) => k)
}

function scanned(index: OrderedMap, range: ScanRange, most: number): string[] {
  const seen: string[] = []
  index.scan(range, (lent, length) => seen.push(Buffer.from(lent.slice(0, length)).toString()) < most)
  return seen
}
