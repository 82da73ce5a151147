// The reads of transactions at one node: in one round at a timestamp (§4), or the latest value in each of two phases
// (§3.4). Both leave marks of when items were read, below a durable ceiling.
import type { KeyBytes } from '../../model/brand.js'
import type { Ceiling } from '../items/marks.js'
import { loadRef, whenDurableAt, type LoadedItem, type TransactionState } from '../items/load-item.js'
import type { HybridClock } from '../../line/hybrid-clock.js'
import { both } from '../../line/line.js'
import type { StepRetries, StepOutcome } from '../items/step-retries.js'
import type { RuleFunctions } from './rule-functions.js'
import type {
  ReadAtReply,
  ReadAtRequest,
  ReadLatestReply,
  ReadLatestRequest,
  ReadVerdict,
} from '../contract/transactions.js'

export interface TransactionReadsOptions extends TransactionState {
  readonly clock: HybridClock
  readonly functions: RuleFunctions
  readonly retries: StepRetries
  readonly ceiling: Ceiling
}

export class TransactionReads {
  readonly #options: TransactionReadsOptions

  constructor(options: TransactionReadsOptions) {
    this.#options = options
  }

  readAt(request: ReadAtRequest): Promise<ReadAtReply> {
    const { retries, clock } = this.#options
    return retries.patiently(
      () => this.#readAt(request),
      ({ timestamp, results }) => ({ clock: clock.timestamp, timestamp, results }),
    )
  }

  #readAt({ items: refs, timestamp: wanted }: ReadAtRequest): StepOutcome<Omit<ReadAtReply, 'clock'>> {
    const { clock, line, marks, functions, ceiling } = this.#options
    if (wanted !== undefined) clock.witness(wanted)
    const items = refs.map((ref) => loadRef(this.#options, ref))
    const now = clock.nextTimestamp()
    const timestamp = wanted ?? functions.commonReadTimestamp(items, now) ?? now
    let isRefused = false
    const waitFor: KeyBytes[] = []
    const results = items.map((item): ReadVerdict => {
      const verdict = functions.decideReadAt(item, timestamp)
      if (verdict.verdict === 'too-old') isRefused = true
      else if (verdict.verdict === 'pending') waitFor.push(item.address)
      else return valueOf(item)
      return verdict
    })
    const answer = { timestamp, results }
    if (isRefused) return { answer, whenDurable: whenDurableAt(line, items) }
    if (waitFor.length > 0) return { answer, waitFor }
    for (const item of items) marks.raise(item.address, timestamp)
    return { answer, whenDurable: both(whenDurableAt(line, items), ceiling.above(timestamp)) }
  }

  readLatest(request: ReadLatestRequest): Promise<ReadLatestReply> {
    const { retries, clock } = this.#options
    return retries.patiently(
      () => this.#readLatest(request),
      (results) => ({ clock: clock.timestamp, results }),
    )
  }

  #readLatest({ items: refs, mark }: ReadLatestRequest): StepOutcome<ReadLatestReply['results']> {
    const { clock, line, marks, partitions, functions, ceiling } = this.#options
    if (mark !== undefined) clock.witness(mark)
    const items = refs.map((ref) => loadRef(this.#options, ref))
    const results = items.map((item): ReadLatestReply['results'][number] => {
      const verdict = functions.decideReadLatest(item)
      if (verdict.verdict === 'pending') return verdict
      const { record } = item.state
      const lsn = record?.lsn ?? partitions.deleteLsn(item.key.hash)
      return { verdict: 'value', lsn, written: item.written, ...(record && { record }) }
    })
    if (mark !== undefined) for (const item of items) marks.raise(item.address, mark)
    const covered = mark === undefined ? undefined : ceiling.above(mark)
    return { answer: results, whenDurable: both(whenDurableAt(line, items), covered) }
  }
}

const valueOf = ({ state: { record } }: LoadedItem): ReadVerdict =>
  record === undefined ? { verdict: 'value' } : { verdict: 'value', record }
