// Every request of a commit goes wrong once in every way, alone and with somebody else at work on the same items or on
// the same transaction. Afterwards: all or nothing, no lock left after a sweep, and the caller was told the truth.
// All requests of one fault go wrong at the same time, each in a transaction of its own on items of its own. Where a request
// is slow, the quick size tries some of them for each fault, not the same ones for all.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Endpoint } from '../../../src/toolkit/endpoint/endpoint.js'
import { ConditionFailed, Conflict, OutcomeUnknown } from '../../../src/toolkit/endpoint/errors.js'
import type { IntentsOptions } from '../../../src/toolkit/intents/intents-protocol.js'
import { INTENT } from '../../../src/toolkit/intents/protocol/records.js'
import type { Transactor, UnitOfWork } from '../../../src/toolkit/unit/transactor.js'
import { sized } from '../../support/sizes.js'
import {
  dynalitePlace,
  dynamoDbLocal,
  intentsTransactor,
  localFolder,
  type Place,
  seriatim,
} from './endpoints.js'
import { type EndpointFault, FAULTS, faultyEndpoint } from './faulty-endpoint.js'

const TABLE = 'Things'
const PATIENCE = {
  graceMs: 10,
  waitMs: 200,
  stalledMs: 60,
  detachedMs: 200,
  keepMs: 60_000,
  pollMs: 2,
  pollMaxMs: 10,
}
const SETTINGS: IntentsOptions = { always: true, patience: PATIENCE }
const ONCE = { retry: { limit: 0 } }
const MANY = { retry: { limit: 50, backoffMs: () => Math.random() * 20 } }

type Answer = 'committed' | 'refused' | 'unknown'

const HOW = ['alone', 'raced', 'resumed'] as const
type How = (typeof HOW)[number]

const SENTENCES: Readonly<Record<How, string>> = {
  alone: 'nobody else around',
  raced: 'while others work on the same items',
  resumed: 'of one that another coordinator goes on with',
}

/** Each with the distance between the requests that go wrong. */
const PLACES: readonly (readonly [string, () => Promise<Place>, number])[] = [
  ['Seriatim', seriatim, sized(6, 1)],
  ['dynalite', dynalitePlace, sized(12, 1)],
  ...(localFolder === undefined ? [] : [['DynamoDB Local', dynamoDbLocal, sized(24, 1)] as const]),
]
if (localFolder === undefined)
  test(
    'intents on DynamoDB Local: any request goes wrong',
    { skip: 'DYNAMODB_LOCAL names no folder' },
    () => undefined,
  )

for (const [name, place, step] of PLACES) {
  describe(`intents on ${name}`, () => {
    let opened: Place
    let sweeper: Transactor
    let run = 0

    before(async () => {
      opened = await place()
      await opened.endpoint.call('CreateTable', {
        TableName: TABLE,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
        KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      })
      sweeper = intentsTransactor(opened.endpoint, SETTINGS)
      await sweeper.setup()
      await untilActive(opened.endpoint)
    })
    after(() => opened.close())

    for (const [faultAt, fault] of FAULTS.entries()) {
      for (const [howAt, how] of HOW.entries()) {
        test(`any request ${fault}, ${SENTENCES[how]}`, async (context) => {
          const requests = await requestsOf(how)
          assert.ok(requests >= 10, `only ${requests} requests`)
          const tried = chosen(requests, step, faultAt * HOW.length + howAt)
          const trials = await Promise.all(tried.map((k) => trial(fault, k, how)))
          await swept(`${fault}, ${how}`)
          for (const one of trials) await judge(one)
          context.diagnostic(`${trials.length} cases`)
          const told = new Set(trials.map(({ answer }) => answer))
          if (how === 'alone')
            // One request that goes wrong keeps nobody from committing.
            assert.equal(told.has('refused') || told.has('unknown'), fault === 'is cut off', [...told].join())
        })
      }
    }

    interface Trial {
      readonly label: string
      readonly ids: readonly string[]
      readonly answer: Answer
      readonly raced: number
    }

    async function trial(fault: EndpointFault, k: number, how: How): Promise<Trial> {
      const label = `${fault}, request ${k}, ${how}`
      const ids = await given()
      const faulty = faultyEndpoint(opened.endpoint, fault, k)
      const others = how === 'raced' ? race(ids) : Promise.resolve(0)
      let answer: Answer
      if (how === 'resumed') {
        const { id, ended } = await detachAndCommit(faulty, ids)
        const [first, second] = await Promise.all([ended, id === undefined ? 'refused' : goOn(id)])
        answer =
          first === 'committed' || second === 'committed'
            ? 'committed'
            : first === 'unknown' || second === 'unknown'
              ? 'unknown'
              : 'refused'
      } else {
        answer = await commit(faulty, ids)
      }
      const raced = await others
      await faulty.arrive()
      return { label, ids, answer, raced }
    }

    async function judge({ label, ids, answer, raced }: Trial): Promise<void> {
      const things = await Promise.all(ids.map((id) => read(id)))
      const effects = [things[0]?.['taken'] === true, things[1] === undefined, things[2]?.['made'] === true]
      assert.ok(
        effects.every((effect) => effect === effects[0]),
        `${label}: half of it: ${JSON.stringify(things)}`,
      )
      if (answer !== 'unknown')
        assert.equal(effects[0], answer === 'committed', `${label}: was told ${answer}`)
      assert.equal(things[0]?.['n'], raced, `${label}: of the others, ${raced} were committed`)
    }

    /** Three items that nobody else has: one to be changed, one to be deleted, one to be inserted. */
    async function given(): Promise<string[]> {
      const ids = ['changed', 'deleted', 'made'].map((word) => `${word}-${++run}`)
      await sweeper.transact((tx) => {
        tx.put(TABLE, { id: ids[0], n: 0 })
        tx.put(TABLE, { id: ids[1] })
      })
      await sweeper.idle()
      return ids
    }

    const unit =
      ([changed, deleted, made]: readonly string[]) =>
      async (tx: Pick<UnitOfWork, 'get' | 'update' | 'delete' | 'put' | 'check'>): Promise<void> => {
        await tx.get(TABLE, { id: changed })
        await tx.get(TABLE, { id: deleted })
        tx.update(TABLE, { id: changed }, { set: { taken: true } })
        tx.delete(TABLE, { id: deleted })
        tx.put(TABLE, { id: made, made: true })
        tx.check(TABLE, { id: `no ${made}` }, { expression: 'attribute_not_exists(id)' })
      }

    async function commit(endpoint: Endpoint, ids: readonly string[]): Promise<Answer> {
      const t = intentsTransactor(endpoint, SETTINGS)
      const answer = await answerOf(t.transact(unit(ids), ONCE))
      await t.idle()
      return answer
    }

    async function detachAndCommit(
      endpoint: Endpoint,
      ids: readonly string[],
    ): Promise<{ readonly id?: string; readonly ended: Promise<Answer> }> {
      const t = intentsTransactor(endpoint, SETTINGS)
      try {
        const handle = await t.begin()
        await unit(ids)(handle)
        const id = await handle.detach()
        const ended = t
          .resume(id)
          .then(
            (resumed) => answerOf(resumed.commit()),
            () => 'unknown' as const,
          )
          .then(async (answer) => {
            await t.idle()
            return answer
          })
        return { id, ended }
      } catch {
        return { ended: Promise.resolve('unknown') }
      }
    }

    async function goOn(id: string): Promise<Answer> {
      const t = intentsTransactor(opened.endpoint, SETTINGS)
      const answer = await t.resume(id).then(
        (handle) => answerOf(handle.commit()),
        () => 'unknown' as const,
      )
      await t.idle()
      return answer
    }

    /** Counts on the first item; says how many times. */
    async function race(ids: readonly string[]): Promise<number> {
      const t = intentsTransactor(opened.endpoint, SETTINGS)
      let committed = 0
      for (let turn = 0; turn < 3; turn++) {
        const add = t.transact((tx) => tx.update(TABLE, { id: ids[0] }, { add: { n: 1 } }), MANY)
        if ((await answerOf(add)) === 'committed') committed++
      }
      await t.idle()
      return committed
    }

    /** Of a unit at which nothing goes wrong. */
    async function requestsOf(how: How): Promise<number> {
      const counted = faultyEndpoint(opened.endpoint, 'fails', Infinity)
      const ids = await given()
      if (how === 'resumed') await (await detachAndCommit(counted, ids)).ended
      else await commit(counted, ids)
      return counted.sent
    }

    async function read(id: string): Promise<Record<string, unknown> | undefined> {
      return sweeper.transact((tx) => tx.get(TABLE, { id }))
    }

    /** Sweeps until there is nothing to sweep. */
    async function swept(label: string): Promise<void> {
      for (let rounds = 0; rounds < 200; rounds++) {
        await sweeper.sweep({ tables: [TABLE] })
        if ((await locksLeft()) === 0) return
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      assert.fail(`${label}: a lock was left`)
    }

    async function locksLeft(): Promise<number> {
      const { Items } = await opened.endpoint.call('Scan', {
        TableName: TABLE,
        ConsistentRead: true,
        FilterExpression: `attribute_exists(${INTENT})`,
      })
      return Items?.length ?? 0
    }
  })
}

/** The first of so many requests, and from a place that turns with `turn` on every `step`th. */
function chosen(requests: number, step: number, turn: number): number[] {
  const all = Array.from({ length: requests }, (_, at) => at + 1)
  return all.filter((k) => k === 1 || (k - turn) % step === 0)
}

async function answerOf(unit: Promise<unknown>): Promise<Answer> {
  try {
    await unit
    return 'committed'
  } catch (error) {
    if (error instanceof OutcomeUnknown) return 'unknown'
    // Whatever else was said: nothing was decided.
    assert.ok(error instanceof Error)
    if (!(error instanceof Conflict || error instanceof ConditionFailed))
      assert.match(error.message, /answer|hang up/)
    return 'refused'
  }
}

async function untilActive(endpoint: Endpoint): Promise<void> {
  for (let rounds = 0; rounds < 500; rounds++) {
    const { Table } = await endpoint.call('DescribeTable', { TableName: TABLE })
    if (Table?.TableStatus === 'ACTIVE') return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
