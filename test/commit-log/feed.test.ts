// What steps of storage nodes leave in the log of commits.
import assert from 'node:assert/strict'
import { existsSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { CommitRecord } from '../../src/commit-log/commit-record.js'
import type { LocalLog } from '../../src/commit-log/local-log.js'
import { itemKey } from '../../src/model/key-bytes.js'
import { spaceId, timestamp, type TxId } from '../../src/model/brand.js'
import { keyAttributesOf, type TableShape } from '../../src/model/table.js'
import type { Item } from '../../src/model/value.js'
import { realRuntime } from '../../src/runtime/real-runtime.js'
import type { StorageNode } from '../../src/storage/contract/storage-node.js'
import type { Action } from '../../src/storage/contract/transactions.js'
import { testFolder } from '../support/folder.js'
import { openNodesWithLog } from '../../src/storage/folder/open-local-node.js'

const PLAIN: TableShape = {
  name: 'T',
  space: spaceId(1),
  key: { partition: { name: 'id', type: 'S' } },
  indexes: [],
}
const LOGGED: TableShape = { ...PLAIN, version: 1, logged: { old: true, new: true } }

const put = (item: Item, table = LOGGED): Action & { mutation: { kind: 'put'; item: Item } } => ({
  table,
  key: itemKey(table.key, item),
  keyAttributes: keyAttributesOf(table.key, item),
  mutation: { kind: 'put', item },
})
const remove = (id: string, table = LOGGED): Action & { mutation: { kind: 'delete' } } => ({
  ...put({ id: { S: id } }, table),
  mutation: { kind: 'delete' },
})
const item = (id: string, n: number): Item => ({ id: { S: id }, n: { N: String(n) } })

interface World extends AsyncDisposable {
  readonly node: StorageNode
  readonly other: StorageNode
  readonly log: LocalLog
}

type Place = 'memory' | 'disk'

async function world(place: Place, path = testFolder(), shape = LOGGED): Promise<World> {
  const where = place === 'memory' ? { memory: true as const } : { path }
  const { nodes, log } = await openNodesWithLog({ runtime: realRuntime(), ...where, nodes: 2 })
  await log.begin()
  for (const node of nodes) await node.setShape(shape)
  return {
    node: nodes[0] as StorageNode,
    other: nodes[1] as StorageNode,
    log,
    [Symbol.asyncDispose]: async () => {
      for (const node of nodes) await node.close()
    },
  }
}

async function all(log: LocalLog, first = 1): Promise<readonly CommitRecord[]> {
  const all: CommitRecord[] = []
  for (let from = first; from <= log.last;) {
    const { records, next } = await log.read({ from, recordsMax: 1000, bytesMax: Infinity })
    all.push(...records)
    from = next
  }
  return all
}

/** `insert a 1`, `modify a 1>2`. */
const shown = (records: readonly CommitRecord[]): readonly string[] =>
  records.map(({ changes }) =>
    changes
      .map(({ event, old, new: next }) => {
        const parsed = [old, next].map((text) => text && (JSON.parse(Buffer.from(text).toString()) as Item))
        const [before, after] = parsed.map((each) => (each?.['n'] as { N: string } | undefined)?.N)
        const id = (parsed[0] ?? parsed[1])?.['id'] as { S: string }
        return `${event} ${id.S} ${[before, after].filter((each) => each !== undefined).join('>')}`
      })
      .join(', '),
  )

for (const place of ['memory', 'disk'] as const)
  describe(`log of commits: what steps leave, in ${place}`, () => {
    test('every write of an item is a record with the image that it replaced', async () => {
      await using at = await world(place)
      await Promise.all([1, 2, 3].map((n) => at.node.write(put(item('a', n)))))
      await at.node.write(remove('a'))
      assert.deepEqual(shown(await all(at.log)), ['insert a 1', 'modify a 1>2', 'modify a 2>3', 'remove a 3'])
      assert.deepEqual(
        (await all(at.log)).map(({ number }) => number),
        [1, 2, 3, 4],
      )
    })

    test('a put that changes nothing, in whatever order its attributes and members stand, leaves none', async () => {
      await using at = await world(place)
      await at.node.write(put({ id: { S: 'a' }, tags: { SS: ['x', 'y'] }, n: { N: '1' } }))
      await at.node.write(put({ n: { N: '1' }, id: { S: 'a' }, tags: { SS: ['y', 'x'] } }))
      await at.node.write(remove('b'))
      assert.equal((await all(at.log)).length, 1)
      await at.node.write(put({ n: { N: '2' }, id: { S: 'a' }, tags: { SS: ['y', 'x'] } }))
      assert.equal((await all(at.log)).length, 2)
    })

    test('a table that does not ask leaves none', async () => {
      await using at = await world(place)
      await at.node.write(put(item('a', 1), { ...PLAIN, space: spaceId(2) }))
      assert.deepEqual(await all(at.log), [])
    })

    test('a transaction in one round is one record, with its id', async () => {
      await using at = await world(place)
      const tx = `${'0'.repeat(32)}:1` as TxId
      await at.node.transact({ tx, actions: [put(item('a', 1)), put(item('b', 1))] })
      const records = await all(at.log)
      assert.deepEqual(shown(records), ['insert a 1, insert b 1'])
      assert.equal(records[0]?.tx, tx)
    })

    test('§3.3 a transaction over two nodes is one record, once both have committed it', async () => {
      await using at = await world(place)
      const tx = `${'0'.repeat(32)}:1` as TxId
      const stamp = timestamp(Date.now() * 1000)
      const [a, b] = [put(item('a', 1)), put(item('b', 1))]
      await at.node.prepare({ tx, timestamp: stamp, actions: [a] })
      await at.other.prepare({ tx, timestamp: stamp, actions: [b] })
      assert.deepEqual(await all(at.log), [])
      const commit = { tx, timestamp: stamp, nodes: [0, 1] }
      await at.node.commit({ ...commit, items: [{ space: LOGGED.space, key: a.key }] })
      assert.deepEqual(await all(at.log), [])
      await at.node.write(put(item('a', 2)))
      await at.other.commit({ ...commit, items: [{ space: LOGGED.space, key: b.key }] })
      // What readers see at once reaches the journal with the next write that waits for it.
      await at.other.write(put(item('c', 1)))
      assert.deepEqual(shown(await all(at.log)), ['insert a 1, insert b 1', 'modify a 1>2', 'insert c 1'])
    })

    test('a repeated commit leaves nothing more', async () => {
      await using at = await world(place)
      const tx = `${'0'.repeat(32)}:1` as TxId
      const stamp = timestamp(Date.now() * 1000)
      const a = put(item('a', 1))
      await at.node.prepare({ tx, timestamp: stamp, actions: [a] })
      const commit = { tx, timestamp: stamp, nodes: [0], items: [{ space: LOGGED.space, key: a.key }] }
      await at.node.commit(commit)
      await at.node.commit(commit)
      await at.node.write(put(item('a', 2)))
      assert.deepEqual(shown(await all(at.log)), ['insert a 1', 'modify a 1>2'])
    })

    test('keys stand alone where no image is kept', async () => {
      await using at = await world(place)
      const keysOnly = { ...LOGGED, version: 2, logged: { old: false, new: false } }
      await at.node.setShape(keysOnly)
      await at.node.write(put(item('a', 1)))
      const [record] = await all(at.log)
      const { keys, old, new: next } = record!.changes[0]!
      assert.deepEqual(JSON.parse(Buffer.from(keys!).toString()), { id: { S: 'a' } })
      assert.deepEqual([old, next], [undefined, undefined])
    })
  })

describe('log of commits: in a data folder', () => {
  test('a reader goes on after a restart where it was, with the same numbers', async () => {
    const path = testFolder()
    {
      await using at = await world('disk', path)
      await at.node.write(put(item('a', 1)))
      await at.node.write(put(item('a', 2)))
    }
    await using at = await world('disk', path)
    assert.equal(at.log.last, 2)
    await at.node.write(put(item('a', 3)))
    const records = await all(at.log, 2)
    assert.deepEqual(shown(records), ['modify a 1>2', 'modify a 2>3'])
    assert.deepEqual(
      records.map(({ number }) => number),
      [2, 3],
    )
  })

  test('§3.3 a transaction that is finished after a restart, when no table asks any more, does not hold up the log', async () => {
    const path = testFolder()
    const tx = `${'0'.repeat(32)}:1` as TxId
    const stamp = timestamp(Date.now() * 1000)
    const [a, b] = [put(item('a', 1)), put(item('b', 1))]
    const commit = { tx, timestamp: stamp, nodes: [0, 1] }
    {
      await using at = await world('disk', path)
      await at.node.prepare({ tx, timestamp: stamp, actions: [a] })
      await at.other.prepare({ tx, timestamp: stamp, actions: [b] })
      await at.node.commit({ ...commit, items: [{ space: LOGGED.space, key: a.key }] })
      await at.node.write(put(item('c', 1)))
    }
    await using at = await world('disk', path, { ...PLAIN, version: 2 })
    await at.other.commit({ ...commit, items: [{ space: LOGGED.space, key: b.key }] })
    const again = { ...LOGGED, version: 3 }
    for (const node of [at.node, at.other]) await node.setShape(again)
    await at.other.write(put(item('d', 1), again))
    assert.deepEqual(shown(await all(at.log)), ['insert a 1', 'insert c 1', 'insert d 1'])
  })

  test('a folder whose log is missing is refused with a sentence, and nothing is changed', async () => {
    const path = testFolder()
    {
      await using at = await world('disk', path)
      await at.node.write(put(item('a', 1)))
    }
    renameSync(join(path, 'commit-log'), join(path, 'elsewhere'))
    await assert.rejects(world('disk', path), /FolderRefused: .*commit-log/)
    renameSync(join(path, 'elsewhere'), join(path, 'commit-log'))
    await using at = await world('disk', path)
    assert.equal(at.log.last, 1)
  })

  test('a folder without a table that asks has no log, and an earlier version could open it', async () => {
    const path = testFolder()
    const { nodes } = await openNodesWithLog({ runtime: realRuntime(), path })
    await nodes[0]?.write(put(item('a', 1), PLAIN))
    await nodes[0]?.close()
    assert.equal(
      (JSON.parse(readFileSync(join(path, 'seriatim.json'), 'utf8')) as { format: number }).format,
      4,
    )
    assert.equal(existsSync(join(path, 'commit-log')), false)
  })
})
