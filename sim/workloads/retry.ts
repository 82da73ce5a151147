// Counters that clients raise under a token and raise again when the answer was lost, or when they feel like it: each
// request counts once.
import { number, put, update } from '../actions.js'
import type { SimClient } from '../client.js'
import type { Image } from '../history.js'
import type { WriteDraft } from '../recorder.js'
import { type Judged, names, type Workload } from './workload.js'

const COUNTERS = names('counter-', 10)

export class RetryWorkload implements Workload {
  readonly #raised = new Map<string, readonly string[]>()

  async act(client: SimClient): Promise<void> {
    const { random } = client
    const id = client.nextId()
    const counters = random.sample(COUNTERS, random.between(1, 3))
    if (random.chance(0.2)) {
      await client.read(id, counters)
      return
    }
    this.#raised.set(id, counters)
    const requests = counters.map((counter) =>
      update(counter, id, {
        text: 'n = if_not_exists(n, :zero) + :one',
        values: { ':zero': number(0), ':one': number(1) },
      }),
    )
    // A blind put beside them, so that not every node sees an update.
    if (random.chance(0.3)) requests.push(put(`note-${random.below(20)}`, id, {}))
    await client.transact(id, requests, { again: random.chance(0.3), misuse: random.chance(0.05) })
  }

  judge(final: ReadonlyMap<string, Image>, statusOf: ReadonlyMap<string, WriteDraft>): Judged {
    const expected = new Map<string, number>(COUNTERS.map((counter) => [counter, 0]))
    for (const [id, counters] of this.#raised) {
      if (statusOf.get(id)?.status !== 'committed') continue
      for (const counter of counters) expected.set(counter, expected.get(counter)! + 1)
    }
    const anomalies = [...expected].flatMap(([counter, count]) => {
      const n = final.get(counter)?.['n']
      const found = n !== undefined && 'N' in n ? Number(n.N) : 0
      return found === count
        ? []
        : [
            {
              kind: 'counter',
              explanation: `${counter} is ${found} in the end, but was raised ${count} times`,
            },
          ]
    })
    return { anomalies }
  }
}
