// Every key of the overlay stands in its order, however many came and went before.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KeyBytes } from '../../src/model/brand.js'
import { Overlay } from '../../src/line/overlay.js'

const everything = ['' as KeyBytes, '\xff' as KeyBytes] as const
const key = (number: number): KeyBytes => `k${String(number).padStart(6, '0')}` as KeyBytes
const value = Buffer.from('value')

const WAYS: readonly (readonly [string, (overlay: Overlay, key: KeyBytes, batch: number) => void])[] = [
  ['put', (overlay, each, batch) => overlay.put(each, value, batch)],
  ['putVisible', (overlay, each, batch) => overlay.putVisible(each, value, batch)],
  ['putNew', (overlay, each, batch) => overlay.putNew(each, () => value, batch)],
]

for (const [name, put] of WAYS) {
  test(`overlay: a key that ${name} adds is found by ranges, however many keys came and went before it`, () => {
    // More than any spare of keys that are noted and gone, one after another, so that each number of them is met.
    for (let gone = 4000; gone < 4200; gone++) {
      const overlay = new Overlay()
      for (let batch = 1; batch <= gone; batch++) {
        put(overlay, key(batch), batch)
        overlay.promote(batch)
        overlay.drop([key(batch)], batch)
      }
      const last = gone + 1
      put(overlay, key(last), last)
      overlay.promote(last)
      assert.ok(overlay.hasAny(...everything), `after ${gone} others`)
      const found = overlay.range(...everything, { reverse: false, view: 'durable' })
      assert.deepEqual(
        Array.from(found, ([each]) => each),
        [key(last)],
        `after ${gone} others`,
      )
    }
  })
}
