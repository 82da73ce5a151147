// Reads the log of commits record by record, a page at a time, and waits at its end for more.
import { type CommitLogReader, LogTrimmed } from '../commit-log/commit-log.js'
import type { CommitRecord } from '../commit-log/commit-record.js'
import type { SpaceId } from '../model/brand.js'
import { ChangesTrimmed } from './errors.js'
import type { LogFollowerPage } from './stream.js'

export interface LogFollowerOptions {
  readonly log: CommitLogReader
  readonly spaces: ReadonlySet<SpaceId>
  /** Number of the first record to read. */
  readonly from: number
  /** Begin with the oldest record that is kept, should that one be gone by the first read. */
  readonly isFromStart?: boolean
  /** For messages. */
  readonly tables: readonly string[]
  /** Number of the last record that belongs to what is followed, once that has ended. */
  readonly lastOf: () => number | undefined
  readonly isClosed: () => boolean
  readonly onStreamsChanged: (callback: () => void) => () => void
  readonly page?: LogFollowerPage
}

/** A record of up to 4 MB may follow one of which the page was not full yet. */
const PAGE: LogFollowerPage = { recordsMax: 100, bytesMax: 1024 * 1024 }

export class LogFollower {
  readonly #options: LogFollowerOptions
  #page: readonly CommitRecord[] = []
  #used = 0
  /** Number of the first record that was not looked at. */
  #from: number
  #isAtStart: boolean
  #end: { readonly failure?: { readonly reason: unknown } } | undefined
  #wake: () => void = () => {}

  constructor(options: LogFollowerOptions) {
    this.#options = options
    this.#from = options.from
    this.#isAtStart = options.isFromStart === true
  }

  /** All records below this number were answered, or concerned other tables. */
  get passed(): number {
    return this.#page[this.#used]?.number ?? this.#from
  }

  /**
   * The next record, once there is one; undefined after the last. One call at a time.
   * @throws ChangesTrimmed if records that were not read are gone
   */
  async next(onWait: () => void = () => {}): Promise<CommitRecord | undefined> {
    for (;;) {
      if (this.#options.isClosed()) this.end()
      if (this.#end !== undefined) {
        if (this.#end.failure === undefined) return undefined
        const { reason } = this.#end.failure
        this.#end = {}
        throw reason
      }
      const record = this.#page[this.#used]
      if (record !== undefined) {
        this.#used++
        return record
      }
      if (this.#from > (this.#options.lastOf() ?? Infinity)) this.end()
      else if (this.#from > this.#options.log.last || !(await this.#read())) await this.#more(onWait)
    }
  }

  /** What waits, and what is asked for later, gets undefined, or once this failure. */
  end(failure?: { readonly reason: unknown }): void {
    if (this.#end !== undefined) return
    this.#page = []
    this.#used = 0
    this.#end = failure === undefined ? {} : { failure }
    this.#wake()
  }

  /** Whether it came further. */
  async #read(): Promise<boolean> {
    const { log, spaces, page = PAGE, tables } = this.#options
    const from = this.#from
    try {
      const { records, next } = await log.read({ from, spaces, ...page })
      if (this.#end !== undefined) return true
      this.#isAtStart = false
      const last = this.#options.lastOf() ?? Infinity
      this.#page = records.filter(({ number }) => number <= last)
      this.#used = 0
      this.#from = next
      return next > from
    } catch (error) {
      if (!(error instanceof LogTrimmed)) throw error
      if (this.#isAtStart && log.first > from) {
        this.#from = log.first
        return true
      }
      throw new ChangesTrimmed(
        `Changes of ${tables.join(', ')} that were not read yet are not kept any more: the reader fell behind.`,
        { cause: error },
      )
    }
  }

  /** Until there may be something: more records, another stream, or the end. */
  #more(onWait: () => void): Promise<void> {
    const { log, onStreamsChanged } = this.#options
    return new Promise((resolve) => {
      const wake = (): void => {
        for (const end of subscriptions) end()
        this.#wake = () => {}
        resolve()
      }
      const subscriptions = [log.onAppended(wake), onStreamsChanged(wake)]
      this.#wake = wake
      onWait()
    })
  }
}
