// The thread of the alarm clock: sleeps to the microsecond, as far as the machine can.
import { parentPort, workerData } from 'node:worker_threads'
import { type AlarmFace, monotonicMicros } from './alarm-clock.js'

const { number, due } = workerData as AlarmFace

for (;;) {
  const seen = Atomics.load(number, 0)
  const wait = due[0]! - monotonicMicros()
  if (wait > 0 && Atomics.wait(number, 0, seen, wait / 1000) !== 'timed-out') continue
  parentPort?.postMessage(undefined)
  Atomics.wait(number, 0, seen)
}
