// Units of work against what one would do without them.
//
//   money      64 clients move money between 2 of 1,000 accounts: transact(), against two GetItems and one
//              TransactWriteItems with conditions on what was read, tried again until it succeeds
//   readers    8 clients read 10 items in a snapshot, beside 32 writers on the same items and on other items
//   sdk        the money of `money` through store.transactor(), and through transactor(store.client())
//   http       the money of `money` against `seriatim start`, both ways with the SDK; CPU of both processes
//
//   node dist/bench/studies/units.js [--rounds 5] [--seconds 1] [--warm-ups 2] [--nodes 1] [--path DIR] [money] [readers] [sdk] [http]
//
// The ways take turns, because the machine has other things to do.
import { parseArgs } from 'node:util'
import { CreateTableCommand, DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { startTarget } from '../targets/target.js'
import { open, type Store } from '../../src/store/store.js'
import { transactor } from '../../src/toolkit/index.js'
import type { OutcomeInfo, Transactor } from '../../src/toolkit/unit/transactor.js'
import * as load from './unit-loads.js'

const { values, positionals } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '1' },
    'warm-ups': { type: 'string', default: '2' },
    nodes: { type: 'string', default: '1' },
    path: { type: 'string' },
  },
  allowPositionals: true,
})
const milliseconds = Number(values.seconds) * 1000
const often = { rounds: Number(values.rounds), warmUps: Number(values['warm-ups']) }
const nodes = Number(values.nodes)
const CLIENTS = 64
const HTTP_ACCOUNTS_AT_ONCE = 50

const wanted = (name: string): boolean => positionals.length === 0 || positionals.includes(name)
const count = ({ attempts }: OutcomeInfo): void => {
  load.again.count += attempts - 1
}
const patient = { retry: { limit: 1000 }, onOutcome: count }
const sixtyFour = { clients: CLIENTS, milliseconds }

if (['money', 'sdk', 'readers'].some(wanted)) await inThisProcess()
if (wanted('http')) await overHttp()

async function inThisProcess(): Promise<void> {
  await using store = await open(
    values.path === undefined ? { memory: true, nodes } : { path: values.path, nodes },
  )
  await store.call('CreateTable', load.table)
  for (let number = 0; number < load.ACCOUNTS * 2; number++) await store.call('PutItem', account(number))
  const units = load.moneyUnits(store.transactor(patient))
  const where = values.path === undefined ? 'in memory' : 'on disk'

  if (wanted('money')) {
    const byHand = load.moneyByHand(load.byCall(store))
    await load.report(
      `64 clients, money between 2 of 1,000 accounts, ${where}`,
      {
        'store.transactor().transact()': () => load.run(units, sixtyFour),
        'GetItem twice, TransactWriteItems': () => load.run(byHand, sixtyFour),
      },
      often,
    )
  }
  if (wanted('sdk')) {
    const throughSdk = load.moneyUnits(transactor(store.client(), patient))
    await load.report(
      `the same unit, 64 clients, without and with the SDK, ${where}`,
      {
        'store.transactor()': () => load.run(units, sixtyFour),
        'transactor(store.client())': () => load.run(throughSdk, sixtyFour),
      },
      often,
    )
  }
  if (wanted('readers')) {
    const reading = readers(store.transactor(patient), 10)
    const beside = (first: number) => ({ count: 32, client: writers(store, first, 10) })
    await load.report(
      `8 snapshot readers of 10 items, beside 32 writers, ${where}`,
      {
        'writers on other items': () => load.run(reading, { clients: 8, milliseconds, beside: beside(500) }),
        'writers on the same items': () => load.run(reading, { clients: 8, milliseconds, beside: beside(0) }),
      },
      often,
    )
  }
}

/** A server of its own for the bench; with --path on disk, in a folder of its own. */
async function overHttp(): Promise<void> {
  const where = values.path === undefined ? 'memory' : 'disk'
  const server = await startTarget(`seriatim-${where}`)
  if ('missing' in server) throw new Error(server.missing)
  try {
    const client = new DynamoDBClient({
      endpoint: server.endpoint,
      region: 'local',
      credentials: { accessKeyId: 'bench', secretAccessKey: 'bench' },
      maxAttempts: 1,
    })
    await client.send(new CreateTableCommand(load.table))
    for (let first = 0; first < load.ACCOUNTS; first += HTTP_ACCOUNTS_AT_ONCE)
      await Promise.all(
        Array.from({ length: HTTP_ACCOUNTS_AT_ONCE }, (_, at) =>
          client.send(new PutItemCommand(account(first + at))),
        ),
      )
    const units = load.moneyUnits(transactor(client, patient))
    const byHand = load.moneyByHand(load.bySdk(client))
    const options = { ...sixtyFour, elsewhere: () => server.usage()?.cpuMicros ?? 0 }
    await load.report(
      `64 clients, money between 2 of 1,000 accounts, over HTTP with the SDK, ${where}`,
      {
        'transactor(client).transact()': () => load.run(units, options),
        'GetItem twice, TransactWriteItems': () => load.run(byHand, options),
      },
      often,
    )
    client.destroy()
  } finally {
    await server.stop()
  }
}

function account(number: number) {
  return { TableName: load.TableName, Item: { id: { S: load.id(number) }, balance: { N: '1000' } } }
}

function readers(t: Transactor, items: number): load.Client {
  const keys = Array.from({ length: items }, (_, number) => ({ id: load.id(number) }))
  return async () => {
    await t.transact((tx) => tx.getAll(load.TableName, keys), { isolation: 'snapshot' })
  }
}

function writers(store: Store, first: number, items: number): load.Client {
  return async () => {
    const number = first + Math.floor(Math.random() * items)
    const balance = { N: String(Math.floor(Math.random() * 1000)) }
    await store.call('PutItem', { TableName: load.TableName, Item: { id: { S: load.id(number) }, balance } })
  }
}
