// What readers see while the catalogue is being changed, or while a transaction is on its way: nodes whose calls can be held.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { localPlacement } from '../../src/coordinator/placement.js'
import { allRules } from '../../src/rules/item/section-4.js'
import { manualClock } from '../../src/runtime/manual-clock.js'
import { clientRuntime, realRuntime } from '../../src/runtime/real-runtime.js'
import { openNodesWithLog } from '../../src/storage/folder/open-local-node.js'
import type { StorageNode } from '../../src/storage/contract/storage-node.js'
import { openStore } from '../../src/store/local-store.js'
import {
  clientsOf,
  HOUR_MS,
  idsOf,
  iteratorOf,
  put,
  readAll,
  readOn,
  shardsOf,
  START_MS,
  streamed,
  type StreamStore,
} from './support.js'

/** Calls of one kind wait here, from `close` on until `open`. */
class Gate {
  #closed: Promise<void> | undefined
  #open: (() => void) | undefined
  #arrived: (() => void) | undefined
  #failure: Error | undefined

  /** Resolves when a call has come. */
  close(): Promise<void> {
    this.#closed = new Promise((resolve) => (this.#open = resolve))
    return new Promise((resolve) => (this.#arrived = resolve))
  }

  open(failure?: Error): void {
    this.#failure = failure
    this.#closed = undefined
    this.#open?.()
  }

  async pass(): Promise<void> {
    if (this.#closed === undefined) return
    this.#arrived?.()
    await this.#closed
    const failure = this.#failure
    this.#failure = undefined
    if (failure !== undefined) throw failure
  }
}

/** The node, with a gate before (or for the answer, behind) each call of that name. */
const gated = (
  node: StorageNode,
  name: keyof StorageNode,
  { before, behind }: { readonly before?: Gate; readonly behind?: Gate },
): StorageNode =>
  new Proxy(node, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target)
      if (typeof value !== 'function') return value
      const method = value.bind(target) as (...args: readonly unknown[]) => unknown
      if (property !== name) return method
      return async (...args: readonly unknown[]) => {
        await before?.pass()
        const answer = await method(...args)
        await behind?.pass()
        return answer
      }
    },
  })

async function openGated(
  t: TestContext,
  wrap: (nodes: readonly StorageNode[]) => readonly StorageNode[],
  nodeCount = 1,
): Promise<StreamStore & { readonly errors: unknown[] }> {
  const clock = manualClock(START_MS)
  const runtime = { ...realRuntime(), clock }
  const { nodes, log } = await openNodesWithLog({ runtime, memory: true, nodes: nodeCount })
  const errors: unknown[] = []
  const store = await openStore({
    runtime,
    clients: { ...clientRuntime(), clock },
    nodes: wrap(nodes),
    log,
    placement: localPlacement(nodeCount),
    rules: allRules,
    sharedJournal: false,
    isSoleOwner: true,
    onError: (error) => errors.push(error),
  })
  t.after(() => store.close())
  const { url } = await store.listen({ port: 0 })
  const clients = clientsOf(url)
  t.after(() => {
    clients.dynamodb.destroy()
    clients.streams.destroy()
  })
  const advance = async (ms: number): Promise<void> => {
    clock.advance(ms)
    await store.idle()
  }
  return { store, clock, url, ...clients, advance, errors }
}

test('streams: nothing behind the end of a shard is shown before its child is durable', async (t) => {
  const gate = new Gate()
  const own = await openGated(t, ([node]) => [gated(node!, 'writeMetaIf', { before: gate })])
  const arn = await streamed(own, 'Orders')
  await put(own, 'Orders', 'a')
  const arrived = gate.close()
  own.clock.advance(4 * HOUR_MS)
  await arrived
  await put(own, 'Orders', 'b')
  // The shard is still open, and its child is not there yet.
  const [shard, ...others] = await shardsOf(own, arn)
  assert.equal(others.length, 0)
  const id = shard!.ShardId!
  const first = await readOn(own, await iteratorOf(own, arn, id))
  assert.deepEqual(idsOf(first.records), ['a'])
  assert.ok(first.next)
  const latest = await iteratorOf(own, arn, id, 'LATEST')
  gate.open()
  await own.store.idle()
  assert.deepEqual(await readOn(own, first.next), { records: [], next: undefined })
  assert.deepEqual(await readOn(own, latest), { records: [], next: undefined })
  const [parent, child] = await shardsOf(own, arn)
  assert.equal(child!.ParentShardId, parent!.ShardId)
  assert.deepEqual(idsOf((await readOn(own, await iteratorOf(own, arn, child!.ShardId!))).records), ['b'])
})

for (const outcome of ['written', 'not written'] as const) {
  test(`streams: if it is not known whether shards have rolled, and it was ${outcome}, they do so at the same place`, async (t) => {
    const gate = new Gate()
    const place = outcome === 'written' ? { behind: gate } : { before: gate }
    const own = await openGated(t, ([node]) => [gated(node!, 'writeMetaIf', place)])
    const arn = await streamed(own, 'Orders')
    await put(own, 'Orders', 'a')
    const arrived = gate.close()
    own.clock.advance(4 * HOUR_MS)
    await arrived
    await put(own, 'Orders', 'b')
    gate.open(new Error('the disk is gone'))
    await own.store.idle().catch(() => undefined)
    const [shard] = await shardsOf(own, arn)
    await put(own, 'Orders', 'c')
    const before = await readOn(own, await iteratorOf(own, arn, shard!.ShardId!))
    assert.deepEqual(idsOf(before.records), ['a'])
    await own.advance(1000)
    const [parent, child, ...more] = await shardsOf(own, arn)
    assert.equal(more.length, 0)
    assert.equal(parent!.SequenceNumberRange!.EndingSequenceNumber, '100000000000000199999')
    assert.deepEqual(idsOf((await readOn(own, await iteratorOf(own, arn, child!.ShardId!))).records), [
      'b',
      'c',
    ])
    assert.equal((own.errors[0] as Error).message, 'the disk is gone')
  })
}

test('streams: a stream ends behind what was answered while a transaction was on its way', async (t) => {
  const gate = new Gate()
  const nodeCount = 2
  const own = await openGated(
    t,
    ([one, other]) => [one!, gated(other!, 'commit', { before: gate })],
    nodeCount,
  )
  const arn = await streamed(own, 'Orders', 'KEYS_ONLY')
  const arrived = gate.close()
  const ids = Array.from({ length: 8 }, (_, n) => `t-${n}`)
  const transaction = own.dynamodb.transactWriteItems({
    TransactItems: ids.map((id) => ({ Put: { TableName: 'Orders', Item: { id: { S: id } } } })),
  })
  await arrived
  // It has ended at one node, and these come after it.
  const others = Array.from({ length: 8 }, (_, n) => `w-${n}`)
  for (const id of others) await put(own, 'Orders', id)
  const disabled = own.dynamodb.updateTable({
    TableName: 'Orders',
    StreamSpecification: { StreamEnabled: false },
  })
  // More than enough turns, if it were not to wait.
  for (let turn = 0; turn < 300; turn++) await new Promise((resolve) => setImmediate(resolve))
  gate.open()
  await transaction
  await disabled
  const seen = idsOf(await readAll(own, arn))
  for (const id of others) assert.ok(seen.includes(id), `${id} was answered before`)
})

for (const order of ['enabled', 'enabled and disabled at once'] as const) {
  test(`streams: of a transaction that is being carried out while a stream is ${order} it has all or nothing`, async (t) => {
    const gate = new Gate()
    const own = await openGated(t, ([one, other]) => [one!, gated(other!, 'commit', { before: gate })], 2)
    await own.dynamodb.createTable({
      TableName: 'Orders',
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    })
    const ids = Array.from({ length: 8 }, (_, n) => `t-${n}`)
    const write = (): Promise<unknown> =>
      own.dynamodb.transactWriteItems({
        TransactItems: ids.map((id) => ({
          Update: {
            TableName: 'Orders',
            Key: { id: { S: id } },
            UpdateExpression: 'ADD n :one',
            ExpressionAttributeValues: { ':one': { N: '1' } },
          },
        })),
      })
    const arrived = gate.close()
    const before = write()
    await arrived
    const over = { isOver: false }
    const enabled = own.dynamodb
      .updateTable({
        TableName: 'Orders',
        StreamSpecification: { StreamEnabled: true, StreamViewType: 'KEYS_ONLY' },
      })
      .finally(() => (over.isOver = true))
    for (let turn = 0; turn < 300; turn++) {
      await new Promise((resolve) => setImmediate(resolve))
      own.clock.advance(1)
    }
    assert.equal(over.isOver, false, 'it waits for the transaction')
    gate.open()
    await before
    while (!over.isOver) {
      own.clock.advance(1)
      await new Promise((resolve) => setImmediate(resolve))
    }
    const { LatestStreamArn: arn } = (await enabled).TableDescription!
    if (order === 'enabled') await write()
    await own.dynamodb.updateTable({ TableName: 'Orders', StreamSpecification: { StreamEnabled: false } })
    const seen = idsOf(await readAll(own, arn!))
    assert.deepEqual(seen.toSorted(), order === 'enabled' ? ids : [])
  })
}
