// What plain readers and writers see of transactions on any endpoint, and what they may do.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { MAIN } from '../../support/spawned-server.js'
import { open } from '../../../src/store/store.js'
import { RECORDS } from '../../../src/toolkit/intents/intents-protocol.js'
import { settled, unlocked, unversioned } from '../../../src/toolkit/index.js'
import type { Transactor } from '../../../src/toolkit/unit/transactor.js'
import { plainGet } from '../../suites/transactor.js'
import { dynalitePlace, foreign, intentsTransactor, type Place } from './endpoints.js'
import { faultyEndpoint } from './faulty-endpoint.js'

const TABLE = 'Things'

describe('plain clients beside transactions, on dynalite', () => {
  let place: Place & { readonly url?: string }
  let t: Transactor
  before(async () => {
    place = await dynalitePlace()
    await place.endpoint.call('CreateTable', {
      TableName: TABLE,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    })
    t = intentsTransactor(place.endpoint, { always: true, patience: { stalledMs: 50 } })
    await t.setup()
  })
  after(() => place.close())

  /** Stops just before the decision: the intents are there. */
  async function stopBeforeDecision(ids: readonly string[]): Promise<void> {
    const counting = faultyEndpoint(place.endpoint, 'fails', Infinity)
    let decision = Infinity
    const endpoint = {
      call: ((operation: never, input: never) => {
        const { UpdateExpression: update } = input as { UpdateExpression?: string }
        if (update?.startsWith('SET #state') === true) decision = 0
        return decision === 0 ? Promise.reject(new Error('socket hang up')) : counting.call(operation, input)
      }) as typeof counting.call,
    }
    const dying = intentsTransactor(endpoint, { always: true, patience: { stalledMs: 50 } })
    await assert.rejects(
      dying.transact((tx) => ids.forEach((id) => tx.put(TABLE, { id, n: 2 })), { retry: { limit: 0 } }),
    )
  }

  test('before the decision plain readers see what was committed, and can leave transient items out', async () => {
    await t.transact((tx) => tx.put(TABLE, { id: 'old', n: 1 }))
    await t.idle()
    await stopBeforeDecision(['old', 'new'])
    assert.equal((await plainGet(place.endpoint, TABLE, { id: 'old' }))?.['n'], 1)
    const { Items } = await place.endpoint.call('Scan', { TableName: TABLE, FilterExpression: settled })
    assert.deepEqual(
      Items?.map(({ id }) => id?.S),
      ['old'],
    )
    // A plain writer that asks is refused.
    const write = place.endpoint.call('PutItem', {
      TableName: TABLE,
      Item: { id: { S: 'old' }, n: { N: '7' } },
      ConditionExpression: unlocked,
    })
    await assert.rejects(write, { name: 'ConditionalCheckFailedException' })
    for (let rounds = 0; rounds < 100; rounds++) {
      await t.sweep({ tables: [TABLE] })
      const { Count } = await place.endpoint.call('Scan', {
        TableName: TABLE,
        FilterExpression: `NOT ${unlocked}`,
      })
      if (Count === 0) break
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    assert.equal(await plainGet(place.endpoint, TABLE, { id: 'new' }), undefined)
  })

  test('a plain update between read and commit is a conflict', async () => {
    await t.transact((tx) => tx.put(TABLE, { id: 'shared', n: 1 }))
    await t.idle()
    for (const forget of ['', unversioned]) {
      let attempts = 0
      await t.transact(async (tx) => {
        const item = await tx.get(TABLE, { id: 'shared' })
        if (++attempts === 1)
          await place.endpoint.call('UpdateItem', {
            TableName: TABLE,
            Key: { id: { S: 'shared' } },
            UpdateExpression: `ADD n :ten ${forget}`,
            ExpressionAttributeValues: { ':ten': { N: '10' } },
            ConditionExpression: unlocked,
          })
        tx.put(TABLE, { id: 'shared', n: (item?.['n'] as number) + 1 })
      })
      assert.equal(attempts, 2)
      await t.idle()
    }
    assert.equal((await plainGet(place.endpoint, TABLE, { id: 'shared' }))?.['n'], 23)
  })

  test('seriatim sweep finds what a dead process left', async () => {
    await using store = await open({ memory: true })
    const server = await store.listen({ port: 0 })
    const endpoint = foreign({ call: (operation, input) => store.call(operation, input) })
    await intentsTransactor(endpoint).setup()
    // A header that nobody works on, and that wants no patience.
    await store.call('PutItem', {
      TableName: RECORDS,
      Item: { id: { S: 'dead' }, part: { S: 'header' }, state: { S: 'pending' }, patienceMs: { N: '1' } },
    })
    const child = spawn(process.execPath, [
      MAIN,
      'sweep',
      '--endpoint',
      server.url,
      '--for',
      '1',
      '--every',
      '1',
    ])
    let said = ''
    child.stdout.on('data', (text: Buffer) => (said += text.toString()))
    const [code] = (await once(child, 'close')) as [number]
    assert.equal(code, 0)
    assert.equal(said, '0 finished, 1 rolled back, 0 without a record undone, 0 old records deleted\n')
    assert.equal(await intentsTransactor(endpoint).outcome('dead.1'), 'cancelled')
  })

  test('seriatim sweep says what it needs', () => {
    const run = spawnSync(process.execPath, [MAIN, 'sweep'], { encoding: 'utf8' })
    assert.equal(run.status, 2)
    assert.match(run.stderr, /--endpoint says where to sweep/)
  })
})
