// The parts of ledger.ts that read: proofs in a large tree, the verification of a large export, pages of a long history.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BlockReader } from '../../src/blocks/block-reader.js'
import { BlockBatch } from '../../src/blocks/batch.js'
import { type LedgerTable, timeText } from '../../src/blocks/maker.js'
import { Pages, saltBytes } from '../../src/blocks/page.js'
import { blockIn, decodeRows, type EntryRow } from '../../src/blocks/places.js'
import { proofOf, revisionsOf } from '../../src/blocks/proofs.js'
import { openSigner, signerText } from '../../src/blocks/signer.js'
import { BlockTree } from '../../src/blocks/tree.js'
import { median } from '../../src/bench/statistics.js'
import { fixed, whole } from '../../src/bench/table.js'
import type { CommitRecord } from '../../src/commit-log/commit-record.js'
import { type KeyBytes, spaceId, type Timestamp } from '../../src/model/brand.js'
import { realRuntime } from '../../src/runtime/real-runtime.js'
import type { Shelf, ShelfEntry, ShelfRange } from '../../src/storage/contract/shelf.js'
import { openLocalNode } from '../../src/storage/folder/open-local-node.js'
import { decodeBlockHeader, encodeBlock, NO_HASH } from '../../src/verify/block.js'
import { verifyProof } from '../../src/verify/proof.js'
import { base64 } from '../../src/verify/bytes.js'
import {
  blockPath,
  CHECKPOINT_PATH,
  decodeBundle,
  TILE_WIDTH,
  tileOf,
  tilePath,
  tilesOf,
} from '../../src/verify/tiles.js'

const MAIN = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))
const SIGNER = openSigner(signerText('ledger.example/study', new Uint8Array(32).fill(7)))
const TABLE: LedgerTable = {
  name: 'Cars',
  id: '00000000-0000-4000-8000-000000000001',
  space: spaceId(16),
  key: { partition: { name: 'id', type: 'S' } },
  createdAtMicros: 0,
}
const START_MICROS = Date.parse('2030-01-01T00:00:00Z') * 1000
const ITEM_BYTES = 400
const cpuMicros = (): number => {
  const { user, system } = process.cpuUsage()
  return user + system
}

/** A put of item `id`, the `at`-th commit. */
function putOf(id: string, at: number, isFirst: boolean): CommitRecord {
  const key = { id: { S: id } }
  const image = { ...key, at: { N: String(at) }, content: { S: 'x'.repeat(ITEM_BYTES) } }
  return {
    number: at + 1,
    timestamp: (START_MICROS + at * 1000) as Timestamp,
    changes: [
      {
        space: TABLE.space,
        key: id as KeyBytes,
        event: isFirst ? 'insert' : 'modify',
        operation: 'put',
        cause: 'request',
        keys: Buffer.from(JSON.stringify(key)),
        new: Buffer.from(JSON.stringify(image)),
      },
    ],
  }
}

const STEP_BLOCKS = 8192
const PIECE_BYTES = 32 * 1024
const PROOFS = 2000

/** The tree alone is kept, in a data folder, with the headers of the blocks that are proven. */
export async function studyProof(blocks: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'seriatim-study-'))
  const node = await openLocalNode({ runtime: realRuntime(), path: join(folder, 'data') })
  try {
    const shelf = node.shelf as Shelf
    const tree = await BlockTree.open(shelf, 0)
    const every = Math.max(1, Math.floor(blocks / PROOFS))
    const proven = new Map<number, Parameters<typeof proofOf>[1]>()
    let prev: Uint8Array = NO_HASH
    for (let block = 0; block < blocks; block++) {
      const text = `{"kind":"info","operations":[],"documents":{},"number":${block},"data":null}`
      const timestamp = (START_MICROS + block) as Timestamp
      const batch = new BlockBatch(PIECE_BYTES)
      batch.begin({ block, strand: SIGNER.origin, prev: base64(prev) })
      batch.entry(text)
      prev = Buffer.from(batch.end({ timestamp, time: timeText(timestamp) }), 'base64')
      tree.append(prev)
      if (block % every === 0) {
        const [piece] = batch.finish()
        const [header] = decodeBundle(piece?.value as Uint8Array) as [Uint8Array]
        const entries = [{ block, entry: 0, bytes: Buffer.from(text) }]
        proven.set(block, { header, parsed: decodeBlockHeader(header), entries })
      }
      if (tree.size % STEP_BLOCKS === 0 || block === blocks - 1) {
        await shelf.keep(tree.changes(), 'unhurried')
        tree.kept()
      }
      if (block % 1_000_000 === 999_999) console.error(`  ${whole(block + 1)} headers`)
    }
    const again = await BlockTree.open(shelf, blocks)
    const times: number[] = []
    const paths: number[] = []
    for (const [block, entry] of proven) {
      const before = cpuMicros()
      const proof = await proofOf({ tree: again, signer: SIGNER }, entry, blocks, 0)
      times.push(cpuMicros() - before)
      if (block % (every * 100) === 0) await verifyProof(proof, { key: SIGNER.key })
      const start = cpuMicros()
      await again.root(blocks)
      SIGNER.checkpoint({ size: blocks, root: prev })
      paths.push(cpuMicros() - start)
    }
    const sorted = times.toSorted((a, b) => a - b)
    console.log(
      `Proof of an entry at ${whole(blocks)} blocks, of a data folder, us of the processor: median ${whole(median(times))}, ` +
        `99 of 100 below ${whole(sorted[Math.floor(sorted.length * 0.99)] ?? NaN)}; of that the signed checkpoint ${whole(median(paths))}`,
    )
  } finally {
    await node.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A shelf in memory that counts what is read. */
class CountingShelf implements Shelf {
  reads = 0
  bytes = 0
  readonly #entries = new Map<KeyBytes, Uint8Array>()
  #keys: KeyBytes[] | undefined

  keep(entries: readonly ShelfEntry[]): Promise<void> {
    for (const { key, value } of entries) if (value !== undefined) this.#entries.set(key, value)
    this.#keys = undefined
    return Promise.resolve()
  }

  kept(keys: readonly KeyBytes[]): Promise<readonly (Uint8Array | undefined)[]> {
    return Promise.resolve(keys.map((key) => this.#read(key)))
  }

  keptRange({ from, to, reverse, entriesMax }: ShelfRange): Promise<readonly Required<ShelfEntry>[]> {
    const keys = (this.#keys ??= [...this.#entries.keys()].toSorted())
    const [first, end] = [lowerBound(keys, from), lowerBound(keys, to)]
    const found = reverse
      ? keys.slice(Math.max(first, end - entriesMax), end).toReversed()
      : keys.slice(first, Math.min(end, first + entriesMax))
    return Promise.resolve(found.map((key) => ({ key, value: this.#read(key) as Uint8Array })))
  }

  #read(key: KeyBytes): Uint8Array | undefined {
    const value = this.#entries.get(key)
    this.reads++
    this.bytes += value?.byteLength ?? 0
    return value
  }
}

function lowerBound(keys: readonly KeyBytes[], key: KeyBytes): number {
  let [low, high] = [0, keys.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((keys[middle] as KeyBytes) < key) low = middle + 1
    else high = middle
  }
  return low
}

const PAGE_RECORDS = 512
const PAGE_REVISIONS = 100

/** The versions of one item stand among as many of others. */
export async function studyHistory(versions: number): Promise<void> {
  const runtime = realRuntime()
  const shelf = new CountingShelf()
  const pages = new Pages()
  const reader = new BlockReader(shelf)
  let prev: Uint8Array = NO_HASH
  for (let at = 0; at < 2 * versions; at += PAGE_RECORDS) {
    const records = Array.from({ length: Math.min(PAGE_RECORDS, 2 * versions - at) }, (_, nth) => {
      const number = at + nth
      return putOf(number % 2 === 0 ? 'one' : `other-${number}`, number, number % 2 === 1 || number === 0)
    })
    const salts = runtime.randomBytes(saltBytes(records))
    const job = {
      strand: SIGNER.origin,
      size: at,
      prev,
      records,
      tables: [TABLE],
      salts,
      pieceBytes: PIECE_BYTES,
    }
    const { entries, leaves } = await pages.make(job, (documents) => reader.heads(documents))
    prev = leaves.at(-1) ?? prev
    await shelf.keep(entries)
  }
  const first = await reader.entry(0, 1)
  const { id } = JSON.parse(Buffer.from(first.bytes).toString()) as { id: string }
  const [newest] = await reader.newest([id])
  if (newest?.version !== versions - 1) throw new Error(`the newest version is ${newest?.version}`)
  for (const fromVersion of [0, Math.floor(versions / 2), versions - PAGE_REVISIONS]) {
    const [reads, bytes, before] = [shelf.reads, shelf.bytes, cpuMicros()]
    const page = await revisionsOf({ reader }, id, newest, {
      fromVersion,
      toVersion: newest.version,
      revisionsMax: PAGE_REVISIONS,
      bytesMax: Infinity,
    })
    console.log(
      `History of an item with ${whole(versions)} versions, ${page.length} from version ${whole(fromVersion)} on: ` +
        `${shelf.reads - reads} records of the index, ${whole((shelf.bytes - bytes) / 1024)} KB, ${fixed((cpuMicros() - before) / 1000, 1)} ms of the processor`,
    )
  }
}

const ITEMS = 50_000

/** An export with a put in each block, written to files and verified by the command, in a process of its own. */
export async function studyVerify(blocks: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'seriatim-study-'))
  try {
    await writeExport(folder, blocks)
    // The processor time of a process that has ended is that of the children.
    const child = spawn(process.execPath, [MAIN, 'ledger', 'verify', folder, '--key', SIGNER.key, '--json'], {
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, UV_THREADPOOL_SIZE: '1' },
    })
    const before = childMicros()
    const [code] = (await once(child, 'exit')) as [number | null]
    if (code !== 0) throw new Error(`seriatim ledger verify ended with ${code}`)
    console.log(
      `seriatim ledger verify of ${whole(blocks)} blocks in files: ${fixed((childMicros() - before) / 1e6, 1)} s of the processor, ` +
        'of all its threads',
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const CUTIME = 13
const CSTIME = 14
const TICK_MICROS = 10_000

/** Of all processes that were started here and have ended, from /proc. */
function childMicros(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? []
  return (Number(fields[CUTIME] ?? NaN) + Number(fields[CSTIME] ?? NaN)) * TICK_MICROS
}

export async function writeExport(folder: string, blocks: number): Promise<void> {
  const runtime = realRuntime()
  const shelf = new CountingShelf()
  const tree = await BlockTree.open(shelf, 0)
  // All of them are remembered: none is asked for.
  const pages = new Pages(2 * ITEMS)
  const write = (path: string, bytes: Uint8Array | string): void => {
    const file = join(folder, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, bytes)
  }
  let prev: Uint8Array = NO_HASH
  for (let at = 0; at < blocks; at += TILE_WIDTH) {
    const records = Array.from({ length: Math.min(TILE_WIDTH, blocks - at) }, (_, nth) =>
      putOf(`item-${(at + nth) % ITEMS}`, at + nth, at + nth < ITEMS),
    )
    const salts = runtime.randomBytes(saltBytes(records))
    const job = {
      strand: SIGNER.origin,
      size: at,
      prev,
      records,
      tables: [TABLE],
      salts,
      pieceBytes: PIECE_BYTES,
    }
    const { entries, leaves } = await pages.make(job, (documents) =>
      Promise.resolve(documents.map(() => undefined)),
    )
    prev = leaves.at(-1) ?? prev
    for (const leaf of leaves) tree.append(leaf)
    const rows: EntryRow[] = []
    for (const { key, value } of entries) {
      if (value === undefined) continue
      if (key.startsWith('d')) rows.push(...decodeRows(value))
      if (key.startsWith('h'))
        write(tilePath(tileOf('entries', blockIn(key) / TILE_WIDTH, at + records.length)!), value)
    }
    for (let nth = 0, row = 0; nth < records.length; nth++) {
      const from = row
      while (rows[row]?.block === at + nth) row++
      write(blockPath(at + nth), encodeBlock(rows.slice(from, row)))
    }
    await shelf.keep(tree.changes())
    tree.kept()
  }
  for (const tile of tilesOf(blocks))
    write(tilePath(tile), (await tree.tile(tile.level, tile.index, tile.width))!)
  write(CHECKPOINT_PATH, SIGNER.checkpoint({ size: blocks, root: await tree.root(blocks) }))
}
