// Flips single bits of a folder's index, and says what becomes of it: what `verify` finds, and what a server serves.
//
//   a folder and its model --> a copy with one bit flipped --> verify; open, read everything, compare with the model
//
// Trials run in a process of their own: LMDB may end it.
import { spawn } from 'node:child_process'
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import {
  dataOf,
  isBranch,
  namedTree,
  pageNodesOf,
  treeOf,
  type PagedFile,
} from '../../src/ordered-map/lmdb/file/lmdb-pages.js'
import { open } from '../../src/store/store.js'
import { seededRandom } from '../suites/seeded-random.js'

/** What a bit belongs to. */
export type Place = 'key' | 'value' | 'node' | 'pointer' | 'page' | 'child' | 'separator' | 'overflow'

export interface Flip {
  readonly node: number
  readonly byte: number
  readonly bit: number
  readonly place: Place
}

/** Of one trial. `unnoticed`: everything was served as it was. */
export type Served = 'refused' | 'error' | 'unnoticed' | 'crash' | 'WRONG'

export interface Trial {
  readonly flip: Flip
  readonly found: boolean
  readonly served: Served
  readonly detail: string
}

export interface Model {
  readonly [table: string]: Readonly<Record<string, string>>
}

const PAGE_BYTES = 4096

/** A folder with items, indexes of both kinds, expiry, transactions and their tokens; and what is in it. */
export async function filledFolder(path: string, nodes: number): Promise<Model> {
  const store = await open({ path, nodes })
  await store.call('CreateTable', {
    TableName: 'Orders',
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [
      { AttributeName: 'pk', AttributeType: 'S' },
      { AttributeName: 'sk', AttributeType: 'N' },
      { AttributeName: 'town', AttributeType: 'S' },
      { AttributeName: 'lsk', AttributeType: 'S' },
    ],
    KeySchema: [
      { AttributeName: 'pk', KeyType: 'HASH' },
      { AttributeName: 'sk', KeyType: 'RANGE' },
    ],
    GlobalSecondaryIndexes: [
      {
        IndexName: 'ByTown',
        KeySchema: [{ AttributeName: 'town', KeyType: 'HASH' }],
        Projection: { ProjectionType: 'ALL' },
      },
    ],
    LocalSecondaryIndexes: [
      {
        IndexName: 'ByLsk',
        KeySchema: [
          { AttributeName: 'pk', KeyType: 'HASH' },
          { AttributeName: 'lsk', KeyType: 'RANGE' },
        ],
        Projection: { ProjectionType: 'ALL' },
      },
    ],
  })
  await store.call('CreateTable', {
    TableName: 'Plain',
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  })
  await store.call('UpdateTimeToLive', {
    TableName: 'Plain',
    TimeToLiveSpecification: { AttributeName: 'until', Enabled: true },
  })
  await store.idle()
  const model: Record<string, Record<string, string>> = { Orders: {}, Plain: {} }
  const noted = (table: string, item: object): void => {
    model[table]![keyText(item)] = JSON.stringify(item)
  }
  const until = { N: String(Math.floor(Date.now() / 1000) + 1_000_000) }
  for (let n = 0; n < 300; n++) {
    const text = { S: `${n} `.repeat(n % 50 === 7 ? 3000 : 5 + (n % 90)) }
    const order = { pk: { S: `p${n % 20}` }, sk: { N: String(n) }, town: { S: `t${n % 7}` }, lsk: { S: `l${(n * 7) % 300}` }, text } // prettier-ignore
    const plain = { id: { S: `id-${n}` }, until, text }
    if (n % 3 === 0) {
      await store.call('TransactWriteItems', {
        ClientRequestToken: `token-${n}`,
        TransactItems: [
          { Put: { TableName: 'Orders', Item: order } },
          { Put: { TableName: 'Plain', Item: plain } },
        ],
      })
    } else {
      await store.call('PutItem', { TableName: 'Orders', Item: order })
      await store.call('PutItem', { TableName: 'Plain', Item: plain })
    }
    noted('Orders', order)
    noted('Plain', plain)
    if (n % 10 === 9) {
      await store.call('DeleteItem', { TableName: 'Plain', Key: { id: { S: `id-${n - 1}` } } })
      delete model['Plain']![keyText({ id: { S: `id-${n - 1}` } })]
    }
  }
  await store.idle()
  await store.close()
  return model
}

const keyText = (item: object): string => {
  const { pk, sk, id } = item as Record<string, unknown>
  return JSON.stringify(id === undefined ? { pk, sk } : { id })
}

/** Every byte of the index of a node that is in use, by what it belongs to. */
export function liveBytes(folder: string, node: number): { readonly byte: number; readonly place: Place }[] {
  const bytes = readFileSync(indexFile(folder, node))
  const file: PagedFile = {
    read: (page, pages = 1) => bytes.subarray(page * PAGE_BYTES, (page + pages) * PAGE_BYTES),
    pageBytes: PAGE_BYTES,
    pages: bytes.length / PAGE_BYTES,
  }
  const live: { byte: number; place: Place }[] = []
  const add = (place: Place, from: number, length: number): void => {
    for (let byte = from; byte < from + length; byte++) live.push({ byte, place })
  }
  const newer = bytes.readBigUInt64LE(152) > bytes.readBigUInt64LE(PAGE_BYTES + 152) ? 0 : PAGE_BYTES
  const walk = (page: number, named: boolean): void => {
    const start = page * PAGE_BYTES
    const content = file.read(page)
    const nodes = pageNodesOf(content)
    add('page', start, 8)
    add('page', start + 18, 6)
    add('pointer', start + 24, nodes.length * 2)
    for (const [at, each] of nodes.entries()) {
      const isChild = isBranch(content)
      add(isChild ? 'child' : 'node', start + each.at, isChild ? 6 : 4)
      add('node', start + each.at + (isChild ? 6 : 4), isChild ? 2 : 4)
      // The key of the first child is not looked at by anybody.
      if (!isChild || at > 0) add(isChild ? 'separator' : 'key', start + each.at + 8, each.key.length)
      if (isChild) {
        walk(each.child, named)
        continue
      }
      const tree = named ? namedTree(each) : undefined
      if (tree?.root !== undefined) walk(tree.root, false)
      const inPlace = start + each.at + 8 + each.key.length
      const data = named ? undefined : dataOf(file, each)
      if (data === undefined || 'problem' in data) continue
      if (data.first === undefined) {
        add('value', inPlace, each.data.length)
      } else {
        add('overflow', inPlace, 8)
        add('overflow', inPlace + 16, 8)
        add('overflow', data.first * PAGE_BYTES + 18, 6)
        add('value', data.first * PAGE_BYTES + 24, data.bytes.length)
      }
    }
  }
  const main = treeOf(bytes.subarray(newer + 96, newer + 144))
  if (main.root !== undefined) walk(main.root, true)
  return live
}

const indexFile = (folder: string, node: number): string => join(folder, `node-${node}`, 'index', 'data.mdb')

/** Seeded; by `place` each as often as any other, or else as often as it has bytes. */
export function drawFlips(
  folder: string,
  nodes: number,
  count: number,
  seed: number,
  by: 'byte' | 'place',
): Flip[] {
  const random = seededRandom(seed)
  const live = Array.from({ length: nodes }, (_, node) => liveBytes(folder, node))
  const flips: Flip[] = []
  const places = [...new Set(live.flat().map(({ place }) => place))]
  for (let n = 0; n < count; n++) {
    const node = random(nodes)
    const place = places[n % places.length]
    const among = (live[node] ?? []).filter((each) => by === 'byte' || each.place === place)
    const drawn = among[random(among.length)]
    if (drawn !== undefined) flips.push({ node, ...drawn, bit: random(8) })
  }
  return flips
}

/** Tries them one after another, repaired before they are served or not, in processes that are replaced when they end. */
export async function tryFlips(
  folder: string,
  scratch: string,
  model: Model,
  flips: readonly Flip[],
  then: 'serve' | 'repair' = 'serve',
): Promise<Trial[]> {
  writeFileSync(join(scratch, 'model.json'), JSON.stringify(model))
  const trials: Trial[] = []
  while (trials.length < flips.length) {
    const rest = flips.slice(trials.length)
    const before = trials.length
    writeFileSync(join(scratch, 'flips.json'), JSON.stringify(rest))
    const child = spawn(process.execPath, [CHILD, folder, scratch, then], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
    let verified: { found: boolean; detail: string } | undefined
    for await (const line of createInterface({ input: child.stdout })) {
      const told = JSON.parse(line) as { found: boolean; detail: string } | Trial
      if ('served' in told) {
        trials.push(told)
        verified = undefined
      } else {
        verified = told
      }
    }
    await ended
    const flip = flips[trials.length]
    if (flip === undefined) break
    if (trials.length === before && verified === undefined && before > flips.length * 2) break
    trials.push({
      flip,
      found: verified?.found ?? false,
      served: 'crash',
      detail: verified?.detail ?? 'verify crashed',
    })
  }
  return trials
}

const CHILD = fileURLToPath(new URL('flip-child.js', import.meta.url))

/** A copy of the folder in which one bit is another. */
export function flippedCopy(folder: string, copy: string, { node, byte, bit }: Flip): void {
  rmSync(copy, { recursive: true, force: true })
  cpSync(folder, copy, { recursive: true })
  const file = indexFile(copy, node)
  const bytes = readFileSync(file)
  bytes[byte]! ^= 1 << bit
  writeFileSync(file, bytes)
}
