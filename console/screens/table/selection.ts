// Which items are selected: their keys, and nothing else of them. A range may reach over rows that are not in memory any more; those
// are read again, and a person sees how far that is.
//
//   toggle, or a range of one screen --> at once
//   a longer range                   --> page by page, can be stopped; all of it is selected or nothing
import { useEffect, useRef, useState } from 'preact/hooks'
import { countText } from '../../parts/format.js'
import type { Item } from '../../values/attribute.js'
import type { PageBook } from '../../wire/page-book.js'
import { keyOf, keyText, type TableDescription } from '../../wire/tables.js'

export const SELECTED_MAX = 10_000

export interface Selection {
  /** Keys of items, by their text. */
  readonly selected: ReadonlyMap<string, Item>
  /** Rows of a range that were looked at so far. */
  readonly progress: { readonly done: number; readonly of: number } | undefined
  readonly error: unknown
  readonly select: (at: number, mode: 'toggle' | 'range') => void
  /** All rows that were read so far. */
  readonly selectAll: () => void
  readonly clear: () => void
  readonly stop: () => void
}

interface Anchor {
  readonly at: number
  readonly key: string
}

export function useSelection(table: TableDescription, book: PageBook | undefined): Selection {
  const [selected, setSelected] = useState<ReadonlyMap<string, Item>>(new Map())
  const [progress, setProgress] = useState<Selection['progress']>(undefined)
  const [error, setError] = useState<unknown>(undefined)
  const anchor = useRef<Anchor | undefined>(undefined)
  const reading = useRef<AbortController | undefined>(undefined)

  const stop = (): void => reading.current?.abort()
  const clear = (): void => {
    stop()
    anchor.current = undefined
    setSelected(new Map())
    setError(undefined)
  }
  useEffect(() => {
    clear()
    return stop
  }, [book])

  const toggle = (at: number): void => {
    const item = book?.row(at)
    if (item === undefined) return
    const key = keyText(table, item)
    const next = new Map(selected)
    if (!next.delete(key)) next.set(key, keyOf(table, item))
    anchor.current = { at, key }
    setError(undefined)
    setSelected(next)
  }
  /** `ends` are what a person saw in the first and the last row. */
  const range = async (first: number, last: number, ends: readonly (Anchor | undefined)[]): Promise<void> => {
    if (book === undefined) return
    stop()
    const mine = new AbortController()
    reading.current = mine
    setError(undefined)
    const next = new Map(selected)
    let at = first
    try {
      if (last - first >= SELECTED_MAX) throw tooMany(last - first + 1)
      for await (const rows of book.between(first, last, mine.signal)) {
        for (const item of rows) {
          const key = keyText(table, item)
          if (ends.some((end) => end?.at === at && end.key !== key)) throw new MovedRows()
          next.set(key, keyOf(table, item))
          at++
        }
        if (mine.signal.aborted) return
        setProgress({ done: at - first, of: last - first + 1 })
      }
      if (mine.signal.aborted) return
      if (at <= last) throw new MovedRows()
      if (next.size > SELECTED_MAX) throw tooMany(next.size)
      setSelected(next)
    } catch (failure) {
      if (!mine.signal.aborted) setError(failure)
    } finally {
      if (reading.current === mine) {
        reading.current = undefined
        setProgress(undefined)
      }
    }
  }
  const select = (at: number, mode: 'toggle' | 'range'): void => {
    const from = anchor.current
    if (mode === 'toggle' || from === undefined) return toggle(at)
    const item = book?.row(at)
    if (item === undefined) return
    const to = { at, key: keyText(table, item) }
    void range(Math.min(from.at, at), Math.max(from.at, at), [from, to])
  }
  const selectAll = (): void => {
    if (book !== undefined && book.count > 0) void range(0, book.count - 1, [])
  }
  return { selected, progress, error, select, selectAll, clear, stop }
}

const tooMany = (rows: number): Error =>
  new Error(
    `Nothing was added: it would be ${countText(rows)} items, and at most ${countText(SELECTED_MAX)} are selected at once.`,
  )

class MovedRows extends Error {
  override readonly name = 'Nothing was selected'
  constructor() {
    super('The table was changed since these rows were read: refresh, and select again.')
  }
}
