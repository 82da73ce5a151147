// How many rows a page has: CQL bounds pages by rows, memory is bounded by bytes. The rows of a space are about as large as those
// of its last page, and a page that was larger than thought makes the next one smaller.
import type { EngineRow } from '../engine.js'
import { rowBytesOf } from './rows.js'

export interface PageSizes {
  rowsOfPage(space: string): number
  saw(space: string, rows: readonly EngineRow[]): void
  forget(space: string): void
}

const PAGE_BYTES = 4 * 1024 * 1024
const PAGE_ROWS_MIN = 8
const PAGE_ROWS_MAX = 1000
/** An item has at most 400 KB, and an intended one beside it: 32 rows of that are 26 MB. */
const FIRST_PAGE_ROWS = 32

export function pageSizes(): PageSizes {
  const rowBytes = new Map<string, number>()
  return {
    rowsOfPage: (space) => {
      const bytes = rowBytes.get(space)
      if (bytes === undefined) return FIRST_PAGE_ROWS
      return Math.max(PAGE_ROWS_MIN, Math.min(PAGE_ROWS_MAX, Math.floor(PAGE_BYTES / bytes)))
    },
    saw: (space, rows) => {
      if (rows.length > 0)
        rowBytes.set(space, rows.reduce((sum, row) => sum + rowBytesOf(row), 0) / rows.length)
    },
    forget: (space) => rowBytes.delete(space),
  }
}
