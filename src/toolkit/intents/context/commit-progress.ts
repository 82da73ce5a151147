// The time that a commit has: as long as it makes progress it may take what it takes, so that a unit of a thousand items
// passes on a slow machine as well. Others are told of the progress, too: while the wave of intents goes on, the header
// gets beats, and nobody takes the transaction for stalled.
import type { RequestUsage } from './caller.js'
import { commitLimits, type IntentsPatience } from '../protocol/limits.js'
import type { Header } from '../protocol/records.js'
import { beatRequest } from '../protocol/requests.js'
import type { IntentsContext } from './context.js'

export class CommitProgress {
  readonly #nowMs: () => number
  readonly #stepMs: number
  readonly #endMs: number
  #lastMs: number

  /** Over when nothing has happened for `stepMs`, and after `totalMs` whatever happens. */
  constructor(nowMs: () => number, stepMs: number, totalMs: number) {
    this.#nowMs = nowMs
    this.#stepMs = stepMs
    this.#lastMs = nowMs()
    this.#endMs = this.#lastMs + totalMs
  }

  /** Never as long as records of what is done are kept: a header that is gone must not come back. */
  static ofCommit(nowMs: () => number, { commitMs, keepMs }: IntentsPatience): CommitProgress {
    return new CommitProgress(nowMs, commitMs, Math.max(commitMs, Math.min(commitLimits.totalMs, keepMs / 2)))
  }

  /** One of the things that the commit consists of is done. */
  made(): void {
    this.#lastMs = this.#nowMs()
  }

  get lastMs(): number {
    return this.#lastMs
  }

  isOver(): boolean {
    const nowMs = this.#nowMs()
    return nowMs - this.#lastMs >= this.#stepMs || nowMs >= this.#endMs
  }
}

/** Beats the header while `work` makes progress. A beat that is refused or lost does no harm: others are less patient. */
export async function beating(
  space: IntentsContext,
  header: Pick<Header, 'id' | 'turn'>,
  progress: CommitProgress,
  usage: RequestUsage,
  work: () => Promise<void>,
): Promise<void> {
  const { caller, records, patience } = space
  let told = progress.lastMs
  let beats = 0
  let underWay = false
  let cancel: () => void = () => undefined
  const sent = (): void => {
    underWay = false
  }
  const later = (): void => {
    cancel = caller.runtime.clock.timer(patience.beatMs, () => {
      if (!underWay && progress.lastMs > told) {
        told = progress.lastMs
        underWay = true
        caller.send('UpdateItem', beatRequest(records, header, ++beats), usage).then(sent, sent)
      }
      later()
    })
  }
  later()
  try {
    await work()
  } finally {
    cancel()
  }
}
