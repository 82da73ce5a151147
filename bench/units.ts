// Units of work against what one would do without them, on one store in this process.
//
//   money      64 clients move money between 2 of 1,000 accounts: transact(), against two GetItems and one
//              TransactWriteItems with conditions on what was read, tried again until it succeeds
//   readers    8 clients read 10 items in a snapshot, beside 32 writers on the same items and on other items
//   sdk        the money of `money` through store.transactor(), and through transactor(store.client())
//
//   node dist/bench/units.js [--rounds 5] [--seconds 1] [--nodes 1] [--path DIR] [money] [readers] [sdk]
//
// A and B take turns, because the machine has other things to do; what counts is the CPU time of a unit.
import { parseArgs } from 'node:util'
import { open, type Store } from '../src/store.js'
import { transactor } from '../src/toolkit/index.js'
import type { OutcomeInfo, Transactor } from '../src/toolkit/transactor.js'

const { values, positionals } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '1' },
    nodes: { type: 'string', default: '1' },
    path: { type: 'string' },
  },
  allowPositionals: true,
})
const ROUNDS = Number(values.rounds)
const MILLISECONDS = Number(values.seconds) * 1000
const ACCOUNTS = 1000
const CLIENTS = 64
const TableName = 'Accounts'

type Client = (random: () => number) => Promise<void>

interface Sample {
  readonly units: number
  readonly unitsPerSecond: number
  readonly cpuMicros: number
  readonly retries: number
}

const wanted = (name: string): boolean => positionals.length === 0 || positionals.includes(name)

const nodes = Number(values.nodes)
await using store = await open(
  values.path === undefined ? { memory: true, nodes } : { path: values.path, nodes },
)
await store.call('CreateTable', {
  TableName,
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
})
const id = (number: number): string => `account-${String(number).padStart(6, '0')}`
for (let number = 0; number < ACCOUNTS * 2; number++)
  await store.call('PutItem', { TableName, Item: { id: { S: id(number) }, balance: { N: '1000' } } })

let retries = 0
const count = ({ attempts }: OutcomeInfo): void => {
  retries += attempts - 1
}
const patient = { retry: { limit: 1000 }, onOutcome: count }

if (wanted('money')) {
  const unit = moneyUnits(store.transactor(patient))
  await report('64 clients, money between 2 of 1,000 accounts', {
    'store.transactor().transact()': () => run(CLIENTS, unit),
    'GetItem twice, TransactWriteItems': () => run(CLIENTS, moneyByHand(store)),
  })
}
if (wanted('sdk')) {
  await report('the same unit, 64 clients, without and with the SDK', {
    'store.transactor()': () => run(CLIENTS, moneyUnits(store.transactor(patient))),
    'transactor(store.client())': () => run(CLIENTS, moneyUnits(transactor(store.client(), patient))),
  })
}
if (wanted('readers')) {
  const t = store.transactor(patient)
  await report('8 snapshot readers of 10 items, beside 32 writers', {
    'writers on other items': () => run(8, readers(t, 10), { count: 32, client: writers(store, 500, 10) }),
    'writers on the same items': () => run(8, readers(t, 10), { count: 32, client: writers(store, 0, 10) }),
  })
}

function moneyUnits(t: Transactor): Client {
  return async (random) => {
    const from = Math.floor(random() * ACCOUNTS)
    const to = (from + 1 + Math.floor(random() * (ACCOUNTS - 1))) % ACCOUNTS
    await t.transact(async (tx) => {
      const [payer, payee] = await tx.getAll(TableName, [{ id: id(from) }, { id: id(to) }])
      if (payer === undefined || payee === undefined || payer['balance'] < 1) return
      tx.update(TableName, { id: id(from) }, { set: { balance: payer['balance'] - 1 } })
      tx.update(TableName, { id: id(to) }, { set: { balance: payee['balance'] + 1 } })
    })
  }
}

function moneyByHand({ call }: Pick<Store, 'call'>): Client {
  const send = call.bind(store)
  return async (random) => {
    const from = Math.floor(random() * ACCOUNTS)
    const to = (from + 1 + Math.floor(random() * (ACCOUNTS - 1))) % ACCOUNTS
    for (;;) {
      const [payer, payee] = await Promise.all(
        [from, to].map(async (number) => {
          const { Item } = await send('GetItem', {
            TableName,
            Key: { id: { S: id(number) } },
            ConsistentRead: true,
          })
          return Number(Item?.['balance']?.N)
        }),
      )
      if (payer! < 1) return
      try {
        await send('TransactWriteItems', {
          TransactItems: [update(from, payer!, payer! - 1), update(to, payee!, payee! + 1)],
        })
        return
      } catch (error) {
        if ((error as Error).name !== 'TransactionCanceledException') throw error
        retries++
      }
    }
  }
}

function update(number: number, before: number, after: number) {
  return {
    Update: {
      TableName,
      Key: { id: { S: id(number) } },
      UpdateExpression: 'SET balance = :after',
      ConditionExpression: 'balance = :before',
      ExpressionAttributeValues: { ':before': { N: String(before) }, ':after': { N: String(after) } },
    },
  }
}

function readers(t: Transactor, items: number): Client {
  const keys = Array.from({ length: items }, (_, number) => ({ id: id(number) }))
  return async () => {
    await t.transact((tx) => tx.getAll(TableName, keys), { isolation: 'snapshot' })
  }
}

function writers({ call }: Pick<Store, 'call'>, first: number, items: number): Client {
  const send = call.bind(store)
  return async (random) => {
    const number = first + Math.floor(random() * items)
    const balance = { N: String(Math.floor(random() * 1000)) }
    await send('PutItem', { TableName, Item: { id: { S: id(number) }, balance } })
  }
}

/** Clients one after the other request, as many at once as there are; beside them others, who are not counted. */
async function run(
  clients: number,
  client: Client,
  beside?: { count: number; client: Client },
): Promise<Sample> {
  const { random } = Math
  let units = 0
  retries = 0
  const cpu = process.cpuUsage()
  const begun = performance.now()
  const loop = async (one: Client, done: () => void): Promise<void> => {
    while (performance.now() - begun < MILLISECONDS) {
      await one(random)
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
  return { units, unitsPerSecond: units / seconds, cpuMicros: (user + system) / units, retries }
}

async function report(title: string, ways: Record<string, () => Promise<Sample>>): Promise<void> {
  const samples = new Map(Object.keys(ways).map((name) => [name, [] as Sample[]]))
  for (const way of Object.values(ways)) await way()
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, way] of Object.entries(ways)) samples.get(name)!.push(await way())
  console.log(`${title}\n`)
  const medians: number[] = []
  for (const [name, all] of samples) {
    const middle = (of: (sample: Sample) => number): number =>
      all.map(of).toSorted((a, b) => a - b)[Math.floor(all.length / 2)]!
    const cpu = middle((sample) => sample.cpuMicros)
    medians.push(cpu)
    const rate = Math.round(middle((sample) => sample.unitsPerSecond))
    const again = (100 * middle((sample) => sample.retries / sample.units) || 0).toFixed(2)
    console.log(
      `  ${name.padEnd(36)} ${String(rate).padStart(7)} units/s  ${cpu.toFixed(0).padStart(5)} us CPU  ${again} % tried again`,
    )
  }
  console.log(`\n  second / first by CPU: ${(medians[1]! / medians[0]!).toFixed(2)}\n`)
}
