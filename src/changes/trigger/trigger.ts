// A trigger: calls a handler with the changes of a table, by the rules of Lambda's event source mapping.
//
//   LogFollower --> filter --> lane by partition key --> batch --> invoke --> afterInvocation (pure)
//        ^ waits while lanes are full                       ^         |          |
//                                                           +---------+- next <--+--> done, given up --> position --> checkpoint
//
// A record is done once the handler has answered it, or given it up. The position is behind the last record before which all
// are done, so that after a restart none is left out; some may come again.
import type { CommitRecord } from '../../commit-log/commit-record.js'
import { awaitedTimer, type Runtime } from '../../runtime/runtime.js'
import type { LogFollower } from '../log-follower.js'
import type { FollowedStream } from '../stream.js'
import { nowMs } from '../times.js'
import {
  afterInvocation,
  type RecordBatch,
  type Discarded,
  newRecordBatch,
  retryDelayMs,
  type TriggerRecord,
  withoutExpired,
} from './batch.js'
import { eventOf, failureDocument, invoke, type InvocationOptions } from './invocation.js'
import { Lane } from './lane.js'
import type { StreamHandler } from './stream-event.js'
import type { Trigger, TriggerOptions } from './trigger-contract.js'
import { triggerSettings, type TriggerSettings } from './trigger-settings.js'

/** What a trigger reads. */
export interface TriggerSource {
  readonly runtime: Runtime
  readonly stream: FollowedStream
  readonly region: string
  /** Number of the last record of the log. */
  last(): number
  /** From the trigger's starting position, or after a sequence number. */
  follow(from: string | undefined): LogFollower
  /** The changes of the stream in that record, in order. */
  recordsOf(record: CommitRecord): readonly TriggerRecord[]
  readonly onError: (error: unknown) => void
  /** Nothing runs any more. */
  readonly onEnd: () => void
}

/** As Lambda's, for an event. */
const BATCH_BYTES_MAX = 6 * 1024 * 1024
const RETRY_DELAY_MS_MAX = 60_000

export class RunningTrigger implements Trigger {
  readonly #source: TriggerSource
  readonly #options: TriggerOptions
  readonly #settings: TriggerSettings
  readonly #invocation: InvocationOptions
  readonly #lanes: readonly Lane[]
  /** In order, each with the sequence number before it. */
  readonly #undone = new Map<TriggerRecord, string | undefined>()
  readonly #idle = new Set<{ readonly upTo: number; resolve(): void; reject(error: unknown): void }>()
  #follower: LogFollower | undefined
  /** All records of the log up to this number are in lanes, done, or of other tables. */
  #passed = 0
  #lastRead: string | undefined
  #saved: string | undefined
  #saving: Promise<void> = Promise.resolve()
  #wakeReader: () => void = () => {}
  readonly #endWaits = new Set<() => void>()
  /** Nothing is begun any more: it was stopped, or has failed. */
  #isStopped = false
  /** Nothing runs any more. */
  #isOver = false
  #failure: { readonly error: unknown } | undefined
  readonly #running: Promise<void>

  constructor(source: TriggerSource, options: TriggerOptions, handler: StreamHandler) {
    this.#source = source
    this.#options = options
    this.#settings = triggerSettings(options)
    const { functionName, timeoutMs, parallelism, batchSize, batchWindowMs } = this.#settings
    const { runtime, region } = source
    const onError = this.#onError
    this.#invocation = { runtime, region, handler, functionName, timeoutMs, onError }
    const lane = { clock: runtime.clock, batchSize, batchBytesMax: BATCH_BYTES_MAX, batchWindowMs }
    this.#lanes = Array.from({ length: parallelism }, () => new Lane(lane))
    // Now, so that LATEST is the moment of the call.
    this.#follower = source.follow(undefined)
    this.#running = this.#run()
  }

  get position(): string | undefined {
    for (const before of this.#undone.values()) return before
    return this.#lastRead
  }

  idle(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#idle.add({ upTo: this.#source.last(), resolve, reject })
      this.#tellIdle()
    })
  }

  async stop(): Promise<void> {
    this.#end('drop')
    await this.#running
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  async #run(): Promise<void> {
    const lanes = this.#lanes.map((lane) => this.#work(lane))
    await this.#read().then(() => this.#end('drain'), this.#fail)
    await Promise.all(lanes)
    await this.#save().catch(this.#fail)
    this.#isOver = true
    this.#tellIdle()
    this.#source.onEnd()
  }

  async #read(): Promise<void> {
    const saved = await this.#options.checkpoint?.load()
    if (this.#isStopped) return
    if (saved !== undefined) {
      this.#follower = this.#source.follow(saved)
      this.#lastRead = saved
      this.#saved = saved
    }
    const follower = this.#follower as LogFollower
    for (;;) {
      while (!this.#lanes.every((lane) => lane.hasRoom) && !this.#isStopped) await this.#room()
      const record = await follower.next(() => {
        this.#passed = follower.passed - 1
        this.#tellIdle()
      })
      if (record === undefined) break
      for (const one of this.#source.recordsOf(record)) this.#take(one, saved)
      this.#passed = record.number
    }
    this.#passed = Infinity
  }

  #take(record: TriggerRecord, saved: string | undefined): void {
    const { sequenceNumber, hash, json } = record
    if (saved !== undefined && BigInt(sequenceNumber) <= BigInt(saved)) return
    if (this.#settings.passes(JSON.parse(json) as object)) {
      this.#undone.set(record, this.#lastRead)
      this.#lanes[hash % this.#lanes.length]?.push(record)
    }
    this.#lastRead = sequenceNumber
  }

  async #work(lane: Lane): Promise<void> {
    for (;;) {
      const records = await lane.collect()
      if (records === undefined) return
      this.#wakeReader()
      await this.#handle(newRecordBatch(records)).catch(this.#fail)
    }
  }

  /** Until all of it is done or given up; or the trigger is stopped. */
  async #handle(whole: RecordBatch): Promise<void> {
    const { rules, retryDelayMs: firstMs } = this.#settings
    const left: RecordBatch[] = [whole]
    while (left.length > 0 && !this.#isStopped) {
      const batch = left.shift() as RecordBatch
      await this.#wait(retryDelayMs(batch, firstMs, RETRY_DELAY_MS_MAX))
      if (this.#isStopped) return
      const { expired, rest } = withoutExpired(batch, rules, nowMs(this.#source.runtime.clock))
      if (expired !== undefined) await this.#giveUp(expired)
      if (rest === undefined) continue
      // What is at hand is answered without a turn of the event loop: others get theirs.
      await new Promise<void>((resolve) => this.#source.runtime.defer(resolve))
      const outcome = await invoke(rest, this.#invocation)
      const { done, next, discarded } = afterInvocation(rest, outcome, rules)
      for (const record of rest.records.slice(0, done)) this.#undone.delete(record)
      if (discarded !== undefined) await this.#giveUp(discarded)
      left.unshift(...next)
      await this.#save()
      this.#tellIdle()
    }
  }

  /** Only once its owner was told: if that fails, the trigger ends, and the records are not lost. */
  async #giveUp(discarded: Discarded): Promise<void> {
    const { records } = discarded.batch
    const document = failureDocument(discarded, this.#source.stream.arn, this.#invocation)
    if (this.#options.onFailure !== undefined) await this.#options.onFailure(document, eventOf(records))
    else
      this.#onError(
        new Error(
          `${this.#settings.functionName}: ${records.length} records of ${this.#source.stream.table} from ${document.DDBStreamBatchInfo.startSequenceNumber} on were given up: ${discarded.condition}`,
        ),
      )
    for (const record of records) this.#undone.delete(record)
    await this.#save()
    this.#tellIdle()
  }

  /** One at a time, and each the newest position of its moment. */
  #save(): Promise<void> {
    const { checkpoint } = this.#options
    if (checkpoint === undefined) return Promise.resolve()
    const saving = this.#saving.then(async () => {
      const { position } = this
      if (position === undefined || position === this.#saved) return
      await checkpoint.save(position)
      this.#saved = position
    })
    this.#saving = saving.catch(() => undefined)
    return saving
  }

  #tellIdle(): void {
    for (const waiting of this.#idle) {
      if (this.#failure !== undefined) waiting.reject(this.#failure.error)
      else if (this.#isDone(waiting.upTo)) waiting.resolve()
      else if (this.#isOver)
        waiting.reject(new Error('The trigger was stopped before all changes were done.'))
      else continue
      this.#idle.delete(waiting)
    }
  }

  #isDone(upTo: number): boolean {
    for (const { number } of this.#undone.keys()) return this.#passed >= upTo && number > upTo
    return this.#passed >= upTo
  }

  readonly #onError = (error: unknown): void => (this.#options.onError ?? this.#source.onError)(error)

  readonly #fail = (error: unknown): void => {
    if (this.#failure !== undefined) return
    this.#failure = { error }
    this.#end('drop')
    this.#onError(error)
    this.#tellIdle()
  }

  #end(rest: 'drain' | 'drop'): void {
    if (rest === 'drop') {
      this.#isStopped = true
      for (const endWait of this.#endWaits) endWait()
    }
    this.#follower?.end()
    for (const lane of this.#lanes) lane.end(rest)
    this.#wakeReader()
  }

  #room(): Promise<void> {
    return new Promise((resolve) => (this.#wakeReader = resolve))
  }

  #wait(delayMs: number): Promise<void> {
    if (delayMs === 0) return Promise.resolve()
    return new Promise((resolve) => {
      const end = (): void => {
        this.#endWaits.delete(end)
        cancel()
        resolve()
      }
      const cancel = awaitedTimer(this.#source.runtime.clock, delayMs, end)
      this.#endWaits.add(end)
    })
  }
}
