// Everything at once: puts, deletes, updates and checks with and without conditions, alone and in transactions, over a
// few hot keys and many cold ones.
import { type Clause, type Request, check, number, put, remove, update } from '../actions.js'
import type { SimClient } from '../client.js'
import type { Random } from '../../src/runtime/seeded-random.js'
import { type Judged, names, type Workload } from './workload.js'

const HOT = names('hot-', 8)
const COLD = names('cold-', 200)
const ACTIONS_MAX = 6

export class MixedWorkload implements Workload {
  async act(client: SimClient): Promise<void> {
    const { random } = client
    const id = client.nextId()
    const kind = random.below(100)
    if (kind < 45) {
      const requests = keysOf(random).map((key) => requestOn(key, id, random, 'transaction'))
      await client.transact(id, requests, random.chance(0.2) ? { again: false } : undefined)
    } else if (kind < 65) {
      await client.read(id, keysOf(random))
    } else if (kind < 75) {
      await client.get(id, keyOf(random))
    } else {
      await client.write(id, requestOn(keyOf(random), id, random, 'single'), random.chance(0.4))
    }
  }

  judge(): Judged {
    return { anomalies: [] }
  }
}

const keyOf = (random: Random): string => random.pick(random.chance(0.7) ? HOT : COLD)

function keysOf(random: Random): readonly string[] {
  const count = random.between(1, ACTIONS_MAX)
  return [...new Set(Array.from({ length: count }, () => keyOf(random)))]
}

function requestOn(key: string, id: string, random: Random, kind: 'transaction' | 'single'): Request {
  const condition = random.chance(0.35) ? conditionOf(random) : undefined
  const choice = random.below(100)
  if (choice < 40) return put(key, id, { n: number(random.below(10)) }, condition)
  if (choice < 65) return update(key, id, setOf(random), condition)
  if (choice < 85 || kind === 'single') return remove(key, condition)
  return check(key, condition ?? conditionOf(random))
}

const setOf = (random: Random): Clause =>
  random.chance(0.8)
    ? {
        text: 'n = if_not_exists(n, :zero) + :by',
        values: { ':zero': number(0), ':by': number(random.between(-3, 5)) },
      }
    : // Impossible where there is no number.
      { text: 'm = n', values: {} }

function conditionOf(random: Random): Clause {
  switch (random.below(4)) {
    case 0:
      return { text: 'attribute_exists(id)' }
    case 1:
      return { text: 'attribute_not_exists(id)' }
    case 2:
      return { text: 'attribute_not_exists(id) OR n < :n', values: { ':n': number(random.between(4, 12)) } }
    default:
      return { text: 'n >= :n', values: { ':n': number(random.below(3)) } }
  }
}
