// A table of what was measured, for a terminal and for a page.

export interface ReportTable {
  readonly title: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
  /** So many columns are words: one unless it is said. */
  readonly words?: number
}

/** Words to the left, figures to the right. */
export function terminalLines({ title, columns, rows, words = 1 }: ReportTable): readonly string[] {
  const all = [columns, ...rows]
  const widths = columns.map((_, at) => Math.max(...all.map((row) => row[at]?.length ?? 0)))
  const line = (row: readonly string[]): string =>
    row
      .map((cell, at) => (at < words ? cell.padEnd(widths[at]!) : cell.padStart(widths[at] ?? 0)))
      .join('  ')
      .trimEnd()
  return ['', title, ...all.map((row) => `  ${line(row)}`)]
}

export function markdownLines({ columns, rows, words = 1 }: ReportTable): readonly string[] {
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(columns), line(columns.map((_, at) => (at < words ? '---' : '---:'))), ...rows.map(line)]
}

export const whole = (value: number): string =>
  Number.isFinite(value) ? Math.round(value).toLocaleString('en-US') : '-'

export const fixed = (value: number | undefined, digits: number): string =>
  value !== undefined && Number.isFinite(value) ? value.toFixed(digits) : '-'

export const percent = (share: number, digits = 1): string =>
  Number.isFinite(share) ? `${(100 * share).toFixed(digits)} %` : '-'

export const megabytes = (bytes: number): string =>
  Number.isFinite(bytes) ? `${whole(bytes / 1e6)} MB` : '-'

export const millis = (micros: number): string => (Number.isFinite(micros) ? (micros / 1000).toFixed(2) : '-')
