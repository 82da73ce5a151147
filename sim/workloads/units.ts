// Units of work: reads and queries at a snapshot, then writes, beside plain transactions and single writes on the same
// items.
import { add, type Clause, number, put, remove, type Request, update } from '../actions.js'
import type { SimClient } from '../client.js'
import type { Random } from '../../src/runtime/seeded-random.js'
import type { SimIsolation, SimRange, SimUnit } from '../unit.js'
import { type Judged, names, type Workload } from './workload.js'

/** Few, and in five partitions, so that units meet. */
const KEYS = names('unit-', 20)
const PARTITIONS = 5
/** Where locks are taken, and many write. */
const LOCKED = KEYS.slice(0, 3)
const PAUSE_MICROS = { min: 50, max: 30_000 }
const LOCK_PAUSE_MICROS_MAX = 200_000
const STEPS_MAX = 3

export class UnitsWorkload implements Workload {
  async act(client: SimClient): Promise<void> {
    const { random } = client
    const kind = random.below(100)
    if (kind < 15) return void (await client.write(...singleWrite(client)))
    if (kind < 30) {
      const id = client.nextId()
      const requests = keysOf(random, 3).map((key) => writeOn(key, id, random))
      return void (await client.transact(id, requests))
    }
    if (kind < 40) return underLock(client)
    await this.#unit(client, random.chance(0.6) ? 'serializable' : 'snapshot')
  }

  async #unit(client: SimClient, isolation: SimIsolation): Promise<void> {
    const { random } = client
    const unit = client.unit(isolation)
    for (let step = random.between(1, STEPS_MAX); step > 0; step--) {
      if (!(await readSomething(unit, random))) return unit.close()
      if (random.chance(0.5)) await client.sleep(random.skewed(PAUSE_MICROS.min, PAUSE_MICROS.max))
    }
    // A unit that writes nothing needs no commit.
    if (random.chance(0.75)) {
      const writes = keysOf(random, 3).map((key) => unitWriteOn(key, unit.id, random))
      await unit.commit(writes, random.chance(0.3) ? { again: random.chance(0.3) } : undefined)
    }
    if (random.chance(0.7)) await unit.close()
  }

  judge(): Judged {
    return { anomalies: [] }
  }
}

const keysOf = (random: Random, keysMax: number): readonly string[] =>
  random.sample(KEYS, random.between(1, keysMax))

function singleWrite(client: SimClient): [id: string, request: Request, answersImage: boolean] {
  const { random } = client
  const id = client.nextId()
  return [id, writeOn(random.pick(random.chance(0.5) ? LOCKED : KEYS), id, random), random.chance(0.3)]
}

/** Read and changed under an explicit lock, without validation. */
async function underLock(client: SimClient): Promise<void> {
  const { random } = client
  const unit = client.unit('read-committed')
  const name = random.pick(LOCKED)
  if ((await unit.get([name], { lock: true })) !== undefined) {
    await client.sleep(random.between(PAUSE_MICROS.min, LOCK_PAUSE_MICROS_MAX))
    await unit.commit([writeOn(name, unit.id, random)])
  }
  await unit.close()
}

async function readSomething(unit: SimUnit, random: Random): Promise<boolean> {
  if (random.chance(0.55)) return (await unit.get(keysOf(random, 3))) !== undefined
  return unit.range(random.chance(0.7) ? queryOf(random) : scanOf(random))
}

function queryOf(random: Random): SimRange {
  const partition = random.below(PARTITIONS)
  const keys = KEYS.filter((_, at) => at % PARTITIONS === partition)
  return { keys, partition: `unit-${partition}`, ...filterOf(random) }
}

const scanOf = (random: Random): SimRange => ({ keys: KEYS, ...filterOf(random) })

const filterOf = (random: Random): { readonly filter?: Clause } =>
  random.chance(0.7) ? { filter: { text: 'n >= :n', values: { ':n': number(random.between(1, 12)) } } } : {}

function writeOn(key: string, id: string, random: Random): Request {
  const choice = random.below(100)
  if (choice < 45) return put(key, id, { n: number(random.below(12)) })
  if (choice < 75)
    return update(key, id, {
      text: 'n = if_not_exists(n, :zero) + :by',
      values: { ':zero': number(0), ':by': number(random.between(1, 4)) },
    })
  return remove(key)
}

const unitWriteOn = (key: string, id: string, random: Random): Request =>
  random.chance(0.15) ? add(key, random.between(1, 3)) : writeOn(key, id, random)
