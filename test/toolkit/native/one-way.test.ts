// A unit of work asks for the same transaction whether it is committed through the port in this process or over the wire.
import assert from 'node:assert/strict'
import { owner } from '../../../src/router/request/access.js'
import { test } from 'node:test'
import { openCoordinator, type WriteTransaction } from '../../../src/coordinator/coordinator.js'
import { localPlacement } from '../../../src/coordinator/placement.js'
import { isolationLevels } from '../../../src/model/isolation.js'
import { openCatalog } from '../../../src/router/tables/catalog/catalog.js'
import { openRouter } from '../../../src/router/local-router.js'
import { tableOperations } from '../../../src/router/tables/tables.js'
import { openDirectUnits } from '../../../src/router/units/direct.js'
import { openPasses } from '../../../src/router/request/passes.js'
import { largeReadLine, searchLine } from '../../../src/router/request/fair-line.js'
import { unitOperations } from '../../../src/router/units/unit-operations.js'
import { allRules } from '../../../src/rules/item/section-4.js'
import { realRuntime } from '../../../src/runtime/real-runtime.js'
import { openLocalNodes } from '../../../src/storage/folder/open-local-node.js'
import type { StorageNode } from '../../../src/storage/contract/storage-node.js'
import type { ExtendedEndpoint } from '../../../src/toolkit/endpoint/endpoint.js'
import { Conflict } from '../../../src/toolkit/endpoint/errors.js'
import { endpointTransactor } from '../../../src/toolkit/open-transactor.js'
import type { UnitOfWork } from '../../../src/toolkit/unit/transactor.js'

const TableName = 'Things'
const fail = (error: unknown): never => {
  throw error
}

/** A store that refuses every commit after `keep()`, and keeps what was asked for. */
async function openParts(count: number) {
  const runtime = realRuntime()
  const nodes = await openLocalNodes({ memory: true, runtime, nodes: count })
  const catalog = await openCatalog({ runtime, nodes, onBackgroundError: fail })
  const placement = localPlacement(count)
  const real = openCoordinator({ runtime, nodes, placement, rules: allRules })
  let asked: WriteTransaction[] | undefined
  const coordinator: typeof real = {
    ...real,
    write: (transaction) => {
      if (asked === undefined) return real.write(transaction)
      asked.push(transaction)
      const verdicts = transaction.actions.map(() => ({ verdict: 'changed' }) as const)
      return Promise.resolve({ outcome: 'cancelled', verdicts })
    },
  }
  const context = {
    runtime,
    catalog,
    nodes,
    nodeOf: (hash: number): StorageNode => nodes[placement.nodeOf(hash)]!,
    coordinator,
    rules: allRules,
    startedMicros: 0,
    passes: openPasses({ runtime, coordinator }),
    searches: searchLine(),
    largeReads: largeReadLine(),
  }
  const router = openRouter({
    context,
    operations: [...tableOperations, ...unitOperations],
    onInternalError: fail,
  })
  const call = async (operation: string, input: object): Promise<never> => {
    const reply = await router.handle({ operation, input, principal: owner })
    if (!reply.ok) throw Object.assign(reply.error, reply.error.members)
    return JSON.parse(Buffer.from(reply.body).toString()) as never
  }
  const wire: ExtendedEndpoint = {
    losesNoAnswers: true,
    call: (operation, input) => call(operation, input),
    extension: (operation, input) => call(operation, input),
  }
  const direct = { ...wire, direct: openDirectUnits(context, fail) }
  const transactorOn = (endpoint: ExtendedEndpoint) =>
    endpointTransactor(endpoint, { protocol: 'seriatim' }, runtime)
  await call('CreateTable', {
    TableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [
      { AttributeName: 'p', AttributeType: 'S' },
      { AttributeName: 's', AttributeType: 'S' },
    ],
    KeySchema: [
      { AttributeName: 'p', KeyType: 'HASH' },
      { AttributeName: 's', KeyType: 'RANGE' },
    ],
  })
  return {
    wire: transactorOn(wire),
    direct: transactorOn(direct),
    keep: (): readonly WriteTransaction[] => (asked = []),
    close: async () => {
      await catalog.close()
      await Promise.all(nodes.map((node) => node.close()))
    },
  }
}

const at = (p: string, s = 'x') => ({ p, s })
const positive = { expression: 'n > :zero', values: { ':zero': 0 } }

const units: Readonly<Record<string, (tx: UnitOfWork) => Promise<unknown>>> = {
  'blind writes': async (tx) => {
    tx.put(TableName, { ...at('a'), n: 1 })
    tx.delete(TableName, at('b'))
  },
  'reads, some of them written, one absent': async (tx) => {
    await tx.getAll(TableName, [at('a'), at('b'), at('z')])
    tx.put(TableName, { ...at('b'), n: 2 })
    tx.put(TableName, { ...at('new'), n: 2 })
    tx.put(TableName, { ...at('z'), n: 3 })
  },
  'updates by attribute and by text': async (tx) => {
    await tx.get(TableName, at('c'))
    tx.update(TableName, at('a'), { add: { n: 1 } })
    tx.update(TableName, at('b'), { set: { n: 1 } })
    tx.update(TableName, at('c'), { expression: 'ADD n :one', values: { ':one': 1 } })
  },
  'conditions and checks': async (tx) => {
    await tx.get(TableName, at('a'))
    await tx.get(TableName, at('c'))
    tx.check(TableName, at('a'), positive)
    tx.put(TableName, { ...at('b'), n: 5 }, positive)
    tx.update(TableName, at('d'), { add: { n: 1 } }, positive)
  },
  'locks, of what is written and of what is not': async (tx) => {
    await tx.get(TableName, at('a'), { lock: true })
    await tx.get(TableName, at('b'), { lock: true })
    await tx.get(TableName, at('c'))
    tx.put(TableName, { ...at('b'), n: 6 })
    tx.put(TableName, { ...at('c'), n: 6 })
  },
  'queries and scans, whole and in part': async (tx) => {
    await tx.query(TableName, { key: 'p = :p', values: { ':p': 'a' } })
    await tx.query(TableName, {
      key: 'p = :p',
      filter: 'n > :n',
      values: { ':p': 'a', ':n': 1 },
      reverse: true,
    })
    await tx.query(TableName, { key: 'p = :p', values: { ':p': 'a' }, limit: 1 })
    await tx.scan(TableName, { filter: 'n < :n', values: { ':n': 3 } })
    tx.put(TableName, { ...at('b'), n: 7 })
  },
}

/** What is asked for, without what differs from one unit to the next: snapshots, and how an update was bound. */
const shown = ({ actions, predicates = [], token, unit }: WriteTransaction) => ({
  actions: actions.map(({ table, key, keyAttributes, mutation, condition, expected, locked }) => ({
    table: table.name,
    key: key.bytes,
    keyAttributes,
    kind: mutation.kind,
    item: mutation.kind === 'put' ? mutation.item : undefined,
    isConditional: condition !== undefined,
    expected: expected?.kind === 'unwritten-since' ? expected.kind : expected,
    locked,
  })),
  predicates: predicates.map(({ check: { table, range, filter }, nodes }) => ({
    table: table.name,
    range,
    isFiltered: filter !== undefined,
    nodes,
  })),
  token,
  isUnit: unit !== undefined,
})

for (const count of [1, 4])
  test(`units in this process and over the wire ask for the same transaction (${count} nodes)`, async (t) => {
    const { wire, direct, keep, close } = await openParts(count)
    t.after(close)
    await direct.transact((tx) => {
      for (const p of ['a', 'b', 'c', 'd'])
        for (const s of ['x', 'y', 'z']) tx.put(TableName, { p, s, n: s.charCodeAt(0) - 119 })
    })
    for (const [name, unit] of Object.entries(units))
      for (const isolation of isolationLevels) {
        const seen: object[] = []
        for (const transactor of [wire, direct]) {
          const asked = keep()
          const handle = await transactor.begin({ isolation })
          await unit(handle)
          await assert.rejects(handle.commit(), Conflict)
          await transactor.idle()
          assert.equal(asked.length, 1, name)
          seen.push(shown(asked[0]!))
        }
        assert.deepEqual(seen[1], seen[0], `${name}, at ${isolation}`)
      }
  })
