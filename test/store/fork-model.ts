// Random histories of stores in memory and of their copies, against plain maps: writes and transactions before, during and after
// forks, forks of forks, snapshots restored here and there, dumps opened.
//
//   a copy must have      every write that was answered before it was asked for
//   it may have           a write that was under way, whole: in all its items, in the index, in the stream
//   and from then on      what is written on one side is on that side only
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { localPlacement } from '../../src/coordinator/placement.js'
import { allRules } from '../../src/rules/item/section-4.js'
import { clientRuntime, realRuntime } from '../../src/runtime/real-runtime.js'
import { type MemoryImage, memoryNodes, type NodesMemory } from '../../src/storage/node/memory-nodes.js'
import { openStore } from '../../src/store/local-store.js'
import { open, type Store } from '../../src/store/store.js'
import { seededRandom } from '../suites/seeded-random.js'
import { testFolder } from '../support/folder.js'

const IDS = 40
const STORES_MAX = 5
const UNDER_WAY_MAX = 6

/** What is wrong on purpose. */
export type ForkMutant = 'one-node-copied-before' | 'log-copied-before'

export interface ForkHistory {
  readonly seed: number
  readonly nodes: number
  readonly steps: number
  readonly mutant?: ForkMutant
}

/** One write: to all these items at once, or to one. */
interface Write {
  readonly ids: readonly string[]
  /** Tells it from all others; undefined: the items are deleted. */
  readonly value: string | undefined
}

interface World {
  readonly store: Store
  readonly model: Map<string, string>
}

/** Throws if a store holds anything else than its model. */
export async function runForkHistory({ seed, nodes, steps, mutant }: ForkHistory): Promise<void> {
  const random = seededRandom(seed)
  const mutation = mutant && new Mutation(mutant)
  const worlds: World[] = [{ store: await openWorld(nodes, mutation), model: new Map() }]
  const folder = testFolder()
  /** What each transaction wrote to. */
  const idsOf = new Map<string, readonly string[]>()
  try {
    await createTable(worlds[0]?.store as Store)
    for (let step = 0; step < steps; step++) {
      const at = random(worlds.length)
      const world = worlds[at] as World
      const writes = randomWrites(random, step, idsOf)
      if (random(3) > 0) {
        await Promise.all(writes.map((write) => written(world.store, write)))
        for (const write of writes) applyTo(world.model, write)
      } else {
        mutation?.note()
        const copy = await copyDuring(world, writes, random, join(folder, `${step}.dump`))
        await assertHolds(copy, `step ${step}`)
        if (worlds.length < STORES_MAX) worlds.push(copy)
        else {
          const gone = random(worlds.length)
          await worlds[gone]?.store.close()
          worlds[gone] = copy
        }
      }
      if (random(4) === 0) await assertHolds(worlds[random(worlds.length)] as World, `step ${step}`)
    }
    for (const world of worlds) {
      await assertHolds(world, 'the end')
      await assertStream(world, idsOf)
    }
  } finally {
    for (const { store } of worlds) await store.close()
  }
}

/** Of disjoint items, so that they may be under way at once. */
function randomWrites(
  random: (below: number) => number,
  step: number,
  idsOf: Map<string, readonly string[]>,
): readonly Write[] {
  const free = Array.from({ length: IDS }, (_, n) => `i${n}`)
  return Array.from({ length: 1 + random(UNDER_WAY_MAX) }, (_, nth) => {
    const count = random(2) === 0 ? 1 : 2 + random(4)
    const ids = Array.from({ length: count }, () => free.splice(random(free.length), 1)[0] as string)
    const value = random(5) === 0 ? undefined : `${step} ${nth}`
    if (value !== undefined) idsOf.set(value, ids)
    return { ids, value }
  })
}

const item = (
  id: string,
  value: string,
): { readonly id: { S: string }; v: { S: string }; kind: { S: string } } => ({
  id: { S: id },
  v: { S: value },
  kind: { S: `kind ${id.length}` },
})

async function written(store: Store, { ids, value }: Write): Promise<void> {
  const [first] = ids
  if (ids.length === 1 && first !== undefined) {
    if (value === undefined)
      await store.call('DeleteItem', { TableName: 'Things', Key: { id: { S: first } } })
    else await store.call('PutItem', { TableName: 'Things', Item: item(first, value) })
    return
  }
  await store.call('TransactWriteItems', {
    TransactItems: ids.map((id) =>
      value === undefined
        ? { Delete: { TableName: 'Things', Key: { id: { S: id } } } }
        : { Put: { TableName: 'Things', Item: item(id, value) } },
    ),
  })
}

function applyTo(model: Map<string, string>, { ids, value }: Write): void {
  for (const id of ids)
    if (value === undefined) model.delete(id)
    else model.set(id, value)
}

/** A copy that is asked for while these writes are under way, and what it must have then, checked against what it has. */
async function copyDuring(
  { store, model }: World,
  writes: readonly Write[],
  random: (below: number) => number,
  file: string,
): Promise<World> {
  const answered = new Set<Write>()
  const before = new Map(model)
  const underWay = writes.map(async (write) => {
    await written(store, write)
    answered.add(write)
  })
  // A transaction over several nodes takes some turns of the loop, and many steps in each.
  for (let turns = random(3); turns > 0; turns--) await setImmediate()
  for (let steps = random(150); steps > 0; steps--) await Promise.resolve()
  const surely = new Set(answered)
  const copy = await copied(store, random(4), file)
  await Promise.all(underWay)
  for (const write of writes) applyTo(model, write)
  const found = await itemsIn(copy)
  for (const write of writes) {
    const { ids, value } = write
    const has = ids.map((id) => found.get(id) === value)
    // A delete of what was not there leaves no trace.
    const isIn = has.every(Boolean)
    if (surely.has(write)) assert.ok(isIn, `${JSON.stringify(write)} was answered, and is not in the copy`)
    if (isIn) applyTo(before, write)
    else
      for (const id of ids)
        assert.equal(found.get(id), before.get(id), `${JSON.stringify(write)} is in the copy by halves`)
  }
  return { store: copy, model: before }
}

async function copied(store: Store, how: number, file: string): Promise<Store> {
  switch (how) {
    case 0: {
      const snapshot = await store.snapshot()
      // Writes that end meanwhile are not in it.
      await setImmediate()
      const other = await store.fork()
      await other.restore(snapshot)
      return other
    }
    case 1:
      await store.dump(file)
      return open({ memory: true, from: file })
    default:
      return store.fork()
  }
}

async function itemsIn(store: Store): Promise<Map<string, string>> {
  const { Items = [] } = await store.call('Scan', { TableName: 'Things', ConsistentRead: true })
  return new Map(Items.map(({ id, v }) => [id?.S as string, v?.S as string]))
}

async function assertHolds({ store, model }: World, when: string): Promise<void> {
  const expected = sorted(model)
  assert.deepEqual(sorted(await itemsIn(store)), expected, when)
  const { Items = [] } = await store.call('Scan', { TableName: 'Things', IndexName: 'ByKind' })
  const indexed = new Map(Items.map(({ id, v }) => [id?.S as string, v?.S as string]))
  assert.deepEqual(sorted(indexed), expected, `${when}: the index`)
  assert.equal(Items.length, expected.length, `${when}: the index`)
  const { Table } = await store.call('DescribeTable', { TableName: 'Things' })
  assert.equal(Table?.ItemCount, expected.length, `${when}: the count`)
}

const sorted = (items: ReadonlyMap<string, string>): readonly (readonly [string, string])[] =>
  [...items].toSorted(([one], [other]) => (one < other ? -1 : 1))

/** The stream, from its beginning, leads to what is there, and no transaction is in it by halves. */
async function assertStream(
  { store, model }: World,
  idsOf: ReadonlyMap<string, readonly string[]>,
): Promise<void> {
  const reached = new Map<string, string>()
  const commits = store.changes('Things', { from: 'start', by: 'transaction' })
  await store.call('PutItem', { TableName: 'Things', Item: item('end', 'end') })
  let last = ''
  for await (const { changes, sequenceNumber } of commits) {
    assert.ok(sequenceNumber > last)
    last = sequenceNumber
    const values = new Set(changes.map((change) => change.new?.['v'] as string | undefined))
    assert.equal(values.size, 1, 'one commit, one value')
    const [value] = values
    if (value === 'end') break
    const ids = changes.map(({ keys }) => keys['id'] as string)
    if (value !== undefined)
      assert.deepEqual(ids.toSorted(), idsOf.get(value)?.toSorted(), 'a whole transaction')
    applyTo(reached, { ids, value })
  }
  assert.deepEqual(sorted(reached), sorted(model), 'the stream leads to what is there')
}

const createTable = (store: Store): Promise<unknown> =>
  store.call('CreateTable', {
    TableName: 'Things',
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [
      { AttributeName: 'id', AttributeType: 'S' },
      { AttributeName: 'kind', AttributeType: 'S' },
    ],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    GlobalSecondaryIndexes: [
      {
        IndexName: 'ByKind',
        KeySchema: [
          { AttributeName: 'kind', KeyType: 'HASH' },
          { AttributeName: 'id', KeyType: 'RANGE' },
        ],
        Projection: { ProjectionType: 'ALL' },
      },
    ],
    StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
  })

/** As `open({ memory: true, nodes })` does it, with something wrong. */
function openWorld(nodes: number, mutation: Mutation | undefined): Promise<Store> {
  if (mutation === undefined) return open({ memory: true, nodes })
  const runtime = realRuntime()
  const { memory, ...opened } = memoryNodes({ runtime, nodes })
  return openStore({
    ...opened,
    memory: mutation.memoryOf(memory),
    runtime,
    clients: clientRuntime(),
    placement: localPlacement(nodes),
    rules: allRules,
    sharedJournal: false,
    isSoleOwner: true,
    onError: () => undefined,
    reopen: (image) => {
      const reopened = memoryNodes({ runtime, image })
      return { ...reopened, memory: mutation.memoryOf(reopened.memory) }
    },
  })
}

class Mutation {
  readonly #mutant: ForkMutant
  readonly #before = new Map<NodesMemory, MemoryImage | undefined>()

  constructor(mutant: ForkMutant) {
    this.#mutant = mutant
  }

  /** Writes begin. */
  note(): void {
    for (const memory of this.#before.keys()) this.#before.set(memory, memory.image())
  }

  memoryOf(memory: NodesMemory): NodesMemory {
    this.#before.set(memory, undefined)
    return {
      get clock() {
        return memory.clock
      },
      raise: (to) => memory.raise(to),
      image: () => this.#mutated(memory.image(), this.#before.get(memory)),
    }
  }

  #mutated(image: MemoryImage, before: MemoryImage | undefined): MemoryImage {
    switch (this.#mutant) {
      case 'one-node-copied-before':
        return { ...image, maps: image.maps.map((map, n) => (n === 0 ? before?.maps[0] : undefined) ?? map) }
      case 'log-copied-before':
        return { ...image, log: before?.log ?? image.log }
    }
  }
}
