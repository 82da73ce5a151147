// Units of work that one process begins and another one ends, on Seriatim.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { open, type Store } from '../../../src/store/store.js'
import { Conflict, transactor, UnitNotFound } from '../../../src/toolkit/index.js'
import type { Transactor } from '../../../src/toolkit/unit/transactor.js'

for (const [where, nodes, over] of [
  ['in this process', 1, 'process'],
  ['in this process, four nodes', 4, 'process'],
  ['over HTTP with the SDK', 1, 'http'],
] as const) {
  describe(`detached units ${where}`, () => {
    let store: Store
    let client: DynamoDBClient | undefined
    /** Another process would have a transactor of its own. */
    let newTransactor: () => Transactor
    before(async () => {
      store = await open({ memory: true, nodes })
      await store.call('CreateTable', {
        TableName: 'Accounts',
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
        KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      })
      const { url } = await store.listen({ port: 0 })
      const http = (client = new DynamoDBClient({
        endpoint: url,
        region: 'local',
        credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
      }))
      newTransactor = () => (over === 'http' ? transactor(http) : store.transactor())
    })
    after(async () => {
      client?.destroy()
      await store.close()
    })
    const balances = (): Promise<unknown[]> =>
      newTransactor().transact(async (tx) => {
        const items = await tx.getAll('Accounts', [{ id: 'alice' }, { id: 'bob' }])
        return items.map((item) => item?.['balance'])
      })
    const reset = (): Promise<void> =>
      newTransactor().transact((tx) => {
        for (const id of ['alice', 'bob']) tx.put('Accounts', { id, balance: 100 })
      })

    test('without its table, detaching says what to do', async () => {
      const handle = await newTransactor().begin()
      handle.update('Accounts', { id: 'bob' }, { add: { balance: 1 } })
      await assert.rejects(handle.detach(), /the table seriatim-units, which is not there: call setup\(\)/)
      await handle.rollback()
      await newTransactor().setup()
      await newTransactor().setup()
    })

    test('a read that is still under way is not left out of what is validated later: detaching is refused', async () => {
      await reset()
      const handle = await newTransactor().begin()
      const reading = handle.get('Accounts', { id: 'alice' })
      handle.put('Accounts', { id: 'bob', balance: 1 })
      await assert.rejects(handle.detach(), { name: 'TypeError', message: /alice.* was still under way/ })
      await reading
      const id = await handle.detach()
      await newTransactor().transact((tx) => tx.put('Accounts', { id: 'alice', balance: 0 }))
      await assert.rejects((await newTransactor().resume(id)).commit(), Conflict)
      await (await newTransactor().resume(id)).rollback()
    })

    test('somebody else adds to it and commits it, once, and its fate can be asked for', async () => {
      await reset()
      const handle = await newTransactor().begin()
      const alice = await handle.get('Accounts', { id: 'alice' })
      handle.update('Accounts', { id: 'alice' }, { set: { balance: alice!['balance'] - 30 } })
      const id = await handle.detach()
      assert.throws(() => handle.put('Accounts', { id: 'x' }), /has ended: it was detached; resume\(id\)/)
      assert.equal(await newTransactor().outcome(id), 'pending')
      assert.deepEqual(await balances(), [100, 100])

      const resumed = await newTransactor().resume(id)
      assert.deepEqual(await resumed.get('Accounts', { id: 'alice' }), { id: 'alice', balance: 70 })
      const bob = await resumed.get('Accounts', { id: 'bob' })
      resumed.update('Accounts', { id: 'bob' }, { set: { balance: bob!['balance'] + 30 } })
      const again = await resumed.detach()
      assert.equal(again, id)

      await (await newTransactor().resume(id)).commit()
      assert.deepEqual(await balances(), [70, 130])
      assert.equal(await newTransactor().outcome(id), 'committed')
      await assert.rejects(newTransactor().resume(id), /There is no detached unit of work/)
      const { Count } = await store.call('Scan', { TableName: 'seriatim-units' })
      assert.equal(Count, 0)
    })

    test('what it has read is validated when it is committed, and a range, too', async () => {
      await reset()
      const begun = await newTransactor().begin()
      await begun.get('Accounts', { id: 'alice' })
      begun.update('Accounts', { id: 'bob' }, { add: { balance: 5 } })
      const id = await begun.detach()
      const looked = await newTransactor().begin()
      await looked.scan('Accounts', { filter: 'balance > :much', values: { ':much': 1000 } })
      looked.update('Accounts', { id: 'bob' }, { add: { balance: 7 } })
      const ranged = await looked.detach()
      await newTransactor().transact((tx) =>
        tx.update('Accounts', { id: 'alice' }, { add: { balance: 5000 } }),
      )
      for (const each of [id, ranged])
        await assert.rejects((await newTransactor().resume(each)).commit(), Conflict)
      assert.deepEqual(await balances(), [5100, 100])
    })

    test('at isolation snapshot it has read something, and is committed or rolled back by somebody else', async () => {
      await reset()
      const begin = async (balance: number) => {
        const handle = await newTransactor().begin({ isolation: 'snapshot' })
        await handle.get('Accounts', { id: 'alice' })
        handle.put('Accounts', { id: 'bob', balance })
        return handle.detach()
      }
      const again = await (await newTransactor().resume(await begin(1))).detach()
      await (await newTransactor().resume(again)).commit()
      assert.deepEqual(await balances(), [100, 1])
      const given = await begin(2)
      await (await newTransactor().resume(given)).rollback()
      await assert.rejects(newTransactor().resume(given), UnitNotFound)
      assert.deepEqual(await balances(), [100, 1])
    })

    test('at isolation snapshot the first committer wins: what it writes was written meanwhile', async () => {
      await reset()
      const handle = await newTransactor().begin({ isolation: 'snapshot' })
      await handle.get('Accounts', { id: 'alice' })
      handle.put('Accounts', { id: 'bob', balance: 1 })
      const id = await handle.detach()
      await newTransactor().transact((tx) => tx.put('Accounts', { id: 'bob', balance: 7 }))
      await assert.rejects((await newTransactor().resume(id)).commit(), Conflict)
      assert.deepEqual(await balances(), [100, 7])
    })

    test('at isolation snapshot, too, one of two who go on with it commits', async () => {
      await reset()
      const handle = await newTransactor().begin({ isolation: 'snapshot' })
      await handle.get('Accounts', { id: 'alice' })
      handle.update('Accounts', { id: 'bob' }, { add: { balance: 5 } })
      const id = await handle.detach()
      const both = await Promise.all([newTransactor().resume(id), newTransactor().resume(id)])
      both[1].update('Accounts', { id: 'alice' }, { add: { balance: 5 } })
      const ends = await Promise.allSettled(both.map((each) => each.commit()))
      assert.equal(ends.filter(({ status }) => status === 'fulfilled').length, 1)
      assert.equal((await balances())[1], 105)
    })

    test('of two who go on with it one commits, and the other conflicts', async () => {
      await reset()
      const handle = await newTransactor().begin()
      handle.update('Accounts', { id: 'bob' }, { add: { balance: 5 } })
      const id = await handle.detach()
      const both = await Promise.all([newTransactor().resume(id), newTransactor().resume(id)])
      both[1].update('Accounts', { id: 'alice' }, { add: { balance: 5 } })
      const ends = await Promise.allSettled(both.map((each) => each.commit()))
      const [refused, ...others] = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []))
      assert.ok(refused instanceof Conflict, String(refused))
      assert.equal(others.length, 0)
      const [alice, bob] = await balances()
      assert.equal(bob, 105)
      assert.ok(alice === 100 || alice === 105)
    })

    test('rolled back, it is gone for everybody', async () => {
      await reset()
      const handle = await newTransactor().begin()
      handle.put('Accounts', { id: 'alice', balance: 0 })
      const id = await handle.detach()
      await (await newTransactor().resume(id)).rollback()
      await assert.rejects(newTransactor().resume(id), UnitNotFound)
      assert.deepEqual(await balances(), [100, 100])
    })

    test('a lock stays with it until its time is over', async () => {
      await reset()
      const handle = await newTransactor().begin()
      await handle.get('Accounts', { id: 'alice' }, { lock: true })
      const id = await handle.detach()
      const other = store.call('PutItem', { TableName: 'Accounts', Item: { id: { S: 'alice' } } })
      await assert.rejects(other, { name: 'TransactionConflictException' })
      const resumed = await newTransactor().resume(id)
      resumed.update('Accounts', { id: 'alice' }, { add: { balance: 1 } })
      await resumed.commit()
      assert.deepEqual(await balances(), [101, 100])
      await store.call('PutItem', {
        TableName: 'Accounts',
        Item: { id: { S: 'alice' }, balance: { N: '1' } },
      })
    })
  })
}
