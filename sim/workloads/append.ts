// Lists that transactions append to and read: judged in the manner of Elle.
import { number, update } from '../actions.js'
import { judgeLists, type ListOperation, type ListTransaction } from '../check/elle.js'
import type { SimClient } from '../client.js'
import type { Image } from '../history.js'
import type { WriteDraft } from '../recorder.js'
import { type Judged, names, type Workload } from './workload.js'

const KEYS = names('list-', 6)
const KEYS_MAX = 4

export class AppendWorkload implements Workload {
  readonly #appends = new Map<string, readonly ListOperation[]>()
  readonly #reads: ListTransaction[] = []
  #next = 1

  async act(client: SimClient): Promise<void> {
    const { random } = client
    const id = client.nextId()
    const keys = random.sample(KEYS, random.between(1, KEYS_MAX))
    if (random.chance(0.4)) {
      const invokedAt = client.nowMicros
      const images = await client.read(id, keys)
      if (images === undefined) return
      const operations = keys.map((key, at) => ({ kind: 'read' as const, key, list: listOf(images[at]) }))
      this.#reads.push({ id, status: 'committed', invokedAt, completedAt: client.nowMicros, operations })
      return
    }
    const appends = keys.map((key) => ({ kind: 'append' as const, key, value: this.#next++ }))
    this.#appends.set(id, random.chance(0.1) ? appends.slice(0, 1) : appends)
    const requests = (this.#appends.get(id) as typeof appends).map(({ key, value }) =>
      update(key, id, {
        text: 'l = list_append(if_not_exists(l, :empty), :value)',
        values: { ':empty': { L: [] }, ':value': { L: [number(value)] } },
      }),
    )
    if (requests.length === 1 && random.chance(0.5)) await client.write(id, requests[0]!, false)
    else await client.transact(id, requests)
  }

  judge(final: ReadonlyMap<string, Image>, statusOf: ReadonlyMap<string, WriteDraft>): Judged {
    const writes = [...this.#appends].flatMap(([id, operations]): ListTransaction[] => {
      const draft = statusOf.get(id)
      if (draft === undefined) return []
      const { invokedAt, completedAt, status } = draft
      return [{ id, operations, invokedAt, completedAt, status: status === 'refused' ? 'aborted' : status }]
    })
    const lists = new Map(KEYS.map((key) => [key, listOf(final.get(key))]))
    return judgeLists([...writes, ...this.#reads], lists)
  }
}

function listOf(image: Image): readonly number[] {
  const list = image?.['l']
  return list !== undefined && 'L' in list ? list.L.map((each) => ('N' in each ? Number(each.N) : NaN)) : []
}
