// Bytes of an object as records: lines of JSON or Ion, or rows of CSV.
import type { PlainItems } from '../model/plain-item.js'
import { CsvRows } from './csv.js'
import { readJsonLine, readPlainLine } from './dynamodb-json.js'
import { readIonLine } from './ion.js'
import {
  type CsvOptions,
  type InputFormat,
  type PlainPut,
  type SourceBatch,
  type SourceRecord,
  transferLimits,
} from './transfer.js'

const NEWLINE = 0x0a

/** Ends after a record that ends its object. With `plain`, plain items are not parsed. */
export function sourceBatches(
  chunks: AsyncIterable<Buffer>,
  format: InputFormat,
  csv: CsvOptions | undefined,
): AsyncGenerator<SourceBatch>
export function sourceBatches(
  chunks: AsyncIterable<Buffer>,
  format: InputFormat,
  csv: CsvOptions | undefined,
  plain: PlainItems | undefined,
): AsyncGenerator<SourceBatch<PlainPut>>
export async function* sourceBatches(
  chunks: AsyncIterable<Buffer>,
  format: InputFormat,
  csv: CsvOptions | undefined,
  plain?: PlainItems,
): AsyncGenerator<SourceBatch<PlainPut>> {
  if (format === 'CSV') {
    if (csv === undefined) throw new TypeError('CSV needs its options')
    yield* rowBatches(chunks, csv)
    return
  }
  const readLine = format === 'ION' ? readIonLine : readJsonLine
  for await (const { lines, bytes } of lineBatches(chunks, format === 'DYNAMODB_JSON' ? plain : undefined)) {
    const records: SourceRecord<PlainPut>[] = []
    for (const line of lines) {
      const record = typeof line === 'string' ? readLine(line) : line
      if (record === undefined) continue
      records.push(record)
      if (record.kind === 'error' && record.ends) return yield { records, bytes }
    }
    yield { records, bytes }
  }
}

const tooLong: SourceRecord = {
  kind: 'error',
  message: `a line is longer than ${transferLimits.recordBytesMax} bytes`,
  ends: true,
}

async function* lineBatches(
  chunks: AsyncIterable<Buffer>,
  plain: PlainItems | undefined,
): AsyncGenerator<{ readonly lines: readonly (string | SourceRecord<PlainPut>)[]; readonly bytes: number }> {
  /** Pieces of a line that has not ended. */
  let begun: Buffer[] = []
  let begunBytes = 0
  for await (const chunk of chunks) {
    const lines: (string | SourceRecord<PlainPut>)[] = []
    let start = 0
    let bytes = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      if (begunBytes === 0) {
        const read = plain && readPlainLine(plain, chunk, start, end)
        if (read !== undefined) lines.push(read)
        else if (end > start) lines.push(chunk.toString('utf8', start, end))
      } else {
        lines.push(Buffer.concat([...begun, chunk.subarray(start, end)]).toString('utf8'))
        bytes += begunBytes
        begun = []
        begunBytes = 0
      }
      bytes += end + 1 - start
      start = end + 1
    }
    if (start < chunk.length) {
      begun.push(chunk.subarray(start))
      begunBytes += chunk.length - start
    }
    if (begunBytes > transferLimits.recordBytesMax) {
      yield { lines: [...lines, tooLong], bytes: bytes + begunBytes }
      return
    }
    if (bytes > 0) yield { lines, bytes }
  }
  if (begunBytes > 0) yield { lines: [Buffer.concat(begun).toString('utf8')], bytes: begunBytes }
}

async function* rowBatches(chunks: AsyncIterable<Buffer>, options: CsvOptions): AsyncGenerator<SourceBatch> {
  const rows = new CsvRows(options)
  const decoder = new TextDecoder()
  for await (const chunk of chunks) {
    const records = rows.push(decoder.decode(chunk, { stream: true }))
    yield { records, bytes: chunk.length }
    if (rows.hasEnded) return
  }
  yield { records: rows.end(decoder.decode()), bytes: 0 }
}
