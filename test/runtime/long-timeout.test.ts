import assert from 'node:assert/strict'
import { test } from 'node:test'
import { longTimeout, clientRuntime, realRuntime } from '../../src/runtime/real-runtime.js'

const NODE_MS_MAX = 2 ** 31 - 1

/** Timers that the test fires by hand. */
function byHand() {
  const set: { callback: () => void; delayMs: number; awaited: boolean; cleared: boolean }[] = []
  return {
    set,
    timers: {
      set: (callback: () => void, delayMs: number) => {
        const timer = {
          callback,
          delayMs,
          awaited: true,
          cleared: false,
          unref: () => (timer.awaited = false),
        }
        set.push(timer)
        return timer
      },
      clear: (timer: object) => Object.assign(timer, { cleared: true }),
    },
  }
}

test('runtime: a delay beyond 2^31-1 ms is waited for in parts, none of them longer', () => {
  const { set, timers } = byHand()
  let fired = 0
  const timeout = longTimeout(2 * NODE_MS_MAX + 5, () => fired++, timers)
  timeout.unref()
  for (let at = 0; at < 3; at++) {
    assert.equal(fired, 0)
    set[at]?.callback()
  }
  assert.equal(fired, 1)
  assert.deepEqual(
    set.map(({ delayMs, awaited }) => [delayMs, awaited]),
    [
      [NODE_MS_MAX, false],
      [NODE_MS_MAX, false],
      [5, false],
    ],
  )
})

test('runtime: a long delay is cancelled in any of its parts, and an endless one never ends', () => {
  const { set, timers } = byHand()
  const timeout = longTimeout(Infinity, () => assert.fail('it is endless'), timers)
  for (let at = 0; at < 10; at++) set[at]?.callback()
  timeout.cancel()
  assert.deepEqual(
    set.map(({ cleared }) => cleared),
    [...Array.from({ length: 10 }, () => false), true],
  )
})

test('runtime: no timer of the store or of the toolkit takes 25 days for a millisecond', async () => {
  const { clock } = realRuntime()
  let fired = 0
  const fire = (): number => fired++
  const cancels = [
    clock.timer(NODE_MS_MAX + 1, fire),
    clock.awaitedTimer?.(NODE_MS_MAX + 1, fire),
    clientRuntime().clock.timer(NODE_MS_MAX + 1, fire),
  ]
  // A defect fires within a millisecond, so before this does.
  await new Promise((resolve) => setTimeout(resolve, 20))
  for (const cancel of cancels) cancel?.()
  assert.equal(fired, 0)
})
