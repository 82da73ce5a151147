// Exports of past moments and of the changes between two, compared with what was written when.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { manualClock } from '../../src/runtime/manual-clock.js'
import { pastPages } from '../../src/router/transfers/past-pages.js'
import { seededRandom } from '../suites/seeded-random.js'
import { sized } from '../support/sizes.js'
import {
  createTable,
  exported,
  imported,
  importInput,
  itemsOf,
  keysIn,
  linesIn,
  type TransferPlace,
  transferPlace,
} from './support.js'

const START_MS = Date.parse('2030-01-01T12:00:00.000Z')
const MINUTE_MS = 60_000

interface History {
  readonly place: TransferPlace
  readonly TableArn: string
  /** The table at the end of each minute, by key. */
  readonly states: ReadonlyMap<string, string>[]
  readonly at: (minute: number) => Date
}

/** Some minutes in each of which something is written, in transactions and alone. */
async function history(
  t: Parameters<typeof transferPlace>[0],
  seed: number,
  minutes: number,
): Promise<History> {
  const clock = manualClock(START_MS)
  const place = await transferPlace(t, { nodes: 2, clock })
  const { client } = place
  const TableArn = await createTable(client, 'Past')
  const draw = seededRandom(seed)
  const now = new Map<string, string>()
  const states: ReadonlyMap<string, string>[] = []
  for (let minute = 0; minute < minutes; minute++) {
    clock.advance(MINUTE_MS)
    for (let count = draw(4); count > 0; count--) {
      const p = `key-${draw(6)}`
      const v = `${minute}-${count}`
      if (draw(3) === 0) {
        await client.deleteItem({ TableName: 'Past', Key: { p: { S: p } } })
        now.delete(p)
      } else if (draw(2) === 0) {
        await client.putItem({ TableName: 'Past', Item: { p: { S: p }, v: { S: v } } })
        now.set(p, v)
      } else {
        const pair = [p, `other-${p}`]
        await client.transactWriteItems({
          TransactItems: pair.map((key) => ({
            Put: { TableName: 'Past', Item: { p: { S: key }, v: { S: v } } },
          })),
        })
        for (const key of pair) now.set(key, v)
      }
    }
    states.push(new Map(now))
  }
  clock.advance(MINUTE_MS)
  // Half a minute after the writes of that minute.
  const at = (minute: number): Date => new Date(START_MS + (minute + 1) * MINUTE_MS + MINUTE_MS / 2)
  return { place, TableArn, states, at }
}

const valuesOf = (items: readonly { readonly p: { S: string }; readonly v: { S: string } }[]): object =>
  Object.fromEntries(items.map(({ p, v }) => [p.S, v.S] as const))

const stateOf = (state: ReadonlyMap<string, string>): object => Object.fromEntries(state)

test('export: a past moment is the table as it was then, and a chain of changes leads from one to another', async (t) => {
  for (let seed = 1; seed <= sized(2, 40); seed++) {
    const { place, TableArn, states, at } = await history(t, seed, 50)
    const { client, folder } = place
    for (const minute of [0, 7, 23, 49]) {
      const done = await exported(place, { TableArn, ExportTime: at(minute), S3Prefix: `at-${minute}` })
      assert.equal(done.ExportStatus, 'COMPLETED', done.FailureMessage)
      const items = linesIn(folder, `at-${minute}/`).map((line) => JSON.parse(line).Item)
      assert.deepEqual(valuesOf(items), stateOf(states[minute]!), `seed ${seed}, minute ${minute}`)
    }
    for (const ExportViewType of ['NEW_IMAGE', 'NEW_AND_OLD_IMAGES'] as const) {
      const prefix = `chain-${ExportViewType}`
      await exported(place, { TableArn, ExportTime: at(5), S3Prefix: prefix })
      for (const [from, to] of [
        [5, 20],
        [20, 45],
      ] as const) {
        const done = await exported(place, {
          TableArn,
          S3Prefix: prefix,
          ExportType: 'INCREMENTAL_EXPORT',
          IncrementalExportSpecification: { ExportFromTime: at(from), ExportToTime: at(to), ExportViewType },
        })
        assert.equal(done.ExportStatus, 'COMPLETED', done.FailureMessage)
        assert.equal(done.IncrementalExportSpecification!.ExportViewType, ExportViewType)
      }
      const changes = keysIn(folder).filter((key) => key.startsWith(`${prefix}/AWSDynamoDB/data/`))
      assert.ok(changes.length >= 2)
      if (ExportViewType === 'NEW_AND_OLD_IMAGES') {
        const first = linesIn(folder, `${prefix}/AWSDynamoDB/data/`).map((line) => JSON.parse(line))
        for (const { Keys, OldImage } of first)
          if (OldImage !== undefined)
            assert.ok(
              [states[5]!, states[20]!].some((state) => state.get(Keys.p.S) === OldImage.v.S),
              JSON.stringify(OldImage),
            )
      }
      const copy = `Copy-${ExportViewType}`
      const done = await imported(place, importInput(copy, { prefix: `${prefix}/` }))
      assert.equal(done.ImportStatus, 'COMPLETED', done.FailureMessage)
      assert.deepEqual(valuesOf((await itemsOf(client, copy)) as never), stateOf(states[45]!), `seed ${seed}`)
    }
    await place.store.close()
  }
})

test('export: an item that came and went is not in the changes, one that went is there with its old image', async (t) => {
  const clock = manualClock(START_MS)
  const place = await transferPlace(t, { clock })
  const { client, folder } = place
  const TableArn = await createTable(client, 'Past')
  const put = (p: string, v: string) =>
    client.putItem({ TableName: 'Past', Item: { p: { S: p }, v: { S: v } } })
  const remove = (p: string) => client.deleteItem({ TableName: 'Past', Key: { p: { S: p } } })
  clock.advance(MINUTE_MS)
  await put('gone', '1')
  await put('changed', '1')
  await put('untouched', '1')
  clock.advance(MINUTE_MS)
  const ExportFromTime = new Date(START_MS + 2 * MINUTE_MS - 1000)
  await put('passing', '1')
  await put('changed', '2')
  await put('changed', '3')
  await put('new', '1')
  await remove('gone')
  await remove('passing')
  clock.advance(20 * MINUTE_MS)
  const ExportToTime = new Date(START_MS + 20 * MINUTE_MS)
  const specification = { ExportFromTime, ExportToTime }
  await exported(place, {
    TableArn,
    ExportType: 'INCREMENTAL_EXPORT',
    IncrementalExportSpecification: specification,
  })
  const image = (p: string, v: string): object => ({ p: { S: p }, v: { S: v } })
  const lines = linesIn(folder, 'AWSDynamoDB/data/').map((line) => {
    const { Metadata, ...rest } = JSON.parse(line)
    assert.match(Metadata.WriteTimestampMicros.N, /^\d{16}$/)
    return rest
  })
  assert.deepEqual(
    lines.toSorted((one, other) => (one.Keys.p.S < other.Keys.p.S ? -1 : 1)),
    [
      { Keys: { p: { S: 'changed' } }, OldImage: image('changed', '1'), NewImage: image('changed', '3') },
      { Keys: { p: { S: 'gone' } }, OldImage: image('gone', '1') },
      { Keys: { p: { S: 'new' } }, NewImage: image('new', '1') },
    ],
  )
  const summaryKey = keysIn(folder).find((key) => key.endsWith('manifest-summary.json'))!
  const { readObject } = await import('./support.js')
  const summary = JSON.parse(readObject(folder, summaryKey).toString())
  assert.deepEqual(
    [summary.exportType, summary.outputView, summary.exportFromTime, summary.exportToTime, summary.itemCount],
    ['INCREMENTAL_EXPORT', 'NEW_AND_OLD_IMAGES', ExportFromTime.toISOString(), ExportToTime.toISOString(), 3],
  )
})

test('export: keys that are divided into many parts give the same items, each once', async () => {
  const entry = (p: number, kind: 'put' | 'remove', v = 0) =>
    ({
      kind,
      text: Buffer.from(
        JSON.stringify(kind === 'put' ? { p: { S: `${p}` }, v: { N: `${v}` } } : { p: { S: `${p}` } }),
      ),
    }) as const
  const past = {
    earliestMicros: 0,
    at: () => ({
      async *items() {
        for (let p = 0; p < 300; p++) yield [entry(p, 'put', 1)]
      },
      async *changes() {
        for (let p = 0; p < 300; p += 3)
          yield [entry(p, 'put', 2), ...(p % 2 === 0 ? [entry(p, 'remove')] : [])]
      },
    }),
    commitsFrom: () => Promise.reject(new Error('not asked for')),
    release: () => undefined,
  }
  const table = {
    name: 'T',
    space: 1 as never,
    key: { partition: { name: 'p', type: 'S' as const } },
    indexes: [],
  }
  const all = async (partBytesMax: number): Promise<string[]> => {
    const found: string[] = []
    const window = { type: 'FULL_EXPORT', atMicros: 1 } as const
    for await (const page of pastPages(window, { table, past, partBytesMax }))
      if ('items' in page) found.push(...page.items.map((json) => Buffer.from(json).toString()))
    return found.toSorted()
  }
  const whole = await all(1_000_000)
  assert.equal(whole.length, 250)
  for (const partBytesMax of [5000, 700, 150]) assert.deepEqual(await all(partBytesMax), whole)
})

test('export: a table that takes longer to read than a snapshot is kept is exported all the same', async (t) => {
  const manual = manualClock(START_MS)
  // Each look at the clock takes two seconds: after some pages a snapshot is too old.
  let passedMicros = 0
  let perLookMicros = 0
  const clock = { ...manual, nowMicros: () => manual.nowMicros() + (passedMicros += perLookMicros) }
  const place = await transferPlace(t, { clock })
  const { client, store } = place
  const TableArn = await createTable(client, 'Large')
  const ids = Array.from({ length: 1600 }, (_, n) => `item-${n}`)
  for (let at = 0; at < ids.length; at += 25)
    await client.batchWriteItem({
      RequestItems: {
        Large: ids.slice(at, at + 25).map((p) => ({ PutRequest: { Item: { p: { S: p }, v: { S: p } } } })),
      },
    })
  await client.deleteItem({ TableName: 'Large', Key: { p: { S: 'item-7' } } })
  await store.idle()
  perLookMicros = 2_000_000
  const { ExportStatus, ItemCount } = await exported(place, { TableArn })
  assert.equal(ExportStatus, 'COMPLETED')
  assert.equal(ItemCount, ids.length - 1)
  const lines = linesIn(place.folder, 'AWSDynamoDB/').map(
    (line) => JSON.parse(line) as { Item: { p: { S: string } } },
  )
  assert.deepEqual(lines.map(({ Item }) => Item.p.S).toSorted(), ids.filter((p) => p !== 'item-7').toSorted())
  assert.deepEqual(place.errors, [])
})
