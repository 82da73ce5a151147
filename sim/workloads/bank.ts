// Transfers between accounts, each under the condition that the money is there.
import { check, number, put, update } from '../actions.js'
import { type BankRead, judgeBank } from '../check/bank.js'
import type { SimClient } from '../client.js'
import type { Image } from '../history.js'
import { type Judged, names, type Workload } from './workload.js'

const ACCOUNTS = names('account-', 8)
const OPENING = 20
const OPENING_TRIES_MAX = 100

export class BankWorkload implements Workload {
  readonly #reads: BankRead[] = []

  async setUp(client: SimClient): Promise<void> {
    for (const account of ACCOUNTS) await open(client, account)
  }

  async act(client: SimClient): Promise<void> {
    const { random } = client
    const id = client.nextId()
    if (random.chance(0.25)) {
      const images = await client.read(id, ACCOUNTS)
      if (images !== undefined) this.#reads.push(readOf(id, images))
      return
    }
    if (random.chance(0.1)) {
      await client.get(id, random.pick(ACCOUNTS))
      return
    }
    const [from, to, witness] = random.sample(ACCOUNTS, 3) as [string, string, string]
    const values = { ':m': number(random.between(1, 15)) }
    const requests = [
      update(from, id, { text: 'b = b - :m', values }, { text: 'b >= :m', values }),
      update(to, id, { text: 'b = b + :m', values }),
      ...(random.chance(0.2) ? [check(witness, { text: 'b >= :z', values: { ':z': number(0) } })] : []),
    ]
    await client.transact(id, requests, random.chance(0.3) ? { again: false } : undefined)
  }

  judge(final: ReadonlyMap<string, Image>): Judged {
    const last = readOf(
      'the final state',
      ACCOUNTS.map((account) => final.get(account)),
    )
    return { anomalies: judgeBank([...this.#reads, last], ACCOUNTS.length * OPENING) }
  }
}

/** Again and again: a node on a slow disk may still be starting. */
async function open(client: SimClient, account: string): Promise<void> {
  for (let attempt = 0; attempt < OPENING_TRIES_MAX; attempt++) {
    const id = client.nextId()
    const { status } = await client.write(id, put(account, id, { b: number(OPENING) }), false)
    if (status === 'committed') return
  }
  throw new Error(`${account} could not be opened`)
}

function readOf(id: string, images: readonly Image[]): BankRead {
  const balances = ACCOUNTS.map((account, at) => {
    const balance = images[at]?.['b']
    return [account, balance !== undefined && 'N' in balance ? Number(balance.N) : undefined] as const
  })
  return { id, balances: new Map(balances) }
}
