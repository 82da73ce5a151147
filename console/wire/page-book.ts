// The items of a query or scan as rows with numbers, however many there are, in a memory that does not grow.
//
//   pages of rows, the last few used --> kept
//   where a page begins (a key)      --> kept for every page, then for every second, fourth, ... once there are many
//   a row whose page is gone         --> read again from the nearest place that is known
//   rows that are passed over        --> counted by the server, where nothing is filtered, and not sent
//
// One page is read again at a time, and always one that is in sight by then: who drags the scroll bar over ten thousand pages wants
// the last of them, and not to wait for the others.
//
// A page of the book is what fills it: DynamoDB may answer fewer items than asked for, or none, and go on.
import type { Item } from '../values/attribute.js'
import { call, type Json } from './client.js'

export const ROWS_A_PAGE = 100
const PAGES_KEPT_MAX = 20
const PLACES_MAX = 1024
/** Reads of one page: a filter that lets nothing through must not read a whole table for one screen. */
const READS_A_PAGE_MAX = 8
/** Pages that are passed over in one step. */
export const PAGES_AHEAD_MAX = 100
/** Rows that one request counts: for one of them the server must not work long. */
const COUNTED_MAX = 1000

interface Answer {
  readonly Items?: readonly Item[]
  readonly Count?: number
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
  #appending: Promise<void> | undefined
  #rereading: Promise<void> | undefined
  /** Pages that are in sight. */
  #wanted: readonly [number, number] = [0, 0]
  #places: Place[] = [{ page: 0, from: undefined }]
  #stride = 1
  readonly #abort = new AbortController()
  /** Rows that are known to exist. */
  count = 0
  scanned = 0
  isWhole = false
  error: unknown
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

  get isReading(): boolean {
    return this.#appending !== undefined || this.#rereading !== undefined
  }

  /** Sees to it that these rows are there; one page beyond what is known at most. */
  want(first: number, last: number): void {
    this.#wanted = [Math.floor(first / ROWS_A_PAGE), Math.floor(last / ROWS_A_PAGE)]
    if (this.#missing() !== undefined)
      this.#rereading ??= this.#noted(this.#readWanted(), () => (this.#rereading = undefined))
    if (last >= this.count - 1 && !this.isWhole && !this.isPaused) void this.more()
  }

  /** The next page; of several, all but the last are passed over where that is cheaper. */
  more(pages = 1): Promise<void> {
    if (this.isWhole) return Promise.resolve()
    return (this.#appending ??= this.#noted(this.#append(pages), () => (this.#appending = undefined)))
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

  #noted(work: Promise<void>, over: () => void): Promise<void> {
    return work
      .then(
        () => (this.error = undefined),
        (error: unknown) => {
          if (!this.#abort.signal.aborted) this.error = error
        },
      )
      .then(() => {
        over()
        if (!this.#abort.signal.aborted) this.#onChange()
      })
  }

  /** The next rows behind those that are known. */
  async #append(pages: number): Promise<void> {
    this.isPaused = false
    if (pages > 1 && !this.#isFiltered && this.#partial.length === 0) await this.#passOver(pages - 1)
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

  get #isFiltered(): boolean {
    return this.#input['FilterExpression'] !== undefined
  }

  /** At the end of the table it stops before the last page. */
  async #passOver(pages: number): Promise<void> {
    let upTo = this.#resume.page + pages
    while (this.#resume.page < upTo) {
      const rows = Math.min(COUNTED_MAX, (upTo - this.#resume.page) * ROWS_A_PAGE)
      const { counted, from } = await this.#count(this.#resume.from, rows, ROWS_A_PAGE)
      if (from === undefined) {
        upTo = this.#resume.page + Math.max(0, Math.floor((counted - 1) / ROWS_A_PAGE))
        continue
      }
      this.scanned += counted
      this.#resume = { page: this.#resume.page + counted / ROWS_A_PAGE, from }
      this.count = this.#resume.page * ROWS_A_PAGE
      this.#remember(this.#resume)
    }
  }

  /** How many of these rows there are, as a multiple of `step` if more follow, and where those that follow begin. */
  async #count(
    from: Json | undefined,
    rows: number,
    step: number,
  ): Promise<{ readonly counted: number; readonly from: Json | undefined }> {
    let counted = 0
    let next = from
    do {
      // A part of what was asked for, as the answer of 1 MB that it would have been.
      const wanted = counted === 0 ? rows : step - (counted % step)
      const answer = await this.#send({ ...this.#input, Select: 'COUNT', Limit: wanted }, next)
      counted += answer.Count ?? 0
      next = answer.LastEvaluatedKey
    } while (next !== undefined && counted % step !== 0)
    return { counted, from: next }
  }

  /** The first page in sight that is known and not kept. */
  #missing(): number | undefined {
    const lastKnown = Math.min(this.#wanted[1], Math.floor((this.count - 1) / ROWS_A_PAGE))
    for (let page = this.#wanted[0]; page <= lastKnown; page++) if (!this.#pages.has(page)) return page
    return undefined
  }

  /** Pages that were there before. */
  async #readWanted(): Promise<void> {
    for (let page = this.#missing(); page !== undefined; page = this.#missing()) await this.#readAgain(page)
  }

  /** Ends early if the page is out of sight meanwhile. */
  async #readAgain(page: number): Promise<void> {
    let { page: at, from } = this.#places.findLast((each) => each.page <= page) ?? this.#places[0]!
    const isWanted = (): boolean => this.#wanted[0] <= page && page <= this.#wanted[1]
    while (at < page && !this.#isFiltered) {
      const rows = Math.min(COUNTED_MAX, (page - at) * ROWS_A_PAGE)
      const passed = await this.#count(from, rows, ROWS_A_PAGE)
      if (!isWanted()) return
      // The table has become shorter: there is no such page any more.
      if (passed.from === undefined) return this.#keep(page, { rows: [] })
      at += passed.counted / ROWS_A_PAGE
      from = passed.from
    }
    for (; at <= page; at++) {
      const rows: Item[] = []
      do {
        const answer = await this.#ask(from, ROWS_A_PAGE - rows.length)
        if (!isWanted()) return
        rows.push(...(answer.Items ?? []))
        from = answer.LastEvaluatedKey
      } while (from !== undefined && rows.length < ROWS_A_PAGE)
      if (at === page || from === undefined) this.#keep(page, { rows: at === page ? rows : [] })
      if (from === undefined) return
    }
    this.#onChange()
  }

  #ask(from: Json | undefined, limit: number, signal?: AbortSignal): Promise<Answer> {
    return this.#send({ ...this.#input, Limit: limit }, from, signal)
  }

  #send(input: Json, from: Json | undefined, signal?: AbortSignal): Promise<Answer> {
    return call<Answer>(this.#operation, from === undefined ? input : { ...input, ExclusiveStartKey: from }, {
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
