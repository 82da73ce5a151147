// Pages that are to be read, as few reads of the file.

export interface PageRun {
  readonly first: number
  readonly pages: number
}

export const RUN_BYTES_MAX = 64 * 1024
/** Pages between two that are read along with them rather than apart. */
const GAP_PAGES_MAX = 2

/** Pages that are beside each other, or nearly, are read together. */
export function runsOf(pages: readonly number[], pageBytes: number): readonly PageRun[] {
  if (pages.length === 0 || pageBytes === 0) return []
  const sorted = pages.toSorted((a, b) => a - b)
  const runs: PageRun[] = []
  let first = sorted[0]!
  let last = first
  for (const page of sorted) {
    if (page - last > GAP_PAGES_MAX + 1 || (page - first + 1) * pageBytes > RUN_BYTES_MAX) {
      runs.push({ first, pages: last - first + 1 })
      first = page
    }
    last = page
  }
  runs.push({ first, pages: last - first + 1 })
  return runs
}
