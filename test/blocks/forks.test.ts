// Ledgers of stores in memory that are copied: what both sign from there on must not be told of one ledger.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { open } from '../../src/index.js'
import type { Store } from '../../src/store/store.js'
import { openCheckpoint } from '../../src/verify/checkpoint.js'
import { verifyProof } from '../../src/verify/proof.js'
import { testFolder } from '../support/folder.js'
import { ledgerTable } from './support.js'

const put = (store: Store, id: string, owner: string): Promise<unknown> =>
  store.call('PutItem', { TableName: 'Cars', Item: { vin: { S: id }, owner: { S: owner } } })

/** The version's owner, as its proof says, by the key of the store. */
async function provenOwner(store: Store, id: string, version: number): Promise<unknown> {
  const { key } = await store.ledger.digest()
  const { item } = await verifyProof(await store.ledger.prove('Cars', { vin: id }, { version }), { key })
  return item?.['owner']
}

async function ledgerOf(blocks: number): Promise<Store> {
  const store = await open({ memory: true })
  await store.call('CreateTable', ledgerTable('Cars'))
  for (let at = 1; at < blocks; at++) {
    await put(store, `car-${at % 7}`, `owner ${at}`)
    // Several pieces of headers in one bundle.
    if (at % 50 === 0) await store.ledger.digest()
  }
  return store
}

test('ledger: a fork has a name and a key of its own, and proves everything that it has from its original', async () => {
  for (const blocks of [1, 2, 256, 300, 520]) {
    await using store = await ledgerOf(blocks)
    const before = await store.ledger.digest()
    await using fork = await store.fork()
    const forked = await fork.ledger.digest()
    assert.equal(forked.size, blocks)
    assert.notEqual(forked.key, before.key)
    const head = await openCheckpoint(forked.checkpoint, { key: forked.key })
    assert.notEqual(head.origin, (await openCheckpoint(before.checkpoint, { key: before.key })).origin)
    if (blocks > 1) assert.deepEqual(await provenOwner(fork, 'car-1', 0), { S: 'owner 1' })
    await put(store, 'car-1', 'of the original')
    await put(fork, 'car-1', 'of the fork')
    const newest = blocks === 1 ? 0 : Math.floor((blocks - 2) / 7) + 1
    assert.deepEqual(await provenOwner(store, 'car-1', newest), { S: 'of the original' })
    assert.deepEqual(await provenOwner(fork, 'car-1', newest), { S: 'of the fork' })
    assert.equal((await store.ledger.digest()).key, before.key)
  }
})

test('ledger: a store that goes back to a snapshot, or begins with a dump, goes on under another name', async () => {
  await using store = await ledgerOf(20)
  const { key } = await store.ledger.digest()
  const snapshot = await store.snapshot()
  await put(store, 'car-1', 'forgotten')
  assert.equal((await store.ledger.digest()).size, 21)
  await store.restore(snapshot)
  const again = await store.ledger.digest()
  assert.equal(again.size, 20)
  assert.notEqual(again.key, key)
  const file = join(testFolder(), 'cars.dump')
  await store.dump(file)
  assert.equal((await store.ledger.digest()).key, again.key)
  await using one = await open({ memory: true, from: file })
  await using other = await open({ memory: true, from: file })
  assert.equal(
    new Set([again.key, (await one.ledger.digest()).key, (await other.ledger.digest()).key]).size,
    3,
  )
  assert.deepEqual(await provenOwner(one, 'car-1', 0), { S: 'owner 1' })
})

test('ledger: a fork without a ledger gets one of its own later', async () => {
  await using store = await open({ memory: true })
  await using fork = await store.fork()
  for (const each of [store, fork]) await each.call('CreateTable', ledgerTable('Cars'))
  assert.notEqual((await store.ledger.digest()).key, (await fork.ledger.digest()).key)
})
