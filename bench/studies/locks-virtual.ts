// The time from a release to the next one inside, in virtual time: the same on every machine, however busy.
//   node dist/bench/studies/locks-virtual.js [--contenders N] [--rounds N]
// Every request and every answer takes 0.3 to 1 ms on its way.
import { parseArgs } from 'node:util'
import { Random } from '../../src/runtime/seeded-random.js'
import { Scheduler } from '../../sim/scheduler.js'
import { SimNetwork } from '../../sim/locks/sim-endpoint.js'
import { SimProcess } from '../../sim/locks/sim-process.js'
import { SimTable } from '../../sim/locks/sim-table.js'
import { locks } from '../../src/toolkit/index.js'

const { values } = parseArgs({
  options: { contenders: { type: 'string', default: '8' }, rounds: { type: 'string', default: '50' } },
})
const contenders = Number(values.contenders)
const rounds = Number(values.rounds)
const HOLD_MS = 20

const calm = {
  loss: 0,
  repeat: 0,
  slow: 0,
  slowMicrosMax: 1000,
  fade: 0,
  stop: 0,
  stopMicrosMax: 1000,
  kill: 0,
  tornQueries: false,
  delayMicrosMax: 1000,
}

for (const way of ['wakes', 'polls'] as const) {
  const scheduler = new Scheduler()
  const random = new Random(1)
  const counts = new Map<string, number>()
  const witness = {
    sending: (_: SimProcess, { operation }: { readonly operation: string }) =>
      void counts.set(operation, (counts.get(operation) ?? 0) + 1),
    writing: (_: SimProcess, __: unknown, write: () => object) => write(),
    reading: () => undefined,
  }
  const table = new SimTable(() => undefined)
  const network = new SimNetwork(scheduler, random, table, witness, calm, way)
  const handovers: number[] = []
  let releasedAt: number | undefined
  let over = 0
  const live = async (process: SimProcess): Promise<void> => {
    const mine = locks(network.endpointOf(process), {
      table: 'Locks',
      waitMs: Infinity,
      runtime: process.runtime,
    })
    for (let round = 0; round < rounds; round++) {
      const lock = await mine.acquire('a')
      if (releasedAt !== undefined) handovers.push((scheduler.nowMicros - releasedAt) / 1000)
      await new Promise<void>((resolve) => process.runtime.clock.timer(HOLD_MS, resolve))
      // From the moment somebody decides to let go.
      releasedAt = scheduler.nowMicros
      await lock.release()
    }
    over++
  }
  for (let at = 0; at < contenders; at++) {
    const process = new SimProcess(`c${at}`, scheduler, random, { skewMicrosMax: 0, rateMax: 0 })
    scheduler.after(at, 'arrive', () => void live(process))
  }
  await scheduler.run(() => over === contenders)
  handovers.sort((a, b) => a - b)
  const part = (share: number): string => (handovers[Math.floor(share * handovers.length)] ?? NaN).toFixed(1)
  const requests = [...counts.values()].reduce((sum, count) => sum + count, 0)
  console.log(
    `${way}: ${contenders} contenders, held for ${HOLD_MS} ms: hand-over p50 ${part(0.5)} ms, p99 ${part(0.99)} ms; ` +
      `${(requests / contenders / rounds).toFixed(1)} requests a grant, waits not counted (${[...counts].map(([name, count]) => `${name} ${count}`).join(', ')})`,
  )
}
