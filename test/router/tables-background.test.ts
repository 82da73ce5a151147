// Indexes that are added and dropped, tables that are deleted, items that expire: what happens behind the requests.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import type { SpaceId } from '../../src/model/brand.js'
import type { Item } from '../../src/model/value.js'
import { HASH, index, openTables, S, START_MS, table, type TestTables } from './tables-support.js'

const NOW = Math.floor(START_MS / 1000)

let tables: TestTables
beforeEach(async () => {
  tables = await openTables({ nodeCount: 2 })
  await tables.call('CreateTable', table('Orders'))
})
afterEach(() => tables.close())

const order = (id: number, group: string): Item => ({ id: { S: `order-${id}` }, group: { S: group } })

async function putOrders(count: number): Promise<void> {
  for (let id = 0; id < count; id++) await tables.put('Orders', order(id, 'old'))
}

const addIndex = (): Promise<ReturnType<TestTables['call']>> =>
  tables.call('UpdateTable', {
    TableName: 'Orders',
    AttributeDefinitions: [S('group')],
    GlobalSecondaryIndexUpdates: [{ Create: index('by-group', [HASH('group')]) }],
  })

const dropIndex = (): Promise<ReturnType<TestTables['call']>> =>
  tables.call('UpdateTable', {
    TableName: 'Orders',
    GlobalSecondaryIndexUpdates: [{ Delete: { IndexName: 'by-group' } }],
  })

const indexSpace = (): SpaceId => tables.catalog.table('Orders').shape.indexes[0]?.space as SpaceId
const indexStatus = async (): Promise<string> =>
  (await tables.call('DescribeTable', { TableName: 'Orders' })).Table.GlobalSecondaryIndexes[0].IndexStatus

/** What the index holds, as the ids and groups of the items its entries lead to, in order. */
async function indexed(): Promise<string[]> {
  const entries = await tables.entries(indexSpace(), tables.catalog.table('Orders').shape.space)
  const items = entries.map(({ record }) => JSON.parse(Buffer.from(record.json).toString()))
  return items.map((item) => `${item.id.S} ${item.group.S}`).toSorted()
}

/** What is left of the background work, turn by turn. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('an index that is added', () => {
  test('is being created until the items that were there are in it', async () => {
    await putOrders(1000)
    const { TableDescription: answer } = await addIndex()
    assert.equal(answer.TableStatus, 'UPDATING')
    assert.equal(answer.GlobalSecondaryIndexes[0].IndexStatus, 'CREATING')
    assert.equal(answer.GlobalSecondaryIndexes[0].Backfilling, false)
    assert.equal(await indexStatus(), 'CREATING')
    assert.equal(tables.catalog.table('Orders').readableIndexes.size, 0)
    await tables.catalog.idle()
    assert.equal(await indexStatus(), 'ACTIVE')
    assert.ok(tables.catalog.table('Orders').readableIndexes.has('by-group'))
    assert.equal((await indexed()).length, 1000)
  })

  test('misses nothing of what is written, changed and removed meanwhile', async () => {
    await putOrders(1000)
    const writes: Promise<void>[] = []
    const expected = new Map(Array.from({ length: 1000 }, (_, id) => [id, 'old']))
    const adding = addIndex()
    for (let round = 0; round < 40; round++) {
      for (let at = 0; at < 10; at++) {
        const id = (round * 389 + at * 97) % 1200
        if (at % 3 === 0) {
          writes.push(tables.remove('Orders', order(id, 'x')))
          expected.delete(id)
        } else {
          writes.push(tables.put('Orders', order(id, `new-${round}`)))
          expected.set(id, `new-${round}`)
        }
      }
      await turn()
    }
    await Promise.all([adding, ...writes])
    await tables.catalog.idle()
    assert.deepEqual(await indexed(), [...expected].map(([id, group]) => `order-${id} ${group}`).toSorted())
  })

  test('is completed after a restart in the middle', async () => {
    await putOrders(2000)
    await addIndex()
    await turn()
    await turn()
    await tables.reopen()
    assert.equal(await indexStatus(), 'CREATING')
    await tables.put('Orders', order(5000, 'late'))
    await tables.catalog.idle()
    assert.equal(await indexStatus(), 'ACTIVE')
    assert.equal((await indexed()).length, 2001)
  })

  test('keeps others waiting, but can itself be given up', async () => {
    await putOrders(1000)
    await addIndex()
    assert.equal(
      await tables.refusal('UpdateTable', {
        TableName: 'Orders',
        AttributeDefinitions: [S('group')],
        GlobalSecondaryIndexUpdates: [{ Create: index('another', [HASH('group')]) }],
      }),
      'LimitExceededException: Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table',
    )
    const space = indexSpace()
    await dropIndex()
    await tables.catalog.idle()
    assert.deepEqual(await tables.entries(space), [])
    assert.deepEqual(tables.catalog.droppedSpaces(), [])
  })

  test('is filled in spite of errors, once they are over', async () => {
    await putOrders(10)
    const [node] = tables.nodes
    assert.ok(node)
    const backfill = node.backfill.bind(node)
    node.backfill = () => Promise.reject(new Error('no space left on device'))
    await addIndex()
    await tables.catalog.idle()
    assert.equal(await indexStatus(), 'CREATING')
    assert.equal(tables.backgroundErrors.length, 1)
    node.backfill = backfill
    tables.clock.advance(1000)
    await tables.catalog.idle()
    assert.equal(await indexStatus(), 'ACTIVE')
    assert.equal((await indexed()).length, 10)
  })
})

describe('an index that is dropped', () => {
  beforeEach(async () => {
    await putOrders(300)
    await addIndex()
    await tables.catalog.idle()
  })

  test('is gone at once and leaves nothing behind', async () => {
    const space = indexSpace()
    const { TableDescription: answer } = await dropIndex()
    assert.equal(answer.GlobalSecondaryIndexes[0].IndexStatus, 'DELETING')
    const { Table: described } = await tables.call('DescribeTable', { TableName: 'Orders' })
    assert.equal(described.GlobalSecondaryIndexes, undefined)
    assert.deepEqual(described.AttributeDefinitions, [S('id')])
    assert.deepEqual(tables.catalog.table('Orders').shape.indexes, [])
    await tables.catalog.idle()
    assert.deepEqual(await tables.entries(space), [])
    assert.equal((await tables.catalog.count(space)).items, 0)
  })

  test('can be added again under its name, in a space of its own', async () => {
    const space = indexSpace()
    await dropIndex()
    await addIndex()
    assert.notEqual(indexSpace(), space)
    await tables.catalog.idle()
    assert.equal((await indexed()).length, 300)
  })
})

describe('a table that is deleted', () => {
  test('leaves nothing behind, in none of its spaces', async () => {
    await putOrders(2500)
    await addIndex()
    await tables.catalog.idle()
    const spaces = [tables.catalog.table('Orders').shape.space, indexSpace()]
    await tables.call('DeleteTable', { TableName: 'Orders' })
    assert.deepEqual(tables.catalog.droppedSpaces(), spaces)
    await tables.catalog.idle()
    for (const space of spaces) assert.deepEqual(await tables.entries(space), [])
    assert.deepEqual(tables.catalog.droppedSpaces(), [])
    for (const node of tables.nodes) assert.deepEqual(await node.readMeta('dropped/'), [])
  })

  test('is swept after a restart in the middle', async () => {
    await putOrders(3000)
    const { space } = tables.catalog.table('Orders').shape
    await tables.call('DeleteTable', { TableName: 'Orders' })
    await turn()
    await tables.reopen()
    assert.deepEqual(tables.catalog.droppedSpaces(), [space])
    await tables.catalog.idle()
    assert.deepEqual(await tables.entries(space), [])
    assert.deepEqual(tables.catalog.droppedSpaces(), [])
  })

  test('does not disturb a new one of its name', async () => {
    await putOrders(500)
    await tables.call('DeleteTable', { TableName: 'Orders' })
    await tables.call('CreateTable', table('Orders'))
    await tables.put('Orders', order(1, 'new'))
    await tables.catalog.idle()
    assert.equal((await tables.entries(tables.catalog.table('Orders').shape.space)).length, 1)
  })
})

describe('time to live', () => {
  const setTtl = (enabled: boolean): Promise<unknown> =>
    tables.call('UpdateTimeToLive', {
      TableName: 'Orders',
      TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: enabled },
    })
  const status = async (): Promise<unknown> =>
    (await tables.call('DescribeTimeToLive', { TableName: 'Orders' })).TimeToLiveDescription
  const expiring = (id: string, ttl: number): Item => ({ id: { S: id }, ttl: { N: String(ttl) } })
  const ids = async (): Promise<string[]> => {
    const entries = await tables.entries(tables.catalog.table('Orders').shape.space)
    return entries
      .map(({ record }) => String(JSON.parse(Buffer.from(record.json).toString()).id.S))
      .toSorted()
  }
  /** Lets that much time pass, round by round. */
  const pass = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second++) {
      tables.clock.advance(1000)
      await tables.catalog.idle()
    }
  }

  test('is enabled once the items that were there are known', async () => {
    assert.deepEqual(await status(), { TimeToLiveStatus: 'DISABLED' })
    await putOrders(500)
    await setTtl(true)
    assert.deepEqual(await status(), { TimeToLiveStatus: 'ENABLING', AttributeName: 'ttl' })
    await tables.catalog.idle()
    assert.deepEqual(await status(), { TimeToLiveStatus: 'ENABLED', AttributeName: 'ttl' })
  })

  test('deletes items when their time has passed, those from before it was enabled too', async () => {
    await tables.put('Orders', expiring('before', NOW + 5))
    await tables.put('Orders', expiring('later', NOW + 3600))
    await setTtl(true)
    await tables.catalog.idle()
    await tables.put('Orders', expiring('after', NOW + 5))
    await tables.put('Orders', { id: { S: 'text' }, ttl: { S: '1' } })
    await tables.put('Orders', { id: { S: 'none' } })
    await pass(3)
    assert.deepEqual(await ids(), ['after', 'before', 'later', 'none', 'text'])
    await pass(4)
    assert.deepEqual(await ids(), ['later', 'none', 'text'])
  })

  test('keeps items whose expiry is more than five years past, however many there are', async () => {
    await setTtl(true)
    for (let id = 0; id < 600; id++) await tables.put('Orders', expiring(`ancient-${id}`, 12345))
    await tables.put('Orders', expiring('expired', NOW - 5))
    await tables.catalog.idle()
    await pass(3)
    assert.equal((await ids()).length, 600)
    assert.ok(!(await ids()).includes('expired'))
  })

  test('spares an item that is given more time while it is about to be deleted', async () => {
    await setTtl(true)
    await tables.put('Orders', expiring('one', NOW - 5))
    await tables.put('Orders', expiring('two', NOW - 5))
    await tables.catalog.idle()
    let refreshed: Promise<void> | undefined
    for (const node of tables.nodes) {
      const range = node.range.bind(node)
      node.range = async (request) => {
        const page = await range(request)
        // Only the sweeper reads a range with an end here.
        if (request.to !== undefined) refreshed ??= tables.put('Orders', expiring('one', NOW + 3600))
        await refreshed
        return page
      }
    }
    await pass(2)
    assert.deepEqual(await ids(), ['one'])
  })

  test('deletes more than one round can take', async () => {
    for (let id = 0; id < 1500; id++) await tables.put('Orders', expiring(`order-${id}`, NOW - 5))
    await setTtl(true)
    await tables.catalog.idle()
    await pass(3)
    assert.deepEqual(await ids(), [])
  })

  test('when disabled deletes nothing more and leaves no entries behind', async () => {
    await tables.put('Orders', expiring('one', NOW + 2))
    await setTtl(true)
    await tables.catalog.idle()
    const space = tables.catalog.table('Orders').shape.expiry?.space
    assert.ok(space)
    await setTtl(false)
    assert.deepEqual(await status(), { TimeToLiveStatus: 'DISABLED' })
    await tables.catalog.idle()
    await pass(5)
    assert.deepEqual(await ids(), ['one'])
    assert.deepEqual(await tables.entries(space, tables.catalog.table('Orders').shape.space), [])
  })

  test('whoever waits for the background to be idle need not know how often it looks', async () => {
    await setTtl(true)
    await tables.put('Orders', expiring('one', NOW + 3_600))
    tables.clock.advance(1_800_000)
    await tables.catalog.idle()
    const { space } = tables.catalog.table('Orders').shape
    assert.equal((await tables.entries(space)).length, 1)
    tables.clock.advance(1_801_000)
    await tables.catalog.idle()
    assert.equal((await tables.entries(space)).length, 0)
  })

  test('goes on after errors, and stops when the catalogue is closed', async () => {
    await setTtl(true)
    await tables.catalog.idle()
    await tables.put('Orders', expiring('one', NOW - 5))
    const ranges = tables.nodes.map((node) => node.range.bind(node))
    for (const node of tables.nodes) node.range = () => Promise.reject(new Error('no space left on device'))
    await pass(1)
    assert.ok(tables.backgroundErrors.length >= tables.nodes.length)
    tables.nodes.forEach((node, at) => (node.range = ranges[at] as typeof node.range))
    const { space } = tables.catalog.table('Orders').shape
    await tables.catalog.close()
    tables.clock.advance(10_000)
    await turn()
    assert.equal((await tables.entries(space)).length, 1)
    await tables.reopen()
    await pass(1)
    assert.equal((await tables.entries(space)).length, 0)
  })
})
