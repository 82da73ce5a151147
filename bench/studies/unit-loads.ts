// What units.ts measures: the money of 64 clients in several ways, and the loop that measures them.
import {
  type CreateTableCommandInput,
  type DynamoDBClient,
  GetItemCommand,
  TransactWriteItemsCommand,
  type TransactWriteItemsCommandInput,
} from '@aws-sdk/client-dynamodb'
import type { Store } from '../../src/store/store.js'
import type { Transactor } from '../../src/toolkit/unit/transactor.js'

export const ACCOUNTS = 1000
export const TableName = 'Accounts'

/** One unit of work. */
export type Client = () => Promise<void>

export interface Sample {
  readonly units: number
  readonly unitsPerSecond: number
  readonly cpuMicros: number
  readonly retries: number
}

export const id = (number: number): string => `account-${String(number).padStart(6, '0')}`

export const table: CreateTableCommandInput = {
  TableName,
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
}

/** Attempts beyond the first, of all ways: counted anew for each sample. */
export const again = { count: 0 }

export function moneyUnits(t: Transactor): Client {
  return async () => {
    const [from, to] = twoAccounts()
    await t.transact(async (tx) => {
      const [payer, payee] = await tx.getAll(TableName, [{ id: id(from) }, { id: id(to) }])
      if (payer === undefined || payee === undefined || payer['balance'] < 1) return
      tx.update(TableName, { id: id(from) }, { set: { balance: payer['balance'] - 1 } })
      tx.update(TableName, { id: id(to) }, { set: { balance: payee['balance'] + 1 } })
    })
  }
}

/** What a unit does, without one: read both, and write both on condition that they are as they were read. */
export function moneyByHand({ get, transact }: ByHand): Client {
  return async () => {
    const [from, to] = twoAccounts()
    for (;;) {
      const [payer, payee] = await Promise.all([get(from), get(to)])
      if (payer < 1) return
      try {
        await transact({ TransactItems: [update(from, payer, payer - 1), update(to, payee, payee + 1)] })
        return
      } catch (error) {
        if ((error as Error).name !== 'TransactionCanceledException') throw error
        again.count++
      }
    }
  }
}

interface ByHand {
  readonly get: (account: number) => Promise<number>
  readonly transact: (input: TransactWriteItemsCommandInput) => Promise<unknown>
}

const getInput = (account: number) => ({
  TableName,
  Key: { id: { S: id(account) } },
  ConsistentRead: true,
})

export const byCall = (store: Store): ByHand => ({
  get: async (account) => Number((await store.call('GetItem', getInput(account))).Item?.['balance']?.N),
  transact: (input) => store.call('TransactWriteItems', input),
})

export const bySdk = (client: DynamoDBClient): ByHand => ({
  get: async (account) =>
    Number((await client.send(new GetItemCommand(getInput(account)))).Item?.['balance']?.N),
  transact: (input) => client.send(new TransactWriteItemsCommand(input)),
})

function twoAccounts(): readonly [number, number] {
  const from = Math.floor(Math.random() * ACCOUNTS)
  return [from, (from + 1 + Math.floor(Math.random() * (ACCOUNTS - 1))) % ACCOUNTS]
}

const update = (number: number, before: number, after: number) => ({
  Update: {
    TableName,
    Key: { id: { S: id(number) } },
    UpdateExpression: 'SET balance = :after',
    ConditionExpression: 'balance = :before',
    ExpressionAttributeValues: { ':before': { N: String(before) }, ':after': { N: String(after) } },
  },
})

export interface RunOptions {
  readonly clients: number
  readonly milliseconds: number
  /** Others beside them, who are not counted. */
  readonly beside?: { readonly count: number; readonly client: Client }
  /** CPU of other processes so far, in microseconds. */
  readonly elsewhere?: () => number
}

/** Clients one request after the other, as many at once as there are. */
export async function run(client: Client, options: RunOptions): Promise<Sample> {
  const { clients, milliseconds, beside, elsewhere = () => 0 } = options
  let units = 0
  again.count = 0
  const cpu = process.cpuUsage()
  const others = elsewhere()
  const begun = performance.now()
  const loop = async (one: Client, done: () => void): Promise<void> => {
    while (performance.now() - begun < milliseconds) {
      await one()
      done()
      // Sockets and timers have their turn, too.
      if (units % 64 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
  }
  await Promise.all([
    ...Array.from({ length: clients }, () => loop(client, () => units++)),
    ...Array.from({ length: beside?.count ?? 0 }, () => loop(beside!.client, () => undefined)),
  ])
  const { user, system } = process.cpuUsage(cpu)
  const seconds = (performance.now() - begun) / 1000
  const cpuMicros = (user + system + elsewhere() - others) / units
  return { units, unitsPerSecond: units / seconds, cpuMicros, retries: again.count }
}

export interface ReportOptions {
  readonly rounds: number
  /** Until the machine has compiled what is measured. */
  readonly warmUps: number
}

/** The ways take turns, because the machine has other things to do. The least CPU is the least disturbed. */
export async function report(
  title: string,
  ways: Record<string, () => Promise<Sample>>,
  { rounds, warmUps }: ReportOptions,
): Promise<void> {
  const samples = new Map(Object.keys(ways).map((name) => [name, [] as Sample[]]))
  for (let round = 0; round < warmUps; round++) for (const way of Object.values(ways)) await way()
  for (let round = 0; round < rounds; round++)
    for (const [name, way] of Object.entries(ways)) samples.get(name)!.push(await way())
  console.log(`${title}\n`)
  const cpus: number[] = []
  const rates: number[] = []
  for (const [name, all] of samples) {
    const sorted = (of: (sample: Sample) => number): number[] => all.map(of).toSorted((a, b) => a - b)
    const middle = (of: (sample: Sample) => number): number => sorted(of)[Math.floor(all.length / 2)]!
    const cpu = middle((sample) => sample.cpuMicros)
    const least = sorted((sample) => sample.cpuMicros)[0]!
    const rate = middle((sample) => sample.unitsPerSecond)
    const most = sorted((sample) => sample.unitsPerSecond).at(-1)!
    cpus.push(least)
    rates.push(most)
    const retried = (100 * middle((sample) => sample.retries / sample.units) || 0).toFixed(2)
    console.log(
      `  ${name.padEnd(36)} ${rate.toFixed(0).padStart(7)} units/s (at most ${most.toFixed(0)})  ${cpu.toFixed(0).padStart(5)} us CPU (at least ${least.toFixed(0)})  ${retried} % tried again`,
    )
  }
  const ratio = ([first, second]: readonly number[]): string => (second! / first!).toFixed(2)
  console.log(`\n  second / first: least CPU ${ratio(cpus)}, highest rate ${ratio(rates)}\n`)
}
