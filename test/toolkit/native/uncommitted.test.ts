// Read-uncommitted, through the transactor: it sees what a transaction has prepared and nobody has decided.
import assert from 'node:assert/strict'
import { owner } from '../../../src/router/request/access.js'
import { test } from 'node:test'
import { openCoordinator } from '../../../src/coordinator/coordinator.js'
import { localPlacement } from '../../../src/coordinator/placement.js'
import { ledgerSlot, txId, type Timestamp } from '../../../src/model/brand.js'
import { itemKey } from '../../../src/model/key-bytes.js'
import { marshallItem } from '../../../src/toolkit/values/values.js'
import { openCatalog } from '../../../src/router/tables/catalog/catalog.js'
import { openPasses } from '../../../src/router/request/passes.js'
import { largeReadLine, searchLine } from '../../../src/router/request/fair-line.js'
import { openRouter } from '../../../src/router/local-router.js'
import { queryOperations } from '../../../src/router/reads/query-operations.js'
import { tableOperations } from '../../../src/router/tables/tables.js'
import { openDirectUnits } from '../../../src/router/units/direct.js'
import { unitOperations } from '../../../src/router/units/unit-operations.js'
import { allRules } from '../../../src/rules/item/section-4.js'
import { realRuntime } from '../../../src/runtime/real-runtime.js'
import { openLocalNodes } from '../../../src/storage/folder/open-local-node.js'
import type { StorageNode } from '../../../src/storage/contract/storage-node.js'
import type { ExtendedEndpoint } from '../../../src/toolkit/endpoint/endpoint.js'
import { endpointTransactor } from '../../../src/toolkit/open-transactor.js'

const fail = (error: unknown): never => {
  throw error
}

/** A store whose nodes a test can reach, to leave a transaction there that nobody decides. */
async function openParts(count: number) {
  const runtime = realRuntime()
  const nodes = await openLocalNodes({ memory: true, runtime, nodes: count })
  const catalog = await openCatalog({ runtime, nodes, onBackgroundError: fail })
  const nodeOf = (hash: number): StorageNode => nodes[placement.nodeOf(hash)] as StorageNode
  const placement = localPlacement(count)
  const coordinator = openCoordinator({ runtime, nodes, placement, rules: allRules })
  const passes = openPasses({ runtime, coordinator })
  const context = {
    runtime,
    catalog,
    nodes,
    nodeOf,
    coordinator,
    rules: allRules,
    startedMicros: 0,
    passes,
    searches: searchLine(),
    largeReads: largeReadLine(),
  }
  const router = openRouter({
    context,
    operations: [...tableOperations, ...queryOperations, ...unitOperations],
    onInternalError: fail,
  })
  const call = async (operation: string, input: object): Promise<never> => {
    const reply = await router.handle({ operation, input, principal: owner })
    if (!reply.ok) throw reply.error
    return JSON.parse(Buffer.from(reply.body).toString()) as never
  }
  const endpoint: ExtendedEndpoint = {
    losesNoAnswers: true,
    direct: openDirectUnits(context, fail),
    call: (operation, input) => call(operation, input),
    extension: (operation, input) => call(operation, input),
  }
  const close = async (): Promise<void> => {
    await catalog.close()
    await Promise.all(nodes.map((node) => node.close()))
  }
  return {
    catalog,
    coordinator,
    nodeOf,
    call,
    units: endpointTransactor(endpoint, { protocol: 'seriatim' }, runtime),
    close,
  }
}

for (const count of [1, 4]) {
  test(`read-uncommitted sees a prepared write before it is decided, in items, queries and scans (${count} nodes)`, async (t) => {
    const { catalog, coordinator, nodeOf, call, units, close } = await openParts(count)
    t.after(close)
    await call('CreateTable', {
      TableName: 'Things',
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    })
    await units.transact((tx) => tx.put('Things', { id: 'a', n: 1 }))

    const { shape: table } = catalog.table('Things')
    const tx = txId(ledgerSlot('0'.repeat(32)), 'n')
    const timestamp = (coordinator.clock.now() + 1_000) as Timestamp
    const prepared = [
      { id: 'a', n: 2 },
      { id: 'b', n: 2 },
    ].map((plain) => {
      const item = marshallItem(plain)
      const keyAttributes = marshallItem({ id: plain.id })
      const key = itemKey(table.key, keyAttributes)
      return { table, key, keyAttributes, mutation: { kind: 'put' as const, item } }
    })
    for (const action of prepared) {
      const { verdicts } = await nodeOf(action.key.hash).prepare({ tx, timestamp, actions: [action] })
      assert.deepEqual(verdicts, [{ verdict: 'accepted' }])
    }
    const read = (): Promise<unknown> =>
      units.transact(
        async (unit) => ({
          a: await unit.get('Things', { id: 'a' }),
          b: await unit.get('Things', { id: 'b' }),
          query: await unit.query('Things', { key: 'id = :id', values: { ':id': 'a' } }),
          scanned: (await unit.scan('Things')).length,
        }),
        { isolation: 'read-uncommitted' },
      )
    const [a, b] = [
      { id: 'a', n: 2 },
      { id: 'b', n: 2 },
    ]
    assert.deepEqual(await read(), { a, b, query: [a], scanned: 2 })

    for (const { key } of prepared)
      await nodeOf(key.hash).cancel({ tx, items: [{ space: table.space, key }] })
    const old = { id: 'a', n: 1 }
    assert.deepEqual(await read(), { a: old, b: undefined, query: [old], scanned: 1 }, 'it never was')
  })
}
