// A simulated server on an engine: the real engine node, coordinator and recovery, on a clock of its own that may be hours from
// those of others. It may crash, and be started again with nothing but the engine; or be frozen, and go on as if nothing were.
import { openCoordinator, type Coordinator } from '../../src/coordinator/coordinator.js'
import { enginePlacement } from '../../src/coordinator/engine-placement.js'
import { type Recovery, startRecovery } from '../../src/recovery/recovery.js'
import type { TransactionRules } from '../../src/rules/item/section-4.js'
import type { Runtime } from '../../src/runtime/runtime.js'
import type { Random } from '../../src/runtime/seeded-random.js'
import { EngineNode, engineRules } from '../../src/storage/engine/engine-node.js'
import type { DoubtFunctions } from '../../src/storage/engine/sure-cas.js'
import type { Engine } from '../../src/engine/engine.js'
import type { Scheduler } from '../scheduler.js'
import { type EngineUser, SimEngine, type SimRing } from './sim-engine.js'

export interface ServerTraits {
  readonly rules?: TransactionRules
  readonly doubts?: DoubtFunctions
  /** A mutant: nobody looks whether a step came late. */
  readonly isLateLeftAlone?: boolean
  /** A mutant: a cancel under a token is not written where other servers see it. */
  readonly isCancelUnfenced?: boolean
  readonly keepMs?: number
  readonly leaseMs?: number
  readonly actWithinMs?: number
  /** Wraps the engine of a server: for mutants. */
  readonly engineOf?: (engine: Engine) => Engine
  /** What version ids and other chance are drawn from. */
  readonly randomBytes?: (count: number, random: Random) => Uint8Array
}

export interface Running {
  readonly node: EngineNode
  readonly coordinator: Coordinator
  readonly recovery: Recovery
}

export class SimServer {
  readonly name: string
  readonly #scheduler: Scheduler
  readonly #random: Random
  readonly #ring: SimRing
  readonly #traits: ServerTraits
  readonly #offsetMicros: number
  readonly #onStarted: (running: Running) => void
  #life = 0
  #frozenUntilMicros = 0
  running: Running | undefined

  constructor(
    name: string,
    around: { scheduler: Scheduler; random: Random; ring: SimRing; traits: ServerTraits },
    offsetMicros: number,
    onStarted: (running: Running) => void,
  ) {
    this.name = name
    this.#scheduler = around.scheduler
    this.#random = around.random
    this.#ring = around.ring
    this.#traits = around.traits
    this.#offsetMicros = offsetMicros
    this.#onStarted = onStarted
    this.start()
  }

  start(): void {
    this.#life++
    const user = this.#user(this.#life)
    const runtime = this.#runtime(user)
    const { rules = engineRules, doubts, keepMs, leaseMs, engineOf = (engine) => engine } = this.#traits
    const { actWithinMs = ACT_WITHIN_MS } = this.#traits
    const node = new EngineNode({
      engine: engineOf(new SimEngine(this.#ring, user)),
      runtime,
      rules,
      ...(doubts && { doubts }),
      ...(this.#traits.isLateLeftAlone === true && { isLate: () => false }),
      tuning: {
        waitMs: 100,
        actWithinMs,
        ...(keepMs !== undefined && { keepMs }),
        ...(leaseMs !== undefined && { leaseMs }),
      },
    })
    const placement = enginePlacement(node)
    if (this.#traits.isCancelUnfenced === true) unfence(node.ledger)
    const nodes = [node]
    const coordinator = openCoordinator({
      runtime,
      nodes,
      placement,
      rules,
      sharedJournal: false,
      tuning: { deadlineMs: 5000 },
    })
    const recovery = startRecovery({
      runtime,
      nodes,
      placement,
      tuning: { intervalMs: 500, stalledAfterMs: 1000 },
    })
    node.onStalled((tx) => recovery.report(0, tx))
    this.running = { node, coordinator, recovery }
    this.#onStarted(this.running)
  }

  /** Everything that it was at ends in the middle. */
  crash(downMicros: number): void {
    const life = ++this.#life
    this.running = undefined
    // It may crash again while it is down: then it is started once, after the last time.
    this.#scheduler.after(downMicros, `start ${this.name}`, () => {
      if (this.#life === life) this.start()
    })
  }

  freeze(micros: number): void {
    this.#frozenUntilMicros = this.#scheduler.nowMicros + micros
  }

  #user(life: number): EngineUser {
    const after: EngineUser['after'] = (micros, label, action) => {
      let cancel = (): void => undefined
      const due = (): void => {
        if (this.#life !== life) return
        const left = this.#frozenUntilMicros - this.#scheduler.nowMicros
        if (left > 0) cancel = this.#scheduler.after(left, label, due)
        else action()
      }
      cancel = this.#scheduler.after(micros, label, due)
      return () => cancel()
    }
    return { name: this.name, after }
  }

  #runtime(user: EngineUser): Runtime {
    const bytes = this.#traits.randomBytes
    return {
      clock: {
        nowMicros: () => EPOCH_MICROS + this.#offsetMicros + this.#scheduler.nowMicros,
        monotonicMicros: () => this.#scheduler.nowMicros,
        timer: (delayMs, callback) => user.after(delayMs * 1000, `timer ${this.name}`, callback),
      },
      randomBytes: (count) =>
        bytes?.(count, this.#random) ?? Uint8Array.from({ length: count }, () => this.#random.below(256)),
      defer: (callback) => void user.after(0, `defer ${this.name}`, callback),
    }
  }
}

function unfence(ledger: EngineNode['ledger']): void {
  const decide = ledger.decide.bind(ledger)
  ledger.decide = (tx, decision, at) => decide(tx, decision, { ...at, payloadHash: undefined })
}

/** Shorter than tombstones are kept in a world, as it is outside. */
const ACT_WITHIN_MS = 10_000
const EPOCH_MICROS = 1_700_000_000_000_000
