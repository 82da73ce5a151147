// Several routers on the same nodes: changes of tables that pass each other, and background work that one of them does.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { keyAttributesOf } from '../../src/model/table.js'
import { itemKey } from '../../src/model/key-bytes.js'
import type { Item } from '../../src/model/value.js'
import { openCatalog, type TableCatalog } from '../../src/router/tables/catalog/catalog.js'
import { CLAIM_LEASE_MS, LeasedClaim } from '../../src/router/tables/catalog/claims.js'
import { spacesOf, type TableRecord } from '../../src/router/tables/record/table-record.js'
import { manualClock } from '../../src/runtime/manual-clock.js'
import type { Runtime } from '../../src/runtime/runtime.js'
import type { StorageNode } from '../../src/storage/contract/storage-node.js'
import { openLocalNodes } from '../../src/storage/folder/open-local-node.js'

const START_MS = Date.parse('2030-01-01T12:00:00.000Z')
const CLAIMS = 'claim/'

const turns = async (count = 40): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** Each router sees the nodes through calls of its own, which are counted, and which end with its life. */
async function openWorld(t: TestContext, nodeCount = 2) {
  const clock = manualClock(START_MS)
  let random = 0
  const runtime: Runtime = {
    clock,
    randomBytes: (count) => new Uint8Array(count).map(() => random++),
    defer: (callback) => void setImmediate(callback),
  }
  const nodes = await openLocalNodes({ runtime, memory: true, nodes: nodeCount })
  const routers: Router[] = []
  t.after(async () => {
    for (const router of routers) if (!router.isDead) await router.catalog.close()
    await Promise.all(nodes.map((node) => node.close()))
  })
  return {
    clock,
    nodes,
    async router(): Promise<Router> {
      const router = await openRouterOn(runtime, nodes)
      routers.push(router)
      return router
    },
    async claims(): Promise<string[]> {
      return ((await nodes[0]?.readMeta(CLAIMS)) ?? []).map(({ name }) => name)
    },
  }
}

interface Router {
  readonly catalog: TableCatalog
  /** How often each method of a node was called. */
  readonly calls: Map<string, number>
  /** It is never heard of again: its calls are not answered. */
  isDead: boolean
}

async function openRouterOn(runtime: Runtime, nodes: readonly StorageNode[]): Promise<Router> {
  const calls = new Map<string, number>()
  const life = { isDead: false }
  const seen = nodes.map(
    (node) =>
      new Proxy(node, {
        get: (target, name) => {
          const member = (target as unknown as Record<string | symbol, unknown>)[name]
          if (typeof member !== 'function') return member
          return (...args: unknown[]): unknown => {
            if (life.isDead) return new Promise(() => undefined)
            calls.set(String(name), (calls.get(String(name)) ?? 0) + 1)
            return (member as (...args: unknown[]) => unknown).apply(target, args)
          }
        },
      }),
  )
  const catalog = await openCatalog({ runtime, nodes: seen })
  return Object.assign(life, { catalog, calls })
}

const record = (name: string, allocateSpace: () => TableRecord['space']): TableRecord => ({
  name,
  id: name,
  createdAtMicros: START_MS * 1000,
  space: allocateSpace(),
  keySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  attributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
  billingMode: 'PAY_PER_REQUEST',
  throughput: { ReadCapacityUnits: 0, WriteCapacityUnits: 0 } as never,
  indexes: [],
  tags: [],
  deletionProtection: false,
})

const create = ({ catalog }: Router, name: string): Promise<TableRecord> =>
  catalog.change((draft) => draft.put(record(name, draft.allocateSpace)))

const addIndex = ({ catalog }: Router, name: string): Promise<TableRecord> =>
  catalog.change((draft) => {
    const old = draft.record(name)
    const index = {
      name: 'by-group',
      kind: 'global',
      keySchema: [{ AttributeName: 'group', KeyType: 'HASH' }],
      projection: { ProjectionType: 'ALL' },
      space: draft.allocateSpace(),
      status: 'CREATING',
    } as unknown as TableRecord['indexes'][number]
    const attributeDefinitions = [
      ...old.attributeDefinitions,
      { AttributeName: 'group', AttributeType: 'S' as const },
    ]
    return draft.put({ ...old, attributeDefinitions, indexes: [index] })
  })

async function putAll(router: Router, nodes: readonly StorageNode[], items: readonly Item[]): Promise<void> {
  for (const item of items) {
    const { shape } = router.catalog.table('Orders')
    const key = itemKey(shape.key, item)
    const outcome = await nodes[key.hash % nodes.length]!.write({
      table: shape,
      key,
      keyAttributes: keyAttributesOf(shape.key, item),
      mutation: { kind: 'put', item },
    })
    assert.equal(outcome.verdict, 'done')
  }
}

const orders = (count: number, more: Item = {}): Item[] =>
  Array.from({ length: count }, (_, n) => ({ id: { S: `order-${n}` }, group: { S: 'g' }, ...more }))

test('catalogue: of two routers that change tables at once neither loses its change, and no space is used twice', async (t) => {
  const world = await openWorld(t)
  const [one, other] = [await world.router(), await world.router()]
  const names = Array.from({ length: 10 }, (_, n) => `table-${n}`)
  await Promise.all(names.map((name, n) => create(n % 2 === 0 ? one : other, name)))
  await Promise.all([one.catalog.refresh(), other.catalog.refresh()])
  for (const { catalog } of [one, other]) {
    assert.deepEqual(catalog.names(), names)
    const spaces = catalog.records().flatMap(spacesOf)
    assert.equal(new Set(spaces).size, names.length)
    assert.equal(new Set(catalog.shapes().map(({ version }) => version)).size, names.length)
  }
})

test('catalogue: a change is decided on what another router has changed', async (t) => {
  const world = await openWorld(t)
  const [one, other] = [await world.router(), await world.router()]
  await create(one, 'Orders')
  await assert.rejects(
    other.catalog.change((draft) => {
      if (draft.find('Orders') !== undefined) throw new Error('there is one')
      draft.put(record('Orders', draft.allocateSpace))
    }),
    /there is one/,
  )
  await other.catalog.change((draft) => draft.put({ ...draft.record('Orders'), deletionProtection: true }))
  await one.catalog.change((draft) => draft.put({ ...draft.record('Orders'), id: 'changed' }))
  const { id, deletionProtection, version } = one.catalog.record('Orders')
  assert.deepEqual(
    { id, deletionProtection, version },
    { id: 'changed', deletionProtection: true, version: 3 },
  )
})

test('catalogue: a change whose outcome is unknown does not stop the next one', async (t) => {
  for (const isWritten of [false, true]) {
    const world = await openWorld(t)
    const [home] = world.nodes as [StorageNode]
    const one = await world.router()
    const writeMetaIf = home.writeMetaIf.bind(home)
    home.writeMetaIf = async (seen, entries) => {
      home.writeMetaIf = writeMetaIf
      if (isWritten) await writeMetaIf(seen, entries)
      throw new Error('the outcome is unknown')
    }
    await assert.rejects(create(one, 'First'), /unknown/)
    const { space } = await create(one, 'Second')
    assert.deepEqual(one.catalog.names(), isWritten ? ['First', 'Second'] : ['Second'])
    assert.equal(space, 2, 'the space of the first is not used again')
  }
})

test('claims: one router fills an index, and another one goes on when its lease is over', async (t) => {
  const world = await openWorld(t)
  const one = await world.router()
  await create(one, 'Orders')
  await putAll(one, world.nodes, orders(1500))
  assert.deepEqual(await world.claims(), [], 'no work, no claim')
  const { indexes } = await addIndex(one, 'Orders')
  const space = indexes[0]!.space
  const other = await world.router()
  await turns(3)
  assert.deepEqual(await world.claims(), ['claim/maintenance'])
  assert.ok((one.calls.get('backfill') ?? 0) > 0)
  one.isDead = true
  await turns()
  assert.equal(other.calls.get('backfill'), undefined, 'the lease of the first is not over')
  assert.equal(other.catalog.record('Orders').indexes[0]?.status, 'CREATING')
  world.clock.advance(CLAIM_LEASE_MS + 1)
  await turns()
  assert.ok((other.calls.get('backfill') ?? 0) > 0)
  await other.catalog.idle()
  assert.equal(other.catalog.record('Orders').indexes[0]?.status, 'ACTIVE')
  assert.equal((await other.catalog.count(space)).items, 1500)
  await turns()
  assert.deepEqual(await world.claims(), [], 'given up')
})

test('claims: a router that finds the work done by another learns of it', async (t) => {
  const world = await openWorld(t)
  const one = await world.router()
  await create(one, 'Orders')
  await putAll(one, world.nodes, orders(1500))
  await addIndex(one, 'Orders')
  const other = await world.router()
  await one.catalog.idle()
  await turns()
  assert.equal(other.calls.get('backfill'), undefined)
  world.clock.advance(CLAIM_LEASE_MS + 1)
  await turns()
  assert.equal(other.calls.get('backfill'), undefined, 'nothing was left')
  assert.equal(other.catalog.record('Orders').indexes[0]?.status, 'ACTIVE')
  assert.deepEqual(await world.claims(), [])
})

test('claims: one router deletes what has expired, and another one goes on when its lease is over', async (t) => {
  const world = await openWorld(t, 1)
  const one = await world.router()
  await create(one, 'Orders')
  await one.catalog.change((draft) =>
    draft.put({
      ...draft.record('Orders'),
      timeToLive: { attribute: 'until', space: draft.allocateSpace(), status: 'ENABLED' } as never,
    }),
  )
  const { space } = one.catalog.table('Orders').shape
  const other = await world.router()
  const expiring = (afterSeconds: number): Item => ({ until: { N: String(START_MS / 1000 + afterSeconds) } })
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 500) {
      world.clock.advance(500)
      await turns(10)
    }
  }
  await putAll(one, world.nodes, orders(20, expiring(5)))
  await pass(3_000)
  assert.deepEqual(await world.claims(), [], 'nothing has expired yet')
  await pass(3_000)
  assert.equal((await one.catalog.count(space)).items, 0)
  const writes = ({ calls }: Router): number => calls.get('write') ?? 0
  assert.equal(writes(one) + writes(other), 20, 'each is deleted once')
  await pass(3_000)
  assert.deepEqual(await world.claims(), [], 'given up')

  await putAll(one, world.nodes, orders(20, expiring(15)))
  // Whichever claims the work dies.
  const written = ({ calls }: Router): number => calls.get('writeMetaIf') ?? 0
  const before = [written(one), written(other)]
  const [home] = world.nodes as [StorageNode]
  const writeMetaIf = home.writeMetaIf.bind(home)
  let survivor = one
  home.writeMetaIf = (seen, entries) => {
    home.writeMetaIf = writeMetaIf
    const dying = written(one) > before[0]! ? one : other
    dying.isDead = true
    survivor = dying === one ? other : one
    return writeMetaIf(seen, entries)
  }
  await pass(8_000)
  assert.deepEqual(await world.claims(), ['claim/expiry'])
  assert.equal((await survivor.catalog.count(space)).items, 20, 'the lease of the first is not over')
  await pass(CLAIM_LEASE_MS + 2_000)
  assert.equal((await survivor.catalog.count(space)).items, 0)
})

test('claims: the only router on its nodes claims nothing, and waits for no claim of the one before it', async (t) => {
  const world = await openWorld(t)
  const one = await world.router()
  await create(one, 'Orders')
  await putAll(one, world.nodes, orders(1500))
  await addIndex(one, 'Orders')
  await turns(3)
  one.isDead = true
  assert.deepEqual(await world.claims(), ['claim/maintenance'])
  const runtime: Runtime = {
    clock: world.clock,
    randomBytes: (count) => new Uint8Array(count),
    defer: (callback) => void setImmediate(callback),
  }
  await using catalog = await openCatalog({ runtime, nodes: world.nodes, isSoleOwner: true })
  await catalog.idle()
  assert.equal(catalog.record('Orders').indexes[0]?.status, 'ACTIVE')
})

test('claims: a lease is renewed when half of it has passed, and others are told when to ask again', async (t) => {
  const world = await openWorld(t, 1)
  const [home] = world.nodes as [StorageNode]
  let random = 0
  let taken = 0
  const runtime: Runtime = {
    clock: world.clock,
    randomBytes: (count) => new Uint8Array(count).map(() => random++),
    defer: (callback) => void setImmediate(callback),
  }
  const onTaken = (): Promise<void> => Promise.resolve(void taken++)
  const claim = (): LeasedClaim => new LeasedClaim({ runtime, home, work: 'expiry', onTaken })
  const stored = async (): Promise<string> => Buffer.from((await home.readMeta(CLAIMS))[0]!.value).toString()
  const [one, other] = [claim(), claim()]
  assert.deepEqual(await Promise.all([one.hold(), one.hold()]), [undefined, undefined])
  assert.equal(await other.hold(), CLAIM_LEASE_MS)
  const first = await stored()
  world.clock.advance(CLAIM_LEASE_MS / 2 - 1)
  assert.equal(await one.hold(), undefined)
  assert.equal(await stored(), first, 'not half of it')
  world.clock.advance(1)
  assert.equal(await one.hold(), undefined)
  assert.notEqual(await stored(), first)
  assert.equal(taken, 1, 'it was held before')
  assert.equal(await other.hold(), CLAIM_LEASE_MS)
  world.clock.advance(CLAIM_LEASE_MS)
  assert.equal(await other.hold(), undefined, 'the lease is over')
  assert.equal(await one.hold(), CLAIM_LEASE_MS)
  await one.giveUp()
  assert.equal((await home.readMeta(CLAIMS)).length, 1, 'it is not its own any more')
  await other.giveUp()
  assert.deepEqual(await home.readMeta(CLAIMS), [])
})
