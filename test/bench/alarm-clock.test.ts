import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { after, test } from 'node:test'
import { AlarmClock, monotonicMicros } from '../../src/bench/load/alarm-clock.js'

// The alarm keeps no process alive: the generator's connections do.
const alive = setInterval(() => undefined, 1000)
after(() => clearInterval(alive))

test('the alarm rings when its time has come, and not before, as often as it is set', async () => {
  const alarm = new AlarmClock()
  const rings = new EventEmitter()
  for (const micros of [0, 300, 5000]) {
    const due = monotonicMicros() + micros
    alarm.wakeAt(due, () => rings.emit('ring'))
    await once(rings, 'ring')
    assert.ok(monotonicMicros() >= due, `${micros} us`)
  }
  await alarm.close()
})

test('a later setting replaces the one before, and a stopped alarm is silent', async () => {
  const alarm = new AlarmClock()
  const rung: string[] = []
  alarm.wakeAt(monotonicMicros() + 3_600_000_000, () => rung.push('in an hour'))
  await new Promise<void>((resolve) => alarm.wakeAt(monotonicMicros() + 200, resolve))
  alarm.wakeAt(monotonicMicros() + 2000, () => rung.push('stopped'))
  alarm.stop()
  await new Promise((resolve) => setTimeout(resolve, 20))
  assert.deepEqual(rung, [])
  await alarm.close()
})
