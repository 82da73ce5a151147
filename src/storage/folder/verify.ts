// Checks a data folder without changing it: the journal frame by frame, the index item by item and entry by entry, and the
// log of commits, if there is one, byte by byte.
import { messageOf } from '../../model/message-of.js'
import { checkLogFiles } from '../../commit-log/files/log-check.js'
import { lmdbMap, type MarkedMap } from '../../ordered-map/lmdb/lmdb-map.js'
import type { OrderedMap } from '../../ordered-map/ordered-map.js'
import { checkJournal } from '../../journal/check.js'
import { segmentsIn } from '../../journal/segment.js'
import type { KeyBytes, SpaceId } from '../../model/brand.js'
import { itemBytes, type Item } from '../../model/value.js'
import { itemKey } from '../../model/key-bytes.js'
import type { ItemKey, TableShape } from '../../model/table.js'
import type { FileLayer } from '../../runtime/files.js'
import { realFiles } from '../../runtime/real-files.js'
import { entryKey, expiryKey } from '../items/index-entries.js'
import { type DataFolder, takeExistingFolder } from './folder.js'
import { ownerOf, refuseForeignIndex } from './folder-parts.js'
import { asBuffer, decodeItemRecord, parseRecord } from '../../line/record.js'
import {
  boundsOf,
  countKey,
  decodeCount,
  inSpace,
  metaBounds,
  metaName,
  withoutSpace,
} from '../../line/spaces.js'
import type { MetaEntry } from '../contract/storage-node.js'
import { verifyIndexFile } from './verify-index.js'

export interface VerifyReport {
  /** What is wrong, a sentence each; empty if all is well. */
  readonly findings: readonly string[]
  readonly batches: number
  readonly items: number
  readonly entries: number
  /** Of the log of commits. */
  readonly records: number
}

export interface VerifyOptions {
  /** The tables of a node, from its meta records; the catalogue knows how to read them. */
  readonly tables: (meta: readonly Required<MetaEntry>[]) => readonly TableShape[]
  readonly files?: FileLayer
  /** Told how far it has come, now and then. */
  readonly onProgress?: (sentence: string) => void
  /** How many findings are listed at most. */
  readonly findingsMax?: number
}

const FINDINGS_MAX = 100

/**
 * Checks a data folder that no process has open.
 *
 * @example
 * const { findings } = await verifyFolder('./data', { tables })
 */
export async function verifyFolder(path: string, options: VerifyOptions): Promise<VerifyReport> {
  const folder = await takeExistingFolder(path)
  const report = new Report(options.findingsMax ?? FINDINGS_MAX)
  try {
    const appliedUpTo: number[] = []
    for (let node = 0; node < folder.nodes; node++) {
      const applied = await verifyNode(folder, node, options, report)
      if (applied !== undefined) appliedUpTo.push(applied)
    }
    if (appliedUpTo.length > 0) await verifyJournal(options.files ?? realFiles(), folder, appliedUpTo, report)
    await verifyLog(options.files ?? realFiles(), folder, report)
    return report
  } finally {
    await folder.release()
  }
}

class Report implements VerifyReport {
  readonly findings: string[] = []
  batches = 0
  items = 0
  entries = 0
  records = 0
  readonly #findingsMax: number

  constructor(findingsMax: number) {
    this.#findingsMax = findingsMax
  }

  get roomForFindings(): number {
    return this.#findingsMax - this.findings.length
  }

  found(sentence: string): void {
    if (this.findings.length < this.#findingsMax) this.findings.push(sentence)
  }
}

/** The offset of the journal up to which the index of the node was brought, if it can be read. */
async function verifyNode(
  folder: DataFolder,
  node: number,
  options: VerifyOptions,
  report: Report,
): Promise<number | undefined> {
  const path = folder.nodePath(node)
  const indexPath = folder.indexPath(node)
  if (!(await realFiles().list(indexPath)).includes('data.mdb')) {
    report.found(`There is no index in ${indexPath}.`)
    return undefined
  }
  const file = verifyIndexFile(indexPath, {
    tables: options.tables,
    findingsMax: Math.max(1, report.roomForFindings),
    onProgress: options.onProgress,
  })
  for (const finding of file.findings) report.found(finding)
  // LMDB is not let at a file that is not sound. What has no checksums gets them when it is opened.
  if (file.findings.length > 0 || file.records === 'older') return undefined
  let index: MarkedMap
  try {
    index = lmdbMap(indexPath)
  } catch (error) {
    report.found(`The index in ${indexPath} cannot be opened: ${String(error)}.`)
    return undefined
  }
  const { appliedUpTo } = index
  try {
    if (folder.state === 'whole') refuseForeignIndex(folder, node, index)
    const meta: Required<MetaEntry>[] = []
    for (const [key, value] of index.range({ ...metaBounds(''), reverse: false })) {
      meta.push({ name: metaName(key), value })
    }
    for (const table of options.tables(meta)) verifyTable(index, table, report)
  } catch (error) {
    report.found(`The data in ${path} cannot be read: ${messageOf(error)}.`)
  } finally {
    await index.close()
  }
  return appliedUpTo
}

async function verifyJournal(
  files: FileLayer,
  folder: DataFolder,
  heldUpTo: readonly number[],
  report: Report,
): Promise<void> {
  const owner = folder.state === 'whole' ? ownerOf(folder) : undefined
  const { findings, batches } = await checkJournal({ files, folder: folder.journalPath, heldUpTo, owner })
  for (const finding of findings) report.found(finding)
  report.batches += batches
}

/** What the journal has let go of, only the log has. */
async function verifyLog(files: FileLayer, folder: DataFolder, report: Report): Promise<void> {
  if (!folder.hasLog) return
  const [journal] = segmentsIn(await files.list(folder.journalPath))
  const { findings, records } = await checkLogFiles({
    files,
    folder: folder.logPath,
    owner: folder.id,
    state: 'begun',
    ...(journal && { journalFrom: journal.start }),
  })
  for (const finding of findings) report.found(finding)
  report.records += records
}

function verifyTable(index: OrderedMap, table: TableShape, report: Report): void {
  const expected = new Map<SpaceId, number>()
  const count = (space: SpaceId): unknown => expected.set(space, (expected.get(space) ?? 0) + 1)
  for (const [key, stored] of index.range({ ...boundsOf(table.space), reverse: false })) {
    report.items++
    count(table.space)
    const item = verifyItem(table, withoutSpace(key), stored, report)
    if (item === undefined) continue
    const base = baseOf(withoutSpace(key))
    for (const { name, space, entry } of entriesOf(table, item, base)) {
      if (entry === undefined) continue
      count(space)
      const pointer = index.get(inSpace(space, entry))
      if (pointer === undefined || asBuffer(pointer).toString('latin1') !== base.bytes) {
        report.found(`${nameOf(table, key)} has no entry in ${name}.`)
      }
    }
  }
  for (const { name, space } of entriesOf(table, {}, baseOf('' as KeyBytes))) {
    verifyEntries(index, table, { name, space }, report)
    verifyCount(index, `${name} of table ${table.name}`, space, expected.get(space) ?? 0, report)
  }
  verifyCount(index, `table ${table.name}`, table.space, expected.get(table.space) ?? 0, report)
}

function verifyItem(table: TableShape, key: KeyBytes, stored: Uint8Array, report: Report): Item | undefined {
  try {
    const record = decodeItemRecord(stored)
    const item = parseRecord(record)
    if (itemKey(table.key, item).bytes !== key) {
      report.found(`${nameOf(table, key)} has the key attributes of another item.`)
      return undefined
    }
    if (itemBytes(item) !== record.itemBytes)
      report.found(`${nameOf(table, key)} has another size than recorded.`)
    return item
  } catch (error) {
    report.found(`${nameOf(table, key)} cannot be read: ${String(error)}.`)
    return undefined
  }
}

function verifyEntries(
  index: OrderedMap,
  table: TableShape,
  { name, space }: { readonly name: string; readonly space: SpaceId },
  report: Report,
): void {
  for (const [key, pointer] of index.range({ ...boundsOf(space), reverse: false })) {
    report.entries++
    const base = baseOf(asBuffer(pointer).toString('latin1') as KeyBytes)
    const stored = index.get(inSpace(table.space, base.bytes))
    if (stored === undefined) {
      report.found(`An entry in ${name} of table ${table.name} points to no item.`)
      continue
    }
    try {
      const made = entriesOf(table, parseRecord(decodeItemRecord(stored)), base).find(
        (e) => e.space === space,
      )
      if (made?.entry !== withoutSpace(key)) {
        report.found(
          `An entry in ${name} of table ${table.name} points to an item that does not belong there.`,
        )
      }
    } catch {
      // Found with the item already.
    }
  }
}

function verifyCount(index: OrderedMap, what: string, space: SpaceId, items: number, report: Report): void {
  const stored = index.get(countKey(space))
  const counted = stored === undefined ? 0 : decodeCount(stored).items
  if (counted !== items) report.found(`The count of ${what} is ${counted}, but it holds ${items}.`)
}

function entriesOf(
  table: TableShape,
  item: Item,
  base: ItemKey,
): { readonly name: string; readonly space: SpaceId; readonly entry: KeyBytes | undefined }[] {
  const entries = table.indexes.map((index) => ({
    name: `the index ${index.name}`,
    space: index.space,
    entry: entryKey(index, item, base),
  }))
  if (table.expiry === undefined) return entries
  const { attribute, space } = table.expiry
  return [...entries, { name: 'the expiry index', space, entry: expiryKey(attribute, item, base) }]
}

/** The hash is not looked at here. */
const baseOf = (bytes: KeyBytes): ItemKey => ({ hash: 0, bytes })

const nameOf = (table: TableShape, key: KeyBytes): string =>
  `The item ${Buffer.from(key, 'latin1').toString('hex')} of table ${table.name}`
