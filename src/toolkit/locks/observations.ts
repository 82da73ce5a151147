// Which rows are dead: unchanged for a lease on our own clock, counted from when we first saw that beat.
import { observerLeaseMs } from './rules.js'
import type { LockName, QueueRow } from './rows.js'
import { queueKey } from './rows.js'
import type { LockClock } from './lock-clock.js'

interface Sight {
  readonly owner: string
  readonly beat: number
  /** Unchanged for at least so long at that moment. */
  readonly unchangedMs: number
  readonly atMs: number
}

const SIGHTS_MAX = 10_000

/** What one client has seen of others; kept between its acquires, so that short ones add up. */
export class Observations {
  readonly #clock: LockClock
  readonly #skewMs: number
  /** Oldest first. */
  readonly #sights = new Map<string, Sight>()

  constructor(clock: LockClock, skewMs: number) {
    this.#clock = clock
    this.#skewMs = skewMs
  }

  /** Call it after the answer that shows the row has arrived: from then on the beat is watched. */
  note(name: LockName, row: QueueRow): void {
    const key = keyOf(name, row)
    const seen = this.#sights.get(key)
    const suspectedMs = row.suspectedMs ?? 0
    const same = seen !== undefined && seen.owner === row.owner && seen.beat === row.beat
    if (same && this.#unchangedMs(seen) >= suspectedMs) return
    this.#sights.delete(key)
    const { owner, beat } = row
    this.#sights.set(key, { owner, beat, unchangedMs: suspectedMs, atMs: this.#clock.monotonicMs() })
    if (this.#sights.size > SIGHTS_MAX) this.#sights.delete(this.#sights.keys().next().value!)
  }

  /** For how long this beat has been unchanged, at least. */
  unchangedMs(name: LockName, row: QueueRow): number {
    const seen = this.#sights.get(keyOf(name, row))
    return seen !== undefined && seen.owner === row.owner && seen.beat === row.beat
      ? this.#unchangedMs(seen)
      : 0
  }

  isDead(name: LockName, row: QueueRow): boolean {
    const leaseMs = observerLeaseMs(row.leaseMs)
    if (this.unchangedMs(name, row) >= leaseMs) return true
    // Nobody may have watched for long enough: then wall clocks tell, if they say so beyond all skew.
    return (
      row.suspectedAtMs !== undefined && this.#clock.wallMs() - row.suspectedAtMs >= leaseMs + this.#skewMs
    )
  }

  /** How long until this row can be known to be dead, if it does not change. */
  deadInMs(name: LockName, row: QueueRow): number {
    return Math.max(0, observerLeaseMs(row.leaseMs) - this.unchangedMs(name, row))
  }

  forget(name: LockName, row: { readonly ticket: bigint }): void {
    this.#sights.delete(keyOf(name, row))
  }

  #unchangedMs(sight: Sight): number {
    return sight.unchangedMs + Math.max(0, this.#clock.monotonicMs() - sight.atMs)
  }
}

function keyOf(name: LockName, row: { readonly ticket: bigint }): string {
  const { pk, sk } = queueKey(name, row.ticket)
  return `${pk.S} ${sk.S}`
}
