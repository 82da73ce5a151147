// The fate of a unit by its id: never a wrong one, also where no record was needed.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { OutcomeUnknown } from '../../../src/toolkit/endpoint/errors.js'
import type { OutcomeInfo, Transactor } from '../../../src/toolkit/unit/transactor.js'
import { dynalitePlace, foreign, intentsTransactor, type Place, seriatim } from './endpoints.js'

const TABLE = 'Things'
const PATIENCE = { graceMs: 10, waitMs: 100, stalledMs: 30, pollMs: 2, pollMaxMs: 10 }

for (const [name, place] of [
  ['Seriatim', seriatim],
  ['dynalite', dynalitePlace],
] as const) {
  describe(`outcome on ${name}`, () => {
    let opened: Place
    let t: Transactor
    const outcomes: OutcomeInfo[] = []
    before(async () => {
      opened = await place()
      await opened.endpoint.call('CreateTable', {
        TableName: TABLE,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
        KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      })
      const onOutcome = (info: OutcomeInfo): void => void outcomes.push(info)
      t = intentsTransactor(opened.endpoint, { patience: PATIENCE }, { onOutcome })
      await t.setup()
      for (let rounds = 0; rounds < 500; rounds++) {
        const { Table } = await opened.endpoint.call('DescribeTable', { TableName: TABLE })
        if (Table?.TableStatus === 'ACTIVE') break
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    })
    after(async () => {
      await t.idle()
      await opened.close()
    })

    const lastOutcome = (): OutcomeInfo => outcomes.at(-1)!

    test('committed by intents: committed; in a way that needs no record: unknown', async () => {
      await t.transact((tx) => tx.put(TABLE, { id: 'one' }))
      await t.transact(async (tx) =>
        tx.put(TABLE, { ...(await tx.get(TABLE, { id: 'one' })), id: 'one', n: 1 }),
      )
      assert.equal(lastOutcome().protocol, 'single')
      assert.equal(await t.outcome(lastOutcome().id), 'unknown')

      await t.transact((tx) => ['one', 'two'].forEach((id) => tx.put(TABLE, { id })))
      const { protocol } = lastOutcome()
      assert.equal(protocol, name === 'Seriatim' ? 'transact' : 'intents')
      assert.equal(await t.outcome(lastOutcome().id), protocol === 'intents' ? 'committed' : 'unknown')

      await t.transact((tx) => tx.get(TABLE, { id: 'one' }))
      assert.equal(lastOutcome().protocol, 'read-only')
      assert.equal(await t.outcome(lastOutcome().id), 'unknown')

      const many = Array.from({ length: 101 }, (_, at) => `many ${at}`)
      await t.transact((tx) => many.forEach((id) => tx.put(TABLE, { id })))
      assert.equal(lastOutcome().protocol, 'intents')
      assert.equal(await t.outcome(lastOutcome().id), 'committed')
    })

    test('a unit is not called cancelled because one of its attempts was', async () => {
      // No transaction has written it, so that the first attempt goes by intents.
      await opened.endpoint.call('PutItem', { TableName: TABLE, Item: { id: { S: 'bare' }, n: { N: '0' } } })
      let attempts = 0
      await t.transact(async (tx) => {
        const item = await tx.get(TABLE, { id: 'bare' })
        if (++attempts === 1) await t.transact((other) => other.put(TABLE, { id: 'bare', n: 5 }))
        tx.put(TABLE, { id: 'bare', n: (item?.['n'] as number) + 1 })
      })
      const { id, protocol } = lastOutcome()
      assert.deepEqual([attempts, protocol], [2, 'single'])
      assert.equal(await t.outcome(`${id}.1`), 'cancelled')
      assert.equal(await t.outcome(id), 'unknown')
    })

    test('a later attempt that was committed by intents is found, whatever the earlier ones left', async () => {
      const always = intentsTransactor(
        opened.endpoint,
        { patience: PATIENCE, always: true },
        { onOutcome: (info) => outcomes.push(info) },
      )
      await t.transact((tx) => tx.put(TABLE, { id: 'late', n: 0 }))
      let attempts = 0
      await always.transact(async (tx) => {
        const item = await tx.get(TABLE, { id: 'late' })
        await tx.get(TABLE, { id: 'other' })
        if (++attempts < 3) {
          await t.transact((other) => other.update(TABLE, { id: 'late' }, { add: { n: 10 } }))
          // The second attempt gives up before it has a record.
          if (attempts === 2) throw new Error('confused by what it read')
        }
        tx.put(TABLE, { id: 'late', n: (item?.['n'] as number) + 1 })
      })
      await always.idle()
      assert.equal(attempts, 3)
      assert.equal(await t.outcome(lastOutcome().id), 'committed')
    })

    test('OutcomeUnknown names the attempt, whose fate is known once somebody has swept', async () => {
      for (const arrives of [true, false]) {
        const cut = foreign({
          call: async (operation, input, options) => {
            const { UpdateExpression: update } = input as { UpdateExpression?: string }
            if (update?.startsWith('SET #state') !== true)
              return opened.endpoint.call(operation, input, options)
            if (arrives && update.includes(':committed'))
              await opened.endpoint.call(operation, input, options).catch(() => undefined)
            throw new Error('socket hang up')
          },
        })
        const dying = intentsTransactor(cut, { patience: PATIENCE, always: true })
        const ids = [`unsure ${String(arrives)}`, `sure ${String(arrives)}`]
        const unit = dying.transact((tx) => ids.forEach((id) => tx.put(TABLE, { id })))
        const error = await unit.then(
          () => assert.fail('it was told more than anybody could know'),
          (reason: unknown) => reason,
        )
        assert.ok(error instanceof OutcomeUnknown, String(error))
        assert.match(error.id, /\.1$/)
        for (let rounds = 0; (await t.outcome(error.id)) === 'pending'; rounds++) {
          assert.ok(rounds < 500, 'it is still pending')
          await t.sweep({ tables: [TABLE] })
          await new Promise((resolve) => setTimeout(resolve, 10))
        }
        assert.equal(await t.outcome(error.id), arrives ? 'committed' : 'cancelled')
        const found = await t.transact((tx) =>
          tx.getAll(
            TABLE,
            ids.map((id) => ({ id })),
          ),
        )
        assert.equal(found.filter((item) => item !== undefined).length, arrives ? 2 : 0)
      }
    })

    test('a unit of a handle is cancelled for good when it was rolled back', async () => {
      const handle = await t.begin()
      await handle.get(TABLE, { id: 'held' }, { lock: true })
      assert.equal(await t.outcome(handle.id), 'pending')
      await handle.rollback()
      assert.equal(await t.outcome(handle.id), 'cancelled')
      assert.equal(await t.outcome('nobody'), 'unknown')
    })

    test('locks beyond what a header holds are written down beside it, and given back', async () => {
      const keys = Array.from({ length: 12 }, (_, at) => ({ id: `${String(at)}${'k'.repeat(900)}` }))
      for (const end of ['commit', 'rollback'] as const) {
        const handle = await t.begin()
        for (const key of keys) await handle.get(TABLE, key, { lock: true })
        handle.put(TABLE, { ...keys[0]!, end })
        const resumed = await t.resume(await handle.detach())
        await resumed[end]()
        await t.idle()
        assert.equal(await t.outcome(handle.id), end === 'commit' ? 'committed' : 'cancelled')
        const { Items } = await opened.endpoint.call('Scan', { TableName: TABLE, ConsistentRead: true })
        const left = (Items ?? []).filter(({ id }) => id?.S?.endsWith('kkk') === true)
        assert.deepEqual(
          left.map((item) => [item['end']?.S, item['seriatimIntent']]),
          [['commit', undefined]],
        )
      }
    })
  })
}
