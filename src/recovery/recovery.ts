// The recovery manager (§3.5): finishes transactions whose coordinator has vanished.
//
//   every second, from a random slot:  unfinished <-- each node's ledger  \
//                                      stalled    <-- each node            > seen for two seconds? --> finish
//   whenever a node meets one:         report(node, tx)                   /
//
//   finish:  decide(cancel) --> ledger: cancelled now, or what was decided before, or a tombstone if it knows nothing
//            commit or cancel --> participants --> finished --> complete --> ledger
//
// How long a transaction has been there is judged by this manager's own clock, from when it first saw it, and by one that
// is not set while it runs: the clocks of two machines are never compared. To take a living coordinator for dead costs
// that transaction one more attempt, never its atomicity. Any number of managers may run at once. May import: what the
// coordinator may, and its finishing.
import { nodeAt, type Placement } from '../coordinator/placement.js'
import type { CoordinatedNode } from '../coordinator/coordinator.js'
import { type Calls, type CallTuning, openCalls } from '../coordinator/calls.js'
import { completeRecords, tellParticipants } from '../coordinator/finish.js'
import type { ItemRef, LedgerRecord } from '../ledger/ledger.js'
import { type LedgerSlot, type TxId, ledgerSlot, slotOf, timestamp } from '../model/brand.js'
import { type Runtime, steadyMicros } from '../runtime/runtime.js'

export interface RecoveryTuning extends CallTuning {
  /** From one round to the next, give or take a quarter. */
  readonly intervalMs?: number
  /** A transaction that was seen that long ago and is still there has stalled. */
  readonly stalledAfterMs?: number
  /** How many transactions of each node a round looks at, and how many it finishes. */
  readonly recordsMax?: number
}

export interface RecoveryOptions {
  readonly runtime: Runtime
  readonly nodes: readonly CoordinatedNode[]
  readonly placement: Pick<Placement, 'ledgerNodeOf'>
  readonly tuning?: RecoveryTuning
  /** Told of what could not be done; it is tried again in the next round. */
  readonly onError?: (error: unknown) => void
}

export interface Recovery {
  /** A node has met this transaction on its way, and thinks that it may have stalled. */
  report(node: number, tx: TxId): void
  /** One round, now, beside the periodic ones. */
  round(): Promise<void>
  /**
   * Finishes everything that there is, however young: for the start of nodes whose coordinators are known to be gone.
   */
  takeOver(): Promise<void>
  /** What it has finished lately, the newest first. */
  recent(): readonly RecoveredTransaction[]
  /** Stops; resolves when nothing is under way any more. */
  stop(): Promise<void>
}

/** What recovery did to a transaction whose coordinator had vanished. */
export interface RecoveredTransaction {
  readonly tx: TxId
  readonly atMicros: number
  /** `committed`: it was decided so, and was carried out. `swept`: it had ended, and something of it had come late. */
  readonly did: 'committed' | 'cancelled' | 'swept'
  /** The first of them, where the ledger had them. */
  readonly items: readonly ItemRef[]
  readonly itemCount: number
}

const RECOVERED_MAX = 100
/** Of each. */
const ITEMS_KEPT_MAX = 10
const INTERVAL_MS = 1000
const STALLED_AFTER_MS = 2000
const RECORDS_MAX = 1000
const SEEN_MAX = 10_000
/** What is seen no more is over. A round that failed may have missed it, so it is given that many beyond a whole lap. */
const ROUNDS_UNSEEN_MAX = 3
const TAKE_OVER_ROUNDS_MAX = 1000
const PURGE_RECORDS = 500
const PURGE_STEPS_MAX = 40
const ALL_PENDING = timestamp(Number.MAX_SAFE_INTEGER)

/**
 * Starts a recovery manager on these nodes.
 *
 * @example
 * const recovery = startRecovery({ runtime, nodes, placement: localPlacement(nodes.length) })
 * await recovery.stop()
 */
export function startRecovery(options: RecoveryOptions): Recovery {
  return new RunningRecovery(options)
}

/**
 * How far the rounds have come through what a node has, where there is more than one round looks at: each goes on behind
 * the last, and at the end begins again. Otherwise those that cannot be finished would hide the others.
 */
interface Lap {
  /** Where the next round begins in the ledger; undefined: anywhere. */
  from?: LedgerSlot | undefined
  /** Behind which transaction it begins among those pending; undefined: at the first. */
  after?: TxId | undefined
  readonly ofLedger: Rounds
  readonly ofPending: Rounds
}

/** Of the lap that is under way, and of the one before it. */
interface Rounds {
  now: number
  before: number
}

interface Sighting {
  readonly firstMicros: number
  /** The round in which it was seen last. Rounds are counted, because a clock may step back. */
  lastRound: number
  /** The nodes that were seen to hold something of it. */
  readonly nodes: Set<number>
}

class RunningRecovery implements Recovery {
  readonly #options: RecoveryOptions
  readonly #calls: Calls
  readonly #seen = new Map<TxId, Sighting>()
  /** By node. */
  readonly #laps: readonly Lap[]
  #cancelTimer: (() => void) | undefined
  #running: Promise<void> | undefined
  readonly #recovered: RecoveredTransaction[] = []
  #rounds = 0
  #finishedInRound = 0
  #stopped = false

  constructor(options: RecoveryOptions) {
    this.#options = options
    this.#calls = openCalls(options.runtime.clock, options.tuning ?? {})
    this.#laps = options.nodes.map(() => ({
      ofLedger: { now: 0, before: 1 },
      ofPending: { now: 0, before: 1 },
    }))
    this.#startLater()
  }

  report(node: number, tx: TxId): void {
    this.#see(tx, node)
  }

  round(): Promise<void> {
    return this.#alone(this.#options.tuning?.stalledAfterMs ?? STALLED_AFTER_MS)
  }

  async takeOver(): Promise<void> {
    await this.#running
    let fruitless = 0
    for (let round = 0; round < TAKE_OVER_ROUNDS_MAX && !this.#stopped; round++) {
      await this.#alone(0)
      fruitless = this.#finishedInRound === 0 ? fruitless + 1 : 0
      // What could not be finished in a whole lap is left to the rounds to come.
      if (fruitless >= this.#roundsOfLap()) return
    }
  }

  recent(): readonly RecoveredTransaction[] {
    return this.#recovered.toReversed()
  }

  #alone(stalledAfterMs: number): Promise<void> {
    this.#running ??= this.#round(stalledAfterMs).finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancelTimer?.()
    await this.#running
  }

  #startLater(): void {
    if (this.#stopped) return
    const { runtime, tuning } = this.#options
    const intervalMs = tuning?.intervalMs ?? INTERVAL_MS
    const jitter = ((runtime.randomBytes(1)[0] ?? 0) / 255 - 0.5) / 2
    this.#cancelTimer = runtime.clock.timer(intervalMs * (1 + jitter), () => {
      void this.round().finally(() => this.#startLater())
    })
  }

  /** Nothing that goes wrong ends it: the next round sees the same again. */
  async #round(stalledAfterMs: number): Promise<void> {
    this.#finishedInRound = 0
    this.#rounds++
    const looked = this.#options.nodes.map((node, position) => this.#tolerate(this.#look(node, position)))
    await Promise.all(looked)
    await Promise.all(
      this.#stalled(stalledAfterMs).map(([tx, seen]) => this.#tolerate(this.#finish(tx, seen))),
    )
    this.#forget()
    await Promise.all(this.#options.nodes.map((node) => this.#tolerate(this.#purge(node))))
  }

  async #look(node: CoordinatedNode, position: number): Promise<void> {
    const lap = this.#laps[position] as Lap
    const recordsMax = this.#options.tuning?.recordsMax ?? RECORDS_MAX
    const [unfinished, pending] = await Promise.all([
      this.#unfinished(node, lap, recordsMax),
      this.#calls(() => node.stalled(ALL_PENDING, recordsMax, lap.after)),
    ])
    lap.after = pending.length < recordsMax ? undefined : pending.at(-1)
    count(lap.ofPending, lap.after === undefined)
    for (const { tx } of unfinished) this.#see(tx, undefined)
    for (const tx of pending) this.#see(tx, position)
  }

  /** From where the last round ended, over the end, up to the limit. */
  async #unfinished(node: CoordinatedNode, lap: Lap, recordsMax: number): Promise<readonly LedgerRecord[]> {
    const from = lap.from ?? this.#randomSlot()
    const above = await this.#calls(() => node.ledger.unfinished(from, recordsMax))
    const room = recordsMax - above.length
    const below = room > 0 ? await this.#calls(() => node.ledger.unfinished(FIRST_SLOT, room)) : []
    // Slots of one coordinator stand close together: where there are too many for one round, the next goes on behind them.
    const last = room > 0 && below.length < room ? undefined : (below.at(-1) ?? above.at(-1))
    lap.from = last && slotOf(last.tx)
    count(lap.ofLedger, room > 0)
    return [...above, ...below]
  }

  #randomSlot(): LedgerSlot {
    return ledgerSlot(Buffer.from(this.#options.runtime.randomBytes(16)).toString('hex'))
  }

  #see(tx: TxId, node: number | undefined): void {
    const seen = this.#seen.get(tx)
    if (seen !== undefined) {
      seen.lastRound = this.#rounds
      if (node !== undefined) seen.nodes.add(node)
    } else if (this.#seen.size < SEEN_MAX) {
      const firstMicros = steadyMicros(this.#options.runtime.clock)
      const nodes = new Set(node === undefined ? [] : [node])
      this.#seen.set(tx, { firstMicros, lastRound: this.#rounds, nodes })
    }
  }

  /** Seen in this round, and first seen long enough ago; those first that were never tried, or longest ago. */
  #stalled(stalledAfterMs: number): readonly (readonly [TxId, Sighting])[] {
    const { runtime, tuning } = this.#options
    const since = steadyMicros(runtime.clock) - stalledAfterMs * 1000
    const stalled = [...this.#seen]
      .filter(
        ([, { firstMicros, lastRound }]) =>
          lastRound === this.#rounds && (stalledAfterMs === 0 || firstMicros <= since),
      )
      .slice(0, tuning?.recordsMax ?? RECORDS_MAX)
    const isFull = this.#seen.size >= SEEN_MAX
    for (const [tx, seen] of stalled) {
      this.#seen.delete(tx)
      // Behind the others, if there is room for it; otherwise a later round sees it anew.
      if (!isFull) this.#seen.set(tx, seen)
    }
    return stalled
  }

  async #finish(tx: TxId, { nodes: holding }: Sighting): Promise<void> {
    const { nodes, placement, runtime } = this.#options
    const { ledger } = nodeAt(nodes, placement.ledgerNodeOf(slotOf(tx)))
    // Decided before anything is undone; a transaction that the ledger does not know gets its tombstone here.
    const now = timestamp(runtime.clock.nowMicros())
    const record: LedgerRecord = await this.#calls(() =>
      ledger.decide(tx, 'cancel', { timestamp: now, reasons: [] }),
    )
    if (record.state === 'completed') {
      // What a node still holds of it came late or twice. All of it: which items these are, only the node knows.
      await Promise.all(
        Array.from(holding, (node) => this.#calls(() => nodeAt(nodes, node).cancel({ tx, items: [] }))),
      )
    } else {
      await tellParticipants(nodes, record, this.#calls, { until: 'known' })
      const left = await completeRecords(nodes, [{ ...record, ledger }], this.#calls)
      // The next round sees it again.
      if (left.has(tx)) return
    }
    this.#seen.delete(tx)
    this.#finishedInRound++
    // Its tombstone is of this very call: until now nobody had decided it, as after a start, which forgets what was not decided.
    const isBuriedHere = record.state === 'completed' && record.timestamp === now
    const did =
      record.state === 'completed' && !isBuriedHere
        ? 'swept'
        : record.decision === 'commit'
          ? 'committed'
          : 'cancelled'
    const items = record.participants.flatMap((participant) => participant.items)
    this.#recovered.push({
      tx,
      atMicros: runtime.clock.nowMicros(),
      did,
      items: items.slice(0, ITEMS_KEPT_MAX),
      itemCount: items.length,
    })
    if (this.#recovered.length > RECOVERED_MAX) this.#recovered.shift()
  }

  #forget(): void {
    const since = this.#rounds - this.#roundsOfLap() - ROUNDS_UNSEEN_MAX
    for (const [tx, { lastRound }] of this.#seen) if (lastRound < since) this.#seen.delete(tx)
  }

  /** After so many everything that stays has been looked at. */
  #roundsOfLap(): number {
    return Math.max(
      ...this.#laps.flatMap(({ ofLedger, ofPending }) =>
        [ofLedger, ofPending].map(({ now, before }) => Math.max(now + 1, before)),
      ),
    )
  }

  async #purge({ ledger }: CoordinatedNode): Promise<void> {
    for (let step = 0; step < PURGE_STEPS_MAX && !this.#stopped; step++) {
      if (await this.#calls(() => ledger.purge(PURGE_RECORDS))) return
    }
  }

  #tolerate(work: Promise<void>): Promise<void> {
    return work.catch((error: unknown) => {
      if (!this.#stopped) this.#options.onError?.(error)
    })
  }
}

function count(rounds: Rounds, isOver: boolean): void {
  rounds.now++
  if (!isOver) return
  rounds.before = rounds.now
  rounds.now = 0
}

const FIRST_SLOT = ledgerSlot('0'.repeat(32))
