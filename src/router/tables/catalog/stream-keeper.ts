// What is done for streams behind requests: their shards roll, they end, and what is too old is removed.
//
//   wake --> nothing is due: a timer for the next time --> due: one stream after another, each a change of the catalogue
//
//   roll    a number is drawn: the last record that can be read. Readers of the stream are shown nothing behind it (`visible`)
//           until the generation that begins there is durable: a reader never sees a record in two shards, nor a shard closed
//           without its children, whenever the process ends. If the change failed the same number is tried again.
//   begin   the table's shape with the stream is in force. Transactions that are pending anywhere then may have been carried out at
//           some nodes before: the stream begins behind them
//   end     the table's shape without the stream is in force. A step behind all that were called before passes every node, and
//           what was done until then is in the log: its last number is then the stream's last one.
//   remove  generations and streams whose records are older than 24 hours
//
// One router rolls the streams of a log: that of the process that has it.
import type { CommitLog } from '../../../commit-log/commit-log.js'
import { type Timestamp, timestamp, type TxId } from '../../../model/brand.js'
import type { Runtime } from '../../../runtime/runtime.js'
import type { StorageNode } from '../../../storage/contract/storage-node.js'
import {
  begun,
  ended,
  isRollDue,
  nextDueMicros,
  rolled,
  shardsFor,
  streamLimits,
  withoutOld,
} from '../../lineage/lineage.js'
import { streamKey, type StreamRecord } from '../../lineage/stream-record.js'
import type { TableCatalog } from './catalog.js'
import type { CatalogDraft } from './catalog-draft.js'
import type { TableRecord } from '../record/table-record.js'

export interface StreamKeeperOptions {
  readonly runtime: Runtime
  readonly nodes: readonly StorageNode[]
  readonly catalog: TableCatalog
  readonly log?: CommitLog
  readonly shardMinutes?: number
  readonly onBackgroundError?: (error: unknown) => void
}

const RETRY_MS = 1000
/** How often it is looked whether transactions have ended that were under way when a stream was enabled, and how many times. */
const BEGIN_LOOK_MS = 5
const BEGIN_LOOKS_MAX = 2000
const EVER = Infinity as Timestamp
/** The clock may be set meanwhile. */
const SLEEP_MS_MAX = 60 * 60 * 1000
/** Writes nothing that is there, and is durable only after all that was decided before it. */
const PASSING = { name: 'passing' } as const
/** How long it may take until a record that has become too old is told to be trimmed. */
const HORIZON_AGE_MICROS = 60 * 1_000_000

export class StreamKeeper {
  readonly #options: StreamKeeperOptions
  readonly #shardMs: number
  /** Streams whose shards are about to roll, and the last number of those. */
  readonly #rolling = new Map<string, number>()
  #cancelTimer: (() => void) | undefined
  #last: Promise<void> = Promise.resolve()
  #running = 0
  #failed = false
  #closed = false
  #horizon: { readonly number: number; readonly atMicros: number } | undefined

  constructor(options: StreamKeeperOptions) {
    this.#options = options
    this.#shardMs = (options.shardMinutes ?? streamLimits.shardMinutes) * 60_000
  }

  /** Undefined: these nodes keep no log, and no table has a stream. */
  get log(): CommitLog | undefined {
    return this.#options.log
  }

  /** The last record that readers of the stream may be shown. */
  visible(stream: StreamRecord): number {
    return this.#rolling.get(streamKey(stream)) ?? Math.min(stream.endsAt ?? Infinity, this.#log.last)
  }

  /** Records before this one are too old for every stream. */
  async horizon(): Promise<number> {
    const nowMicros = this.#nowMicros()
    const known = this.#horizon
    const isFresh = known !== undefined && Math.abs(nowMicros - known.atMicros) < HORIZON_AGE_MICROS
    if (isFresh) return Math.max(known.number, this.#log.first)
    const oldest = nowMicros - streamLimits.retentionMs * 1000
    const number = oldest <= 0 ? 0 : await this.#log.numberAt(timestamp(oldest))
    this.#horizon = { number, atMicros: nowMicros }
    return Math.max(number, this.#log.first)
  }

  /** There may be work. */
  wake(): void {
    if (this.#closed || this.#running > 0) return
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    const due = this.#nextDueMicros()
    if (due === undefined) return
    const waitMs = this.#failed ? RETRY_MS : Math.ceil((due - this.#nowMicros()) / 1000)
    this.#cancelTimer = this.#options.runtime.clock.timer(
      Math.min(Math.max(waitMs, 0), SLEEP_MS_MAX),
      () => void this.#run(),
    )
  }

  /** Does what is due by now, without waiting for the timer. */
  async idle(): Promise<void> {
    await this.#run()
  }

  /**
   * Begins the streams that tables have got, and ends those that they have no more; resolves when their first and last records
   * are known, or that has failed.
   */
  async settle(): Promise<void> {
    const isBetween = ({ status }: StreamRecord): boolean => status === 'DISABLING' || status === 'ENABLING'
    if (this.#options.catalog.streams().some(isBetween)) await this.#run()
  }

  /** Resolves when what was written before the call is in the log, so that a stream of this table that ends now has it. */
  async written({ stream }: TableRecord): Promise<void> {
    if (stream?.viewType !== undefined) await this.#options.log?.settled()
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    await this.#last
  }

  #run(): Promise<void> {
    this.#running++
    this.#last = this.#last
      .then(() => this.#pass())
      .finally(() => {
        this.#running--
        this.wake()
      })
    return this.#last
  }

  /** One stream after another; one that fails is tried again later, and does not keep the others waiting. */
  async #pass(): Promise<void> {
    this.#failed = false
    const nowMicros = this.#nowMicros()
    for (const stream of this.#options.catalog.streams()) {
      if (this.#closed) return
      if ((nextDueMicros(stream, this.#shardMs) ?? Infinity) > nowMicros) continue
      try {
        await this.#see(stream, nowMicros)
      } catch (error) {
        this.#failed = true
        if (!this.#closed) this.#options.onBackgroundError?.(error)
      }
    }
  }

  async #see(stream: StreamRecord, nowMicros: number): Promise<void> {
    if (stream.status === 'ENABLING') await this.#begin(stream)
    if (stream.status === 'DISABLING') await this.#end(stream, nowMicros)
    if (isRollDue(stream, nowMicros, this.#shardMs)) await this.#roll(stream, nowMicros)
    await this.#change(stream, (current, draft) => {
      const left = withoutOld(current, nowMicros)
      if (left === undefined) draft.removeStream(current)
      else if (left !== current) draft.putStream(left)
    })
  }

  /** If one of them does not end it is tried again later: recovery ends all. */
  async #begin(stream: StreamRecord): Promise<void> {
    const { nodes, runtime } = this.#options
    let before = await this.#pending()
    for (let looks = 0; before.size > 0 && looks < BEGIN_LOOKS_MAX && !this.#closed; looks++) {
      await new Promise<void>((resolve) => runtime.clock.timer(BEGIN_LOOK_MS, resolve))
      const now = await this.#pending()
      before = new Set([...before].filter((tx) => now.has(tx)))
    }
    if (before.size > 0) {
      this.#failed = true
      return
    }
    await Promise.all(nodes.map((node) => node.writeMeta([PASSING])))
    await this.#log.settled()
    await this.#change(stream, (current, draft) => {
      if (current.status === 'ENABLING') draft.putStream(begun(current, draft.lastRecord + 1))
    })
  }

  /** Transactions that some node has prepared and not carried out. */
  async #pending(): Promise<Set<TxId>> {
    const all = await Promise.all(this.#options.nodes.map((node) => node.stalled(EVER, Infinity)))
    return new Set(all.flat())
  }

  async #end(stream: StreamRecord, nowMicros: number): Promise<void> {
    await Promise.all(this.#options.nodes.map((node) => node.writeMeta([PASSING])))
    await this.#log.settled()
    const { last } = this.#log
    await this.#change(stream, (current, draft) => {
      if (current.status === 'DISABLING') draft.putStream(ended(current, last, nowMicros))
    })
    this.#rolling.delete(streamKey(stream))
  }

  async #roll(stream: StreamRecord, nowMicros: number): Promise<void> {
    const key = streamKey(stream)
    const last = this.visible(stream)
    this.#rolling.set(key, last)
    await this.#change(stream, (current, draft) => {
      if (!isRollDue(current, nowMicros, this.#shardMs)) return
      const table = draft.find(current.tableName)
      draft.putStream(
        rolled(current, { last, nowMicros, shards: table === undefined ? 1 : shardCount(table) }),
      )
    })
    this.#rolling.delete(key)
  }

  async #change(
    stream: StreamRecord,
    decide: (current: StreamRecord, draft: CatalogDraft) => void,
  ): Promise<void> {
    await this.#options.catalog.change((draft) => {
      const current = draft.stream(streamKey(stream))
      if (current !== undefined) decide(current, draft)
    })
  }

  #nextDueMicros(): number | undefined {
    let next: number | undefined
    for (const stream of this.#options.catalog.streams()) {
      const due = nextDueMicros(stream, this.#shardMs)
      if (due !== undefined && (next === undefined || due < next)) next = due
    }
    return next
  }

  #nowMicros(): number {
    return this.#options.runtime.clock.nowMicros()
  }

  get #log(): CommitLog {
    const { log } = this.#options
    if (log === undefined) throw new Error('there are streams, and no log of commits')
    return log
  }
}

/** Shards of a generation that opens now. */
export const shardCount = ({ billingMode, throughput }: TableRecord): number =>
  billingMode === 'PROVISIONED' ? shardsFor(throughput.writeUnits) : 1
