// The items of a query or scan as rows with numbers, however many there are, in a memory that does not grow.
//
//   pages of rows, the last few used --> kept
//   where a page begins (a key)      --> kept for every page, then for every second, fourth, ... once there are many
//   a row whose page is gone         --> read again from the nearest place that is known
//
// A page of the book is what fills it: DynamoDB may answer fewer items than asked for, or none, and go on.
import type { Item } from '../values/attribute.js'
import { call, type Json } from './client.js'

export const ROWS_A_PAGE = 100
const PAGES_KEPT_MAX = 20
const PLACES_MAX = 1024
/** Reads of one page: a filter that lets nothing through must not read a whole table for one screen. */
const READS_A_PAGE_MAX = 8

interface Answer {
  readonly Items?: readonly Item[]
  readonly ScannedCount?: number
  readonly LastEvaluatedKey?: Json
}

interface Page {
  readonly rows: readonly Item[]
}

interface Place {
  readonly page: number
  readonly from: Json | undefined
}

export class PageBook {
  readonly #operation: 'Query' | 'Scan'
  readonly #input: Json
  readonly #onChange: () => void
  readonly #pages = new Map<number, Page>()
  readonly #reading = new Map<number, Promise<void>>()
  #places: Place[] = [{ page: 0, from: undefined }]
  #stride = 1
  readonly #abort = new AbortController()
  /** Rows that are known to exist. */
  count = 0
  scanned = 0
  isWhole = false
  error: unknown
  isReading = false
  /** Nothing was found in as many reads as one page may take: a person decides whether to go on. */
  isPaused = false
  #resume: Place = { page: 0, from: undefined }
  #partial: Item[] = []

  constructor(operation: 'Query' | 'Scan', input: Json, onChange: () => void) {
    this.#operation = operation
    this.#input = input
    this.#onChange = onChange
  }

  get kept(): number {
    return this.#pages.size
  }

  row(at: number): Item | undefined {
    const page = Math.floor(at / ROWS_A_PAGE)
    const found = this.#pages.get(page)
    if (found === undefined) return undefined
    // The last used is the last to go.
    this.#pages.delete(page)
    this.#pages.set(page, found)
    return found.rows[at % ROWS_A_PAGE]
  }

  loaded(): readonly Item[] {
    return [...this.#pages.values()].flatMap(({ rows }) => rows)
  }

  /** Sees to it that these rows are there; one page beyond what is known at most. */
  want(first: number, last: number): void {
    const lastKnown = Math.floor(Math.max(0, this.count - 1) / ROWS_A_PAGE)
    for (let page = Math.floor(first / ROWS_A_PAGE); page <= Math.floor(last / ROWS_A_PAGE); page++) {
      if (page <= lastKnown && this.count > 0 && !this.#pages.has(page)) void this.#read(page)
    }
    if (last >= this.count - 1 && !this.isWhole && !this.isPaused) void this.more()
  }

  more(): Promise<void> {
    if (this.isWhole) return Promise.resolve()
    return this.#once(-1, () => this.#append())
  }

  close(): void {
    this.#abort.abort()
  }

  /**
   * All rows from one to another, in parts, whether their pages are kept or not. Pages that are gone are read again and not
   * kept, so that what a person sees stays, and memory does not grow with the range.
   */
  async *between(first: number, last: number, signal: AbortSignal): AsyncGenerator<readonly Item[]> {
    const [firstPage, lastPage] = [Math.floor(first / ROWS_A_PAGE), Math.floor(last / ROWS_A_PAGE)]
    const cut = (page: number, rows: readonly Item[]): readonly Item[] =>
      rows.slice(Math.max(0, first - page * ROWS_A_PAGE), last + 1 - page * ROWS_A_PAGE)
    let isKept = true
    for (let page = firstPage; page <= lastPage; page++) isKept &&= this.#pages.has(page)
    if (isKept) {
      for (let page = firstPage; page <= lastPage; page++) yield cut(page, this.#pages.get(page)?.rows ?? [])
      return
    }
    let { page, from } = this.#places.findLast((each) => each.page <= firstPage) ?? this.#places[0]!
    for (; page <= lastPage; page++) {
      const limit = page === lastPage ? (last % ROWS_A_PAGE) + 1 : ROWS_A_PAGE
      const rows: Item[] = []
      do {
        const answer = await this.#ask(from, limit - rows.length, signal)
        rows.push(...(answer.Items ?? []))
        from = answer.LastEvaluatedKey
      } while (from !== undefined && rows.length < limit)
      if (page >= firstPage) yield cut(page, rows)
      if (from === undefined) return
    }
  }

  #once(page: number, read: () => Promise<void>): Promise<void> {
    const running = this.#reading.get(page)
    if (running !== undefined) return running
    this.isReading = true
    const begun = read()
      .then(
        () => (this.error = undefined),
        (error: unknown) => {
          if (!this.#abort.signal.aborted) this.error = error
        },
      )
      .then(() => {
        this.#reading.delete(page)
        this.isReading = this.#reading.size > 0
        if (!this.#abort.signal.aborted) this.#onChange()
      })
    this.#reading.set(page, begun)
    return begun
  }

  /** The next rows behind those that are known. */
  async #append(): Promise<void> {
    this.isPaused = false
    let { from } = this.#resume
    for (let reads = 0; reads < READS_A_PAGE_MAX; reads++) {
      const answer = await this.#ask(from, ROWS_A_PAGE - this.#partial.length)
      this.#partial.push(...(answer.Items ?? []))
      this.scanned += answer.ScannedCount ?? 0
      from = answer.LastEvaluatedKey
      if (from === undefined || this.#partial.length >= ROWS_A_PAGE) break
    }
    const { page } = this.#resume
    this.#keep(page, { rows: this.#partial.slice() })
    this.count = page * ROWS_A_PAGE + this.#partial.length
    this.isWhole = from === undefined
    if (this.#partial.length >= ROWS_A_PAGE) {
      this.#partial = []
      this.#resume = { page: page + 1, from }
      this.#remember(this.#resume)
    } else {
      this.#resume = { page, from }
      this.isPaused = !this.isWhole
    }
  }

  /** A page that was there before. */
  #read(page: number): Promise<void> {
    return this.#once(page, async () => {
      const place = this.#places.findLast((each) => each.page <= page) ?? this.#places[0]!
      let { from } = place
      for (let at = place.page; at <= page; at++) {
        const rows: Item[] = []
        do {
          const answer = await this.#ask(from, ROWS_A_PAGE - rows.length)
          rows.push(...(answer.Items ?? []))
          from = answer.LastEvaluatedKey
        } while (from !== undefined && rows.length < ROWS_A_PAGE)
        if (at === page) this.#keep(at, { rows })
        if (from === undefined) break
      }
    })
  }

  #ask(from: Json | undefined, limit: number, signal?: AbortSignal): Promise<Answer> {
    const input = { ...this.#input, Limit: limit, ...(from !== undefined && { ExclusiveStartKey: from }) }
    return call<Answer>(this.#operation, input, {
      signal: signal ?? this.#abort.signal,
      isQuiet: from !== undefined,
    })
  }

  #keep(page: number, content: Page): void {
    this.#pages.delete(page)
    this.#pages.set(page, content)
    while (this.#pages.size > PAGES_KEPT_MAX) this.#pages.delete(this.#pages.keys().next().value as number)
  }

  #remember(place: Place): void {
    if (place.page % this.#stride === 0) this.#places.push(place)
    if (this.#places.length <= PLACES_MAX) return
    this.#stride *= 2
    this.#places = this.#places.filter(({ page }) => page % this.#stride === 0)
  }
}
