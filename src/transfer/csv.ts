// CSV as Amazon imports it: the first row, or a list that is given, has the names; key attributes have the types of the table, all
// others are strings. Quotes as in RFC 4180: a quoted field may hold delimiters, line ends and doubled quotes.
import type { KeyAttributeType } from '../model/value.js'
import { type CsvOptions, type SourceRecord, transferLimits } from './transfer.js'

const NEWLINE = 0x0a
const QUOTE = 0x22

export class CsvRows {
  readonly #delimiter: string
  readonly #types: ReadonlyMap<string, KeyAttributeType>
  #names: readonly string[] | undefined
  /** What does not form a whole row yet. */
  #rest = ''
  /** So much of it was looked at, and that is within quotes or not. */
  #scanned = 0
  #isQuoted = false
  #hasEnded = false

  constructor({ delimiter, headerList, types }: CsvOptions) {
    this.#delimiter = delimiter
    this.#types = types
    this.#names = headerList
  }

  /** Something was met after which nothing more is looked at. */
  get hasEnded(): boolean {
    return this.#hasEnded
  }

  push(text: string): SourceRecord[] {
    const all = this.#rest + text
    const records: SourceRecord[] = []
    let start = 0
    for (let at = this.#scanned; at < all.length; at++) {
      const code = all.charCodeAt(at)
      if (code === QUOTE) this.#isQuoted = !this.#isQuoted
      if (code !== NEWLINE || this.#isQuoted) continue
      this.#take(all.slice(start, at), records)
      if (this.#hasEnded) return records
      start = at + 1
    }
    this.#rest = all.slice(start)
    this.#scanned = this.#rest.length
    if (this.#rest.length > transferLimits.recordBytesMax)
      this.#stop(`a row is longer than ${transferLimits.recordBytesMax} characters`, records)
    return records
  }

  /** The last row need not have a line end. */
  end(text: string): SourceRecord[] {
    const records = this.push(text)
    if (!this.#hasEnded && this.#rest !== '') this.#take(this.#rest, records)
    return records
  }

  #take(line: string, records: SourceRecord[]): void {
    const row = line.endsWith('\r') ? line.slice(0, -1) : line
    if (row.trim() === '') return
    const fields = fieldsOf(row, this.#delimiter)
    if (fields === undefined)
      return this.#stop('a row has a quote that does not end, or text after one', records)
    if (this.#names === undefined) {
      const [first = '', ...others] = fields
      // A byte order mark belongs to no name.
      this.#names = [first.replace(/^\uFEFF/, ''), ...others]
      return
    }
    records.push(this.#item(this.#names, fields))
  }

  #item(names: readonly string[], fields: readonly string[]): SourceRecord {
    if (fields.length !== names.length)
      return {
        kind: 'error',
        message: `a row has ${fields.length} fields where ${names.length} have names`,
        ends: false,
      }
    const pairs = names.map((name, at) => [name, { [this.#types.get(name) ?? 'S']: fields[at] }] as const)
    return { kind: 'put', item: Object.fromEntries(pairs) }
  }

  #stop(message: string, records: SourceRecord[]): void {
    this.#hasEnded = true
    records.push({ kind: 'error', message, ends: true })
  }
}

function fieldsOf(row: string, delimiter: string): string[] | undefined {
  if (!row.includes('"')) return row.split(delimiter)
  const fields: string[] = []
  for (let at = 0; ;) {
    if (row[at] !== '"') {
      const end = row.indexOf(delimiter, at)
      fields.push(row.slice(at, end === -1 ? undefined : end))
      if (end === -1) return fields
      at = end + 1
      continue
    }
    let field = ''
    at++
    for (;;) {
      const quote = row.indexOf('"', at)
      if (quote === -1) return undefined
      field += row.slice(at, quote)
      at = quote + 1
      if (row[at] !== '"') break
      field += '"'
      at++
    }
    fields.push(field)
    if (at === row.length) return fields
    if (row[at] !== delimiter) return undefined
    at++
  }
}
