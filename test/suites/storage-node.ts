// What every storage node promises, run for each of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type KeyBytes, type SpaceId, spaceId } from '../../src/model/brand.js'
import { indexRange, itemRange, keyAfter } from '../../src/model/key-range.js'
import { itemKey } from '../../src/model/key-bytes.js'
import type { TableShape } from '../../src/model/table.js'
import type { Item } from '../../src/model/value.js'
import type { RangePage, RangeRequest, StorageNode } from '../../src/storage/contract/storage-node.js'
import {
  deleteRequest,
  getItem,
  itemOf,
  number,
  orGone,
  plain,
  plainItem,
  put,
  putRequest,
  remove,
  rich,
  updateRequest,
} from './tables.js'

const START = '' as KeyBytes

export function storageNodeSuite(name: string, open: () => Promise<StorageNode>): void {
  const scenario = (title: string, run: (node: StorageNode) => Promise<void>): void => {
    test(`${name}: ${title}`, async () => {
      const node = await open()
      try {
        await run(node)
      } finally {
        await node.close()
      }
    })
  }

  scenario('an item is read back as its own wire form', async (node) => {
    const item = plainItem('a', { price: number(12), tags: { SS: ['x', 'y'] }, __proto__: { S: 'own' } })
    const outcome = await put(node, plain, item)
    assert.equal(outcome.verdict, 'done')
    const record = await node.get(plain.space, itemKey(plain.key, item), true)
    assert.equal(Buffer.from(record?.json ?? []).toString(), JSON.stringify(item))
    assert.deepEqual(outcome.verdict === 'done' && itemOf(outcome.new), itemOf(record))
    assert.equal(await getItem(node, plain, plainItem('b')), undefined)
  })

  scenario(
    'a write answers with the images before and after, and timestamps and LSNs only grow',
    async (node) => {
      const first = await put(node, plain, plainItem('a', { v: number(1) }))
      const second = await put(node, plain, plainItem('a', { v: number(2) }))
      assert.ok(first.verdict === 'done' && second.verdict === 'done')
      assert.equal(first.old, undefined)
      assert.deepEqual(second.old, first.new)
      assert.ok(first.new && second.new)
      assert.ok(second.new.timestamp > first.new.timestamp)
      assert.ok(second.new.lsn > first.new.lsn)
      assert.deepEqual(second.new.lastWrite, { kind: 'put', blind: true })
      const removed = await remove(node, plain, plainItem('a'))
      assert.ok(removed.verdict === 'done' && removed.timestamp !== undefined)
      assert.deepEqual(removed.old, second.new)
      assert.ok(removed.timestamp > second.new.timestamp)
      const nothing = await remove(node, plain, plainItem('a'))
      assert.ok(nothing.verdict === 'done' && nothing.old === undefined && nothing.new === undefined)
    },
  )

  scenario('a failed condition changes nothing and shows the item it failed on', async (node) => {
    const written = await put(node, plain, plainItem('a', { v: number(1) }))
    const refused = await put(node, plain, plainItem('a', { v: number(2) }), {
      condition: 'attribute_not_exists(id)',
    })
    assert.ok(written.verdict === 'done')
    assert.deepEqual(refused, { verdict: 'condition-failed', current: written.new })
    const absent = await node.write(
      deleteRequest(plain, plainItem('z'), { condition: 'attribute_exists(id)' }),
    )
    assert.deepEqual(absent, { verdict: 'condition-failed' })
    assert.deepEqual(await getItem(node, plain, plainItem('a')), plainItem('a', { v: number(1) }))
  })

  scenario('of many conditional puts of one new item, sent at once, exactly one is done', async (node) => {
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        put(node, plain, plainItem('a', { by: number(i) }), { condition: 'attribute_not_exists(id)' }),
      ),
    )
    assert.equal(outcomes.filter((outcome) => outcome.verdict === 'done').length, 1)
    assert.equal(outcomes[0]?.verdict, 'done')
  })

  scenario('updates sent at once build upon each other', async (node) => {
    await Promise.all(
      Array.from({ length: 100 }, () =>
        node.write(
          updateRequest(plain, plainItem('counter'), 'ADD hits :one', { values: { ':one': number(1) } }),
        ),
      ),
    )
    assert.deepEqual(
      await getItem(node, plain, plainItem('counter')),
      plainItem('counter', { hits: number(100) }),
    )
    const record = await node.get(plain.space, itemKey(plain.key, plainItem('counter')), true)
    assert.deepEqual(record?.lastWrite, { kind: 'update', blind: false })
  })

  scenario('an item over 400 KB is refused, in the words for a put and for an update', async (node) => {
    const large = 'x'.repeat(400 * 1024)
    assert.deepEqual(await put(node, plain, plainItem('a', { large: { S: large } })), {
      verdict: 'invalid',
      message: 'Item size has exceeded the maximum allowed size',
    })
    assert.deepEqual(
      await node.write(
        updateRequest(plain, plainItem('a'), 'SET blob1 = :l', { values: { ':l': { S: large } } }),
      ),
      { verdict: 'invalid', message: 'Item size to update has exceeded the maximum allowed size' },
    )
    const most = 'x'.repeat(400 * 1024 - 'id'.length - 'a'.length - 'large'.length)
    assert.equal((await put(node, plain, plainItem('a', { large: { S: most } }))).verdict, 'done')
    assert.equal(
      text(itemOf(await node.get(plain.space, itemKey(plain.key, plainItem('a')), true)), 'large'),
      most,
    )
  })

  scenario('a key attribute of an index that is no key is refused in DynamoDB’s words', async (node) => {
    const base: Item = { id: { S: 'a' }, n: number(1) }
    assert.deepEqual(await put(node, rich, { ...base, color: number(1) }), {
      verdict: 'invalid',
      message:
        'One or more parameter values were invalid: Type mismatch for Index Key color Expected: S Actual: N IndexName: by-color',
    })
    assert.deepEqual(await put(node, rich, { ...base, color: { S: '' } }), {
      verdict: 'invalid',
      message:
        'One or more parameter values are not valid. A value specified for a secondary index key is not supported. The AttributeValue for a key attribute cannot contain an empty string value. IndexName: by-color, IndexKey: color',
    })
    assert.equal((await put(node, rich, { ...base, tag: { B: '' } })).verdict, 'invalid')
    assert.equal((await put(node, rich, { ...base, color: { S: 'c'.repeat(2049) } })).verdict, 'invalid')
    assert.equal(
      (await put(node, rich, { ...base, color: { S: 'c'.repeat(2048) }, weight: number(1) })).verdict,
      'done',
    )
  })

  scenario('a range is in key order, in both directions, in pages', async (node) => {
    for (const n of [5, -3, 10, 2, 0]) await put(node, rich, { id: { S: 'p' }, n: number(n) })
    await put(node, rich, { id: { S: 'other' }, n: number(1) })
    const range = itemRange(rich.key, { S: 'p' })
    assert.deepEqual(await numbers(node, rich.space, range, false), ['-3', '0', '2', '5', '10'])
    assert.deepEqual(await numbers(node, rich.space, range, true), ['10', '5', '2', '0', '-3'])

    const first = await node.range({ ...page(rich.space), ...range, entriesMax: 2 })
    assert.equal(first.entries.length, 2)
    assert.equal(first.more, true)
    const next = keyAfter(first.entries[1]?.key as KeyBytes)
    assert.deepEqual(await numbers(node, rich.space, { ...range, from: next }, false), ['2', '5', '10'])
    const exact = await node.range({ ...page(rich.space), ...range, entriesMax: 5 })
    assert.equal(exact.more, false)
    const small = await node.range({ ...page(rich.space), ...range, bytesMax: 1 })
    assert.equal(small.entries.length, 1)
    assert.equal(small.more, true)
    assert.deepEqual(await node.range({ ...page(rich.space), from: 'b' as KeyBytes, to: 'a' as KeyBytes }), {
      entries: [],
      more: false,
    })
  })

  scenario('an index follows its items in the same step', async (node) => {
    const of = (n: number, color: string | undefined, weight: number): Item => ({
      id: { S: 'p' },
      n: number(n),
      ...(color !== undefined && { color: { S: color } }),
      weight: number(weight),
    })
    await put(node, rich, of(1, 'red', 30))
    await put(node, rich, of(2, 'red', 10))
    await put(node, rich, of(3, 'blue', 20))
    await put(node, rich, of(4, undefined, 20))
    assert.deepEqual(await byColor(node, 'red'), ['2', '1'])
    assert.equal((await node.count(spaceId(11))).items, 3)
    await put(node, rich, of(2, 'blue', 10))
    assert.deepEqual(await byColor(node, 'red'), ['1'])
    assert.deepEqual(await byColor(node, 'blue'), ['2', '3'])
    await node.write(updateRequest(rich, { id: { S: 'p' }, n: number(3) }, 'REMOVE color'))
    await remove(node, rich, { id: { S: 'p' }, n: number(1) })
    assert.deepEqual(await byColor(node, 'red'), [])
    assert.deepEqual(await byColor(node, 'blue'), ['2'])
    assert.equal((await node.count(spaceId(11))).items, 1)
    assert.equal((await node.count(rich.space)).items, 3)
  })

  scenario('items are counted with their bytes', async (node) => {
    assert.deepEqual(await node.count(plain.space), { items: 0, bytes: 0 })
    const outcomes = await Promise.all(['a', 'b', 'c'].map((id) => put(node, plain, plainItem(id))))
    const bytes = outcomes.reduce((sum, o) => sum + ((o.verdict === 'done' && o.new?.itemBytes) || 0), 0)
    assert.deepEqual(await node.count(plain.space), { items: 3, bytes })
    await remove(node, plain, plainItem('b'))
    await put(node, plain, plainItem('a', { more: { S: '12345' } }))
    assert.equal((await node.count(plain.space)).items, 2)
  })

  scenario('items that expire are found, oldest first, and only those that are due', async (node) => {
    const at = (id: string, until: Item[string]): Item => ({ id: { S: id }, n: number(1), until })
    await put(node, rich, at('late', number(300)))
    await put(node, rich, at('first', number(100)))
    await put(node, rich, at('second', number(200)))
    await put(node, rich, at('text', { S: '100' }))
    await put(node, rich, at('negative', number(-5)))
    const due = await node.expired(spaceId(13), rich.space, 200, 10)
    assert.deepEqual(
      due.map((entry) => itemOf(entry.record)?.['id']),
      [{ S: 'first' }, { S: 'second' }],
    )
    assert.equal((await node.expired(spaceId(13), rich.space, 200, 1)).length, 1)
    await remove(node, rich, at('first', number(0)))
    assert.equal((await node.expired(spaceId(13), rich.space, 200, 10)).length, 1)
  })

  scenario('meta records are written together, listed by prefix and removed', async (node) => {
    await node.writeMeta([
      { name: 'table/ä', value: Buffer.from('1') },
      { name: 'table/b', value: Buffer.from('2') },
      { name: 'other', value: Buffer.alloc(0) },
    ])
    const texts = async (prefix: string): Promise<string[]> =>
      (await node.readMeta(prefix)).map((entry) => `${entry.name}=${Buffer.from(entry.value).toString()}`)
    assert.deepEqual(await texts('table/'), ['table/b=2', 'table/ä=1'])
    assert.deepEqual(await texts(''), ['other=', 'table/b=2', 'table/ä=1'])
    await node.writeMeta([{ name: 'table/b' }, { name: 'table/c', value: Buffer.from('3') }])
    assert.deepEqual(await texts('table/'), ['table/c=3', 'table/ä=1'])
  })

  scenario(
    'meta records are written if one of them is as it was seen, and otherwise not at all',
    async (node) => {
      const seen = (value?: string) => ({ name: 'version', ...(value && { value: Buffer.from(value) }) })
      const other = { name: 'other', value: Buffer.from('x') }
      assert.equal(await node.writeMetaIf(seen('1'), [other]), false, 'absent')
      assert.equal(await node.writeMetaIf(seen(), [seen('1'), other]), true)
      assert.equal(await node.writeMetaIf(seen(), [{ name: 'other' }]), false, 'there')
      assert.equal(await node.writeMetaIf(seen('2'), [{ name: 'other' }]), false, 'another value')
      assert.equal((await node.readMeta('')).length, 2)
      const both = [seen('2'), seen('3')].map((next) => node.writeMetaIf(seen('1'), [next]))
      assert.deepEqual(await Promise.all(both), [true, false], 'one of two at once')
      assert.equal(await node.writeMetaIf(seen('2'), [{ name: 'version' }, { name: 'other' }]), true)
      assert.deepEqual(await node.readMeta(''), [])
    },
  )

  scenario(
    'of two shapes of a table the newer is in force, whichever a node is told of first',
    async (node) => {
      const [index] = rich.indexes
      assert.ok(index)
      const older: TableShape = { ...rich, indexes: [], version: 1 }
      const newer: TableShape = { ...rich, version: 2 }
      const item = (n: number): Item => ({
        id: { S: 'p' },
        n: number(n),
        color: { S: 'red' },
        weight: number(n),
      })
      await node.setShape(newer)
      await node.setShape(older)
      await put(node, older, item(1))
      assert.equal((await node.count(index.space)).items, 1, 'validated with the older one')
    },
  )

  scenario(
    'a step with a newer shape than the node was told of follows it, and so does what comes after',
    async (node) => {
      const [index] = rich.indexes
      assert.ok(index)
      await node.setShape({ ...rich, indexes: [], version: 1 })
      const item = { id: { S: 'p' }, n: number(1), color: { S: 'red' }, weight: number(1) }
      await put(node, { ...rich, version: 2 }, item)
      assert.equal((await node.count(index.space)).items, 1)
      await remove(node, { ...rich, indexes: [], version: 1 }, item)
      assert.equal((await node.count(index.space)).items, 0, 'and so do those after it')
    },
  )

  scenario('a table that was dropped does not come back with a shape that is told late', async (node) => {
    await node.dropTable(plain.space)
    await node.setShape({ ...plain, version: 3 })
    await orGone(put(node, plain, plainItem('a')))
    assert.equal(await orGone(getItem(node, plain, plainItem('a'))), undefined)
  })

  scenario('a new index is filled while writes go on, and counts each item once', async (node) => {
    const old: TableShape = { name: rich.name, space: rich.space, key: rich.key, indexes: [] }
    const item = (n: number, color: string): Item => ({
      id: { S: 'p' },
      n: number(n),
      color: { S: color },
      weight: number(n),
    })
    for (let n = 0; n < 10; n++) await put(node, old, item(n, 'red'))
    await put(node, old, { id: { S: 'p' }, n: number(99), color: number(7) })
    const [index] = rich.indexes
    assert.ok(index)
    let from: KeyBytes | undefined = START
    for (let round = 0; from !== undefined; round++) {
      // Writes that know the index, to items before and behind the place it has been filled up to.
      await put(node, rich, { ...item(round, 'red'), more: { S: 'longer' } })
      await put(node, rich, item(9 - round, 'blue'))
      if (round === 1) await remove(node, rich, item(5, ''))
      from = await node.backfill({ table: rich, index, from, itemsMax: 3 })
      assert.ok(round < 10)
    }
    const all = await node.range({ ...page(index.space), itemSpace: rich.space })
    assert.equal(all.entries.length, (await node.count(index.space)).items)
    assert.equal(
      all.entries.reduce((sum, e) => sum + e.record.itemBytes, 0),
      (await node.count(index.space)).bytes,
    )
    const found = new Set(all.entries.map((e) => text(itemOf(e.record), 'n')))
    assert.deepEqual(found, new Set(['0', '1', '2', '3', '4', '6', '7', '8', '9']))
  })

  scenario('a dropped space is swept in steps, and its neighbours stay', async (node) => {
    for (let i = 0; i < 7; i++) await put(node, plain, plainItem(`i${i}`))
    await put(node, { ...plain, space: spaceId(2) }, plainItem('stays'))
    let steps = 0
    while (!(await node.sweep(plain.space, 3))) assert.ok(++steps < 10)
    // A node may forget a space as a whole.
    assert.ok(steps === 2 || steps === 0)
    assert.deepEqual(await node.range(page(plain.space)), { entries: [], more: false })
    assert.equal((await node.range(page(spaceId(2)))).entries.length, 1)
    assert.deepEqual(await node.count(plain.space), { items: 0, bytes: 0 })
  })

  scenario('keys and values of maximal size are kept and ordered', async (node) => {
    const table: TableShape = {
      ...plain,
      key: { partition: { name: 'id', type: 'S' }, sort: { name: 's', type: 'S' } },
      indexes: [
        {
          name: 'big',
          space: spaceId(3),
          kind: 'global',
          key: { partition: { name: 'gp', type: 'S' }, sort: { name: 'gs', type: 'S' } },
          projection: { type: 'ALL' },
        },
      ],
    }
    const [id, gp] = [{ S: 'é'.repeat(1024) }, { S: 'p'.repeat(2048) }]
    const item = (last: string): Item => ({
      id,
      s: { S: '\uffff'.repeat(340) + last },
      gp,
      gs: { S: 'g'.repeat(1023) + last },
    })
    for (const last of ['c', 'a', 'b']) assert.equal((await put(node, table, item(last))).verdict, 'done')
    const ends = async (request: RangeRequest): Promise<unknown[]> =>
      (await node.range(request)).entries.map((entry) => text(itemOf(entry.record), 's')?.at(-1))
    assert.deepEqual(await ends({ ...page(table.space), ...itemRange(table.key, id) }), ['a', 'b', 'c'])
    const index = table.indexes[0]
    assert.ok(index)
    const range = indexRange(index.key, gp)
    assert.deepEqual(await ends({ ...page(index.space), itemSpace: table.space, ...range, reverse: true }), [
      'c',
      'b',
      'a',
    ])
    assert.deepEqual(await getItem(node, table, item('b')), item('b'))
  })

  scenario(
    'a walk through a table or an index answers every entry once, whatever its pages hold',
    async (node) => {
      const table: TableShape = {
        ...rich,
        indexes: [
          ...rich.indexes.slice(0, 1),
          {
            name: 'by-weight',
            space: spaceId(14),
            kind: 'local',
            key: { partition: { name: 'id', type: 'S' }, sort: { name: 'weight', type: 'N' } },
            projection: { type: 'ALL' },
          },
        ],
      }
      await node.setShape(table)
      const twins = Array.from({ length: 12 }, (_, n) => ({
        id: { S: `p${n % 3}` },
        n: number(n),
        weight: number(n % 2),
        color: { S: n % 2 === 0 ? 'red' : 'red\0' },
      }))
      for (const item of twins) assert.equal((await put(node, table, item)).verdict, 'done')
      // Some entries of an index have stood there before.
      for (const item of twins.slice(0, 4)) await put(node, table, { ...item, color: { S: 'blue' } })
      for (const item of twins.slice(0, 4)) await put(node, table, item)
      for (const { space } of [table, ...table.indexes])
        for (const entriesMax of [1, 2, 5]) {
          const found: string[] = []
          for (let from: KeyBytes | undefined = START; from !== undefined;) {
            const request = { ...page(space), entriesMax, from }
            const whole = space === table.space ? request : { ...request, itemSpace: table.space }
            const { entries, more }: RangePage = await node.range(whole)
            for (const { record } of entries) found.push(JSON.stringify(itemOf(record)))
            const last = entries.at(-1)
            from = more && last !== undefined ? keyAfter(last.key) : undefined
          }
          assert.deepEqual(found.toSorted(), twins.map((item) => JSON.stringify(item)).toSorted())
        }
    },
  )

  scenario('a thousand writes at once are all kept', async (node) => {
    await Promise.all(
      Array.from({ length: 1000 }, (_, i) => node.write(putRequest(plain, plainItem(`i${i}`)))),
    )
    assert.equal((await node.count(plain.space)).items, 1000)
    assert.equal((await node.range(page(plain.space))).entries.length, 1000)
  })
}

export function page(space: SpaceId): RangeRequest {
  return { space, from: START, reverse: false, entriesMax: 10_000, bytesMax: 1 << 30 }
}

async function numbers(
  node: StorageNode,
  space: SpaceId,
  range: Pick<RangeRequest, 'from' | 'to'>,
  reverse: boolean,
): Promise<(string | undefined)[]> {
  const { entries } = await node.range({ ...page(space), ...range, reverse })
  return entries.map((entry) => text(itemOf(entry.record), 'n'))
}

async function byColor(node: StorageNode, color: string): Promise<(string | undefined)[]> {
  const index = rich.indexes[0]
  assert.ok(index)
  const { entries } = await node.range({
    ...page(index.space),
    itemSpace: rich.space,
    ...indexRange(index.key, { S: color }),
  })
  return entries.map((entry) => text(itemOf(entry.record), 'n'))
}

/** The text of a string or number attribute. */
function text(item: Item | undefined, name: string): string | undefined {
  const value = item?.[name]
  if (value === undefined) return undefined
  return 'S' in value ? value.S : 'N' in value ? value.N : undefined
}
