// A host of the ring that was away when a table was made says that there is no such space. That is not to say that there are no items.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Engine, EngineUnavailable, SpaceMissing } from '../../../src/engine/engine.js'
import { MemoryEngine } from '../../../src/engine/memory-engine.js'
import { TableGone } from '../../../src/line/errors.js'
import { ledgerSlot, timestamp, txId } from '../../../src/model/brand.js'
import { itemKey } from '../../../src/model/key-bytes.js'
import { realRuntime } from '../../../src/runtime/real-runtime.js'
import type { Runtime } from '../../../src/runtime/runtime.js'
import { openEngineNode } from '../../../src/storage/engine/engine-node.js'
import { page } from '../../suites/storage-node.js'
import { getItem, itemOf, plain, plainItem, put, putRequest } from '../../suites/tables.js'

const a = plainItem('a')
const real = realRuntime()
/** Waits for nothing. */
const timer = (_: number, callback: () => void) => {
  setImmediate(callback)
  return () => undefined
}
const runtime: Runtime = {
  clock: { nowMicros: () => real.clock.nowMicros(), timer },
  randomBytes: (count) => real.randomBytes(count),
  defer: (callback) => void setImmediate(callback),
}
const ref = { space: plain.space, key: itemKey(plain.key, a) }

/** A server that follows the catalogue, on hosts of which the next ones that it asks for items do not know their table. */
async function opened() {
  const inner = new MemoryEngine()
  const hosts = { ignorant: 0 }
  const asked = <T>(space: string | undefined, call: () => Promise<T>): Promise<T> => {
    if (space?.startsWith('t') !== true || hosts.ignorant-- <= 0) return call()
    return Promise.reject(new SpaceMissing(`there is no space ${space} at this host`))
  }
  const engine: Engine = {
    name: 'hosts',
    limits: inner.limits,
    scopeOf: (address) => inner.scopeOf(address),
    read: (addresses, level) => asked(addresses[0]?.space, () => inner.read(addresses, level)),
    cas: (changes) => asked(changes[0]?.address.space, () => inner.cas(changes)),
    write: (rows) => inner.write(rows),
    range: (request) => asked(request.space, () => inner.range(request)),
    createSpace: (space) => inner.createSpace(space),
    dropSpace: (space) => inner.dropSpace(space),
    close: () => inner.close(),
  }
  const node = await openEngineNode({ engine, runtime })
  const tables = { areThere: true }
  node.followCatalogue(() => (tables.areThere ? node.setShape(plain) : node.dropTable(plain.space)))
  await node.createSpaces(plain)
  await put(node, plain, a)
  return { node, hosts, tables }
}

test('an item is there though a host does not know its table yet, and if no host does, nothing is known of it', async () => {
  const { node, hosts } = await opened()
  hosts.ignorant = 2
  assert.deepEqual(await getItem(node, plain, a), a)
  hosts.ignorant = 2
  const { entries } = await node.range(page(plain.space))
  assert.deepEqual(
    entries.map(({ record }) => itemOf(record)),
    [a],
  )
  hosts.ignorant = 2
  const { results } = await node.readLatest({ items: [ref] })
  assert.equal(results[0]?.verdict, 'value')
  hosts.ignorant = Infinity
  await assert.rejects(getItem(node, plain, a), EngineUnavailable)
})

test('a commit is not over because a host does not know the table of its items', async () => {
  const { node, hosts } = await opened()
  const next = plainItem('a', { v: { N: '7' } })
  const tx = txId(ledgerSlot('1'.repeat(32)), 'n')
  const at = timestamp(runtime.clock.nowMicros() + 1_000_000)
  const { verdicts } = await node.prepare({ tx, timestamp: at, actions: [putRequest(plain, next)] })
  assert.deepEqual(verdicts, [{ verdict: 'accepted' }])
  hosts.ignorant = 2
  await node.commit({ tx, timestamp: at, items: [ref] })
  assert.deepEqual(await getItem(node, plain, a), next)
})

test('where the catalogue has no such table either, it is gone', async () => {
  const { node, hosts, tables } = await opened()
  tables.areThere = false
  hosts.ignorant = Infinity
  await assert.rejects(getItem(node, plain, a), TableGone)
})
