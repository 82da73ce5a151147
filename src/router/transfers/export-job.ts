// The work of ExportTableToPointInTime: the items of a table, or its changes, as files of data and their manifests.
import type { Bucket } from '../../buckets/buckets.js'
import { asBuffer } from '../../line/record.js'
import type { Item } from '../../model/value.js'
import { writeDataFile, type LineBlock } from '../../transfer/data-file.js'
import { type ChangeTexts, jsonChangeLine } from '../../transfer/dynamodb-json.js'
import { ionChangeLine, ionItemLine } from '../../transfer/ion.js'
import {
  type DataFileEntry,
  dataFileKey,
  type ExportFacts,
  exportKeys,
  writeManifests,
  writeText,
} from '../../transfer/manifest.js'
import { type ExportFormat, transferLimits } from '../../transfer/transfer.js'

/** What is exported, some at a time. */
export type ExportPage =
  /** Texts of whole items. */
  { readonly items: readonly Uint8Array[] } | { readonly changes: readonly ChangeTexts[] }

export interface ExportParts {
  readonly bucket: Bucket
  readonly facts: ExportFacts
  readonly pages: AsyncIterable<ExportPage>
  readonly billedSizeBytes: number
  nowMicros(): number
  checkpoint(): void
}

export interface ExportOutcome {
  readonly manifest: string
  readonly itemCount: number
  readonly endMicros: number
}

export async function runExport(parts: ExportParts): Promise<ExportOutcome> {
  const { bucket, facts } = parts
  const { home } = exportKeys(facts)
  await writeText(bucket, `${home}/_started`, '')
  const files: DataFileEntry[] = []
  const pages = parts.pages[Symbol.asyncIterator]()
  // An empty table has one file of no items, as an empty partition has on Amazon.
  for (let isMore = true; isMore;) {
    const key = dataFileKey(facts, facts.format, files.length)
    const part = new FilePart(parts, pages)
    const file = await writeDataFile(bucket, key, part.blocks())
    isMore = !part.isLast
    files.push(file)
  }
  // The two times differ for who compares them.
  const endMicros = Math.max(parts.nowMicros(), facts.startMicros + 1000)
  const totals = { endMicros, billedSizeBytes: parts.billedSizeBytes, files }
  const manifest = await writeManifests(bucket, facts, totals)
  return { manifest, endMicros, itemCount: files.reduce((sum, { itemCount }) => sum + itemCount, 0) }
}

/** The pages that go into one file. */
class FilePart {
  readonly #parts: ExportParts
  readonly #pages: AsyncIterator<ExportPage>
  isLast = false

  constructor(parts: ExportParts, pages: AsyncIterator<ExportPage>) {
    this.#parts = parts
    this.#pages = pages
  }

  async *blocks(): AsyncGenerator<LineBlock> {
    for (let bytes = 0; bytes < transferLimits.dataFileBytes;) {
      this.#parts.checkpoint()
      const page = await this.#pages.next()
      if (page.done === true) {
        this.isLast = true
        return
      }
      const block = linesOf(page.value, this.#parts.facts.format)
      if (block.items === 0) continue
      bytes += block.bytes.length
      yield block
    }
  }
}

function linesOf(page: ExportPage, format: ExportFormat): LineBlock {
  if ('changes' in page) {
    const line = format === 'ION' ? ionChangeLine : jsonChangeLine
    return { bytes: Buffer.from(page.changes.map(line).join('')), items: page.changes.length }
  }
  if (format === 'ION') {
    const lines = page.items.map((json) => ionItemLine(JSON.parse(asBuffer(json).toString()) as Item))
    return { bytes: Buffer.from(lines.join('')), items: page.items.length }
  }
  return { bytes: jsonLines(page.items), items: page.items.length }
}

const BEFORE = Buffer.from('{"Item":')
const AFTER = Buffer.from('}\n')

/** Items are stored as the text that stands in a line: they are copied, not parsed. */
function jsonLines(items: readonly Uint8Array[]): Buffer {
  const around = BEFORE.length + AFTER.length
  const lines = Buffer.allocUnsafe(items.reduce((sum, json) => sum + json.length + around, 0))
  let at = 0
  for (const json of items) {
    at += BEFORE.copy(lines, at)
    lines.set(json, at)
    at += json.length
    at += AFTER.copy(lines, at)
  }
  return lines
}
