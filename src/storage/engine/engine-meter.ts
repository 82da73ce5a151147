// What a server counts of its engine, as Prometheus reads it: calls by result and time, steps that share them, steps that were decided
// again, outcomes that nobody knows. docs/fleet.md says what to look at.
import {
  type CasOutcome,
  type Engine,
  EngineUnavailable,
  type PlainOutcome,
  SpaceMissing,
} from '../../engine/engine.js'
import { type Clock, steadyMicros } from '../../runtime/runtime.js'

type Call = 'read' | 'cas' | 'write' | 'range'
type Result = 'ok' | 'refused' | 'unknown' | 'missing' | 'unavailable' | 'failed'
export type StepCount = 'step' | 'again'
export type DoubtCount = 'cas' | 'refused' | 'unknown' | 'unresolved'

/** Upper bounds in seconds; one more bucket takes the rest. */
const BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5] as const

interface CallCounts {
  readonly byResult: Map<Result, number>
  readonly buckets: number[]
  secondsSum: number
}

export class EngineMeter {
  readonly #clock: Clock
  readonly #calls = new Map<Call, CallCounts>()
  #steps = 0
  #again = 0
  #unresolved = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  step(what: StepCount): void {
    if (what === 'step') this.#steps++
    else this.#again++
  }

  doubt(what: DoubtCount): void {
    if (what === 'unresolved') this.#unresolved++
  }

  /** The same engine, with its calls counted. */
  of(engine: Engine): Engine {
    const timed = <T>(call: Call, answer: Promise<T>, resultOf: (answer: T) => Result): Promise<T> => {
      const began = steadyMicros(this.#clock)
      const seconds = (): number => (steadyMicros(this.#clock) - began) / 1e6
      return answer.then(
        (value) => {
          this.#count(call, resultOf(value), seconds())
          return value
        },
        (error: unknown) => {
          this.#count(call, failureOf(error), seconds())
          throw error
        },
      )
    }
    const isDone = (): Result => 'ok'
    return {
      name: engine.name,
      limits: engine.limits,
      scopeOf: (address) => engine.scopeOf(address),
      read: (addresses, consistency) => timed('read', engine.read(addresses, consistency), isDone),
      range: (request) => timed('range', engine.range(request), isDone),
      cas: (changes) => timed('cas', engine.cas(changes), outcomeOf),
      write: (rows) => timed('write', engine.write(rows), outcomeOf),
      createSpace: (space, kind) => engine.createSpace(space, kind),
      dropSpace: (space) => engine.dropSpace(space),
      estimate: async (space) => engine.estimate?.(space),
      close: () => engine.close(),
    }
  }

  #count(call: Call, result: Result, seconds: number): void {
    let counts = this.#calls.get(call)
    if (counts === undefined)
      this.#calls.set(
        call,
        (counts = { byResult: new Map(), buckets: BUCKETS_SECONDS.map(() => 0).concat(0), secondsSum: 0 }),
      )
    counts.byResult.set(result, (counts.byResult.get(result) ?? 0) + 1)
    counts.secondsSum += seconds
    const bucket = BUCKETS_SECONDS.findIndex((bound) => seconds <= bound)
    counts.buckets[bucket < 0 ? BUCKETS_SECONDS.length : bucket]!++
  }

  /** The exposition text, version 0.0.4. */
  text(): string {
    const lines: string[] = []
    const head = (name: string, type: string, help: string): void =>
      void lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`)
    const calls = 'seriatim_engine_calls_total'
    head(calls, 'counter', 'Calls of the engine, by what they ended with.')
    for (const [call, { byResult }] of this.#calls)
      for (const [result, count] of byResult)
        lines.push(`${calls}{call="${call}",result="${result}"} ${count}`)
    const duration = 'seriatim_engine_call_duration_seconds'
    head(duration, 'histogram', 'From a call of the engine to its answer.')
    for (const [call, { buckets, secondsSum }] of this.#calls) {
      let cumulative = 0
      for (const [at, count] of buckets.entries()) {
        cumulative += count
        lines.push(`${duration}_bucket{call="${call}",le="${BUCKETS_SECONDS[at] ?? '+Inf'}"} ${cumulative}`)
      }
      lines.push(
        `${duration}_sum{call="${call}"} ${secondsSum}`,
        `${duration}_count{call="${call}"} ${cumulative}`,
      )
    }
    const counter = (name: string, help: string, value: number): void => {
      head(name, 'counter', help)
      lines.push(`${name} ${value}`)
    }
    counter(
      'seriatim_engine_steps_total',
      'Steps of requests; those of one partition share calls.',
      this.#steps,
    )
    counter(
      'seriatim_engine_steps_again_total',
      'Steps that were decided again, because another server had changed a row meanwhile.',
      this.#again,
    )
    counter(
      'seriatim_engine_unresolved_total',
      'Compare-and-sets of which it was not found out whether they were carried out.',
      this.#unresolved,
    )
    return `${lines.join('\n')}\n`
  }
}

const outcomeOf = ({ outcome }: CasOutcome | PlainOutcome): Result => (outcome === 'applied' ? 'ok' : outcome)

const failureOf = (error: unknown): Result =>
  error instanceof SpaceMissing ? 'missing' : error instanceof EngineUnavailable ? 'unavailable' : 'failed'
