// A few items that come and go, beside transactions that leave no trace: some only check whether an item is there, some
// delete one that should not be. What they were told must still be true after a crash, though nothing on a disk says so.
import { check, number, put, remove, type Request } from '../actions.js'
import type { SimClient } from '../client.js'
import { type Judged, names, type Workload } from './workload.js'

const ITEMS = names('there-', 4)
const CHANGES = 3
const CHECKS = 6
/** How long after the first of them. */
const MEANWHILE_MICROS = { min: 500, max: 40_000 }
const THERE = { text: 'attribute_exists(id)' }
const NOT_THERE = { text: 'attribute_not_exists(id)' }

export class ChecksWorkload implements Workload {
  async act(client: SimClient): Promise<void> {
    const { random } = client
    const item = random.pick(ITEMS)
    const meanwhile = async (act: () => Promise<unknown>): Promise<void> => {
      await client.sleep(random.skewed(MEANWHILE_MICROS.min, MEANWHILE_MICROS.max))
      await act()
    }
    await Promise.all([
      ...Array.from({ length: CHANGES }, () => meanwhile(() => change(client, item))),
      ...Array.from({ length: CHECKS }, () => meanwhile(() => look(client, item))),
    ])
  }

  /** What is true of every history says enough. */
  judge(): Judged {
    return { anomalies: [] }
  }
}

function change(client: SimClient, item: string): Promise<unknown> {
  const { random } = client
  const id = client.nextId()
  const request = random.chance(0.5) ? put(item, id, { n: number(random.below(10)) }) : remove(item)
  return random.chance(0.5) ? client.write(id, request, false) : client.transact(id, [request])
}

function look(client: SimClient, item: string): Promise<unknown> {
  return client.transact(client.nextId(), [lookAt(client, item)])
}

function lookAt({ random }: SimClient, item: string): Request {
  switch (random.below(3)) {
    case 0:
      return check(item, THERE)
    case 1:
      return check(item, NOT_THERE)
    default:
      return remove(item, NOT_THERE)
  }
}
