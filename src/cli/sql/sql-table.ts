// Rows of a statement as a table of text: a column for each attribute, in the order in which they are met.
import type { Item } from '../../model/value.js'
import { unmarshallItem } from '../../toolkit/values/values.js'

const CELL_CHARACTERS_MAX = 60

export function tableLines(items: readonly Item[]): readonly string[] {
  const rows = items.map((item) => unmarshallItem(item))
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const count = `(${rows.length} ${rows.length === 1 ? 'row' : 'rows'})`
  if (names.length === 0) return [count]
  const cells = rows.map((row) => names.map((name) => (Object.hasOwn(row, name) ? cellOf(row[name]) : '')))
  const widths = names.map((name, at) => Math.max(name.length, ...cells.map((row) => row[at]!.length)))
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, at) => text.padEnd(widths[at]!))
      .join(' | ')
      .trimEnd()
  return [line(names), widths.map((width) => '-'.repeat(width)).join('-+-'), ...cells.map(line), count]
}

function cellOf(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value, plain)
  const shown = printable(text)
  return shown.length <= CELL_CHARACTERS_MAX ? shown : `${shown.slice(0, CELL_CHARACTERS_MAX - 1)}…`
}

/** What JSON has no words for. */
function plain(_: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  if (value instanceof Set) return [...value]
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  return value
}

/** An item cannot move the cursor of a terminal. */
// oxlint-disable-next-line no-control-regex
const printable = (text: string): string => text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, '·')
