import assert from 'node:assert/strict'
import { test } from 'node:test'
import { manualClock } from '../../src/runtime/manual-clock.js'
import { realRuntime } from '../../src/runtime/real-runtime.js'

test('runtime: the real clock counts microseconds since the epoch', () => {
  const micros = realRuntime().clock.nowMicros()
  assert.ok(Number.isSafeInteger(micros))
  assert.ok(micros > Date.parse('2020-01-01') * 1000)
})

test('runtime: of two looks at the real clock the second is later, also within a millisecond', () => {
  const { clock } = realRuntime()
  let last = clock.nowMicros()
  // Several milliseconds of looks: the microseconds wrap in each of them.
  for (let look = 0; look < 200_000; look++) {
    const now = clock.nowMicros()
    // A machine may set its clock back by more; that is followed.
    assert.ok(now > last || last - now >= 1000, `${now} after ${last}`)
    last = now
  }
})

test('runtime: a manual clock fires timers in order, each at its time, and none that was cancelled', () => {
  const clock = manualClock(1000)
  const fired: string[] = []
  const log = (name: string) => () => fired.push(`${name}@${clock.nowMicros() / 1000}`)
  clock.timer(30, log('c'))
  clock.timer(10, () => {
    log('a')()
    clock.timer(5, log('b'))
  })
  clock.timer(20, log('never'))()
  clock.advance(29)
  assert.deepEqual(fired, ['a@1010', 'b@1015'])
  clock.jump(-500)
  clock.advance(1)
  assert.deepEqual(fired, ['a@1010', 'b@1015', 'c@530'])
})
