// A few items that are looked at and raised alone while a transaction raises them too: a look falls between any two steps
// of those who write, and what it saw must still be true after a crash.
import { number, update, type Request } from '../actions.js'
import type { SimClient } from '../client.js'
import { type Judged, names, type Workload } from './workload.js'

const ITEMS = names('seen-', 6)
const RAISES = 3
const LOOKS = 8
/** How long after the transaction has begun. */
const MEANWHILE_MICROS = { min: 500, max: 60_000 }

export class LooksWorkload implements Workload {
  async act(client: SimClient): Promise<void> {
    const { random } = client
    const items = random.sample(ITEMS, 2)
    const meanwhile = async (act: (item: string) => Promise<unknown>): Promise<void> => {
      await client.sleep(random.skewed(MEANWHILE_MICROS.min, MEANWHILE_MICROS.max))
      await act(random.pick(items))
    }
    await Promise.all([
      random.chance(0.1) ? client.read(client.nextId(), items) : transact(client, items),
      ...Array.from({ length: RAISES }, () => meanwhile((item) => raiseAlone(client, item))),
      ...Array.from({ length: LOOKS }, () => meanwhile((item) => client.get(client.nextId(), item))),
    ])
  }

  /** What is true of every history says enough. */
  judge(): Judged {
    return { anomalies: [] }
  }
}

function transact(client: SimClient, items: readonly string[]): Promise<unknown> {
  const id = client.nextId()
  return client.transact(
    id,
    items.map((item) => raise(client, item, id)),
  )
}

function raiseAlone(client: SimClient, item: string): Promise<unknown> {
  const id = client.nextId()
  return client.write(id, raise(client, item, id), client.random.chance(0.2))
}

const raise = ({ random }: SimClient, item: string, id: string): Request =>
  update(item, id, {
    text: 'n = if_not_exists(n, :zero) + :by',
    values: { ':zero': number(0), ':by': number(random.between(1, 3)) },
  })
