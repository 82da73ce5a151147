// A Transactor over any way to commit: settings, turns, callbacks, handles.
import type { Runtime } from '../../runtime/runtime.js'
import { commitEventually, startAttempt, type AttemptParts, type AttemptSettings } from './attempts.js'
import { openHandle } from './handle.js'
import { unitLimits } from '../endpoint/limits.js'
import type { Protocol } from './protocol.js'
import { rethrown } from '../endpoint/refusals.js'
import type {
  AnyTables,
  Outcome,
  SweepReport,
  TableMap,
  TransactOptions,
  Transactor,
  TransactorOptions,
  UnitHandle,
  UnitOfWork,
} from './transactor.js'
import type { UnitAttempt } from './unit.js'
import { Pace, ConcurrencyLimit } from '../endpoint/waiting.js'

/** `protocol` is asked for once, when it is first needed. */
export function unitTransactor<Tables extends TableMap<Tables> = AnyTables>(
  protocol: () => Protocol | Promise<Protocol>,
  options: TransactorOptions,
  runtime: Runtime,
): Transactor<Tables> {
  return new UnitTransactor(protocol, options, runtime)
}

class UnitTransactor implements Transactor {
  readonly #options: TransactorOptions
  readonly #runtime: Runtime
  readonly #turns: ConcurrencyLimit
  readonly #pace = new Pace()
  readonly #open: () => Protocol | Promise<Protocol>
  #parts: AttemptParts | Promise<AttemptParts> | undefined

  constructor(open: () => Protocol | Promise<Protocol>, options: TransactorOptions, runtime: Runtime) {
    this.#open = open
    this.#options = options
    this.#runtime = runtime
    this.#turns = new ConcurrencyLimit(options.concurrency ?? unitLimits.concurrency)
  }

  async transact<Result>(
    lambda: (tx: UnitOfWork) => PromiseLike<Result> | Result,
    options: TransactOptions = {},
  ): Promise<Result> {
    const settings = this.#settings(options)
    await this.#turns.take(settings.signal)
    try {
      const id = this.#newId()
      const { result, callbacks, ...info } = await commitEventually(
        await this.#loaded(),
        settings,
        id,
        lambda,
      )
      await this.#tell(callbacks)
      this.#report(() => this.#options.onOutcome?.({ id, ...info }))
      return result
    } finally {
      this.#turns.give()
    }
  }

  async begin(options: TransactOptions = {}): Promise<UnitHandle> {
    const settings = this.#settings(options)
    await this.#turns.take(settings.signal)
    return this.#handle(settings, this.#newId())
  }

  async resume(id: string): Promise<UnitHandle> {
    const { protocol } = await this.#loaded()
    if (protocol.detached === undefined) throw new Error(NOT_DETACHED)
    const { work, options } = await protocol.detached.resume(id).catch(rethrown)
    const settings = this.#settings(options)
    await this.#turns.take(settings.signal)
    return this.#handle(settings, id, (unit) => unit.adopt(work))
  }

  async setup(): Promise<void> {
    await (await this.#loaded()).protocol.setup().catch(rethrown)
  }

  async outcome(id: string): Promise<Outcome> {
    return (await this.#loaded()).protocol.outcome(id).catch(rethrown)
  }

  async sweep(options: { readonly tables?: readonly string[] } = {}): Promise<SweepReport> {
    return (await this.#loaded()).protocol.sweep(options).catch(rethrown)
  }

  async idle(): Promise<void> {
    await (await this.#loaded()).protocol.idle()
  }

  async #handle(
    settings: AttemptSettings,
    id: string,
    prepare: (unit: UnitAttempt) => void = () => undefined,
  ): Promise<UnitHandle> {
    try {
      const parts = await this.#loaded()
      const running = startAttempt(parts, settings, { id, attempt: 1, once: true })
      prepare(running.unit)
      return openHandle({
        running,
        detached: parts.protocol.detached,
        committed: async (report) => {
          await this.#tell(running.unit.callbacks)
          this.#report(() =>
            this.#options.onOutcome?.({ id, protocol: report.protocol, attempts: 1, ...running.port.usage }),
          )
        },
        over: () => this.#turns.give(),
      })
    } catch (error) {
      this.#turns.give()
      throw error
    }
  }

  #loaded(): AttemptParts | Promise<AttemptParts> {
    this.#parts ??= this.#load()
    return this.#parts
  }

  #load(): AttemptParts | Promise<AttemptParts> {
    const partsOf = (protocol: Protocol): AttemptParts => ({
      protocol,
      runtime: this.#runtime,
      pace: this.#pace,
    })
    const protocol = this.#open()
    if (!(protocol instanceof Promise)) return partsOf(protocol)
    return protocol.then(
      (opened) => (this.#parts = partsOf(opened)),
      (error: unknown) => {
        // Whoever comes next asks anew.
        this.#parts = undefined
        throw error
      },
    )
  }

  #settings(call: TransactOptions): AttemptSettings {
    const { retry, isolation, timeoutMs, unitBytesMax, statementScans } = this.#options
    return {
      isolation: call.isolation ?? isolation ?? 'serializable',
      timeoutMs: call.timeoutMs ?? timeoutMs ?? unitLimits.timeoutMs,
      limit: call.retry?.limit ?? retry?.limit ?? unitLimits.retryLimit,
      backoffMs: call.retry?.backoffMs ?? retry?.backoffMs,
      signal: call.signal,
      unitBytesMax,
      statementScans,
    }
  }

  #newId(): string {
    return Buffer.from(this.#runtime.randomBytes(16)).toString('hex')
  }

  /** All callbacks run, whatever becomes of the others: the unit is committed, and stays so. */
  async #tell(callbacks: UnitAttempt['callbacks']): Promise<void> {
    for (const callback of callbacks) {
      try {
        await callback()
      } catch (error) {
        this.#failed(error)
      }
    }
  }

  #report(tell: () => void): void {
    try {
      tell()
    } catch (error) {
      this.#failed(error)
    }
  }

  #failed(error: unknown): void {
    reportError(this.#options, error)
  }
}

/** What no caller waits for. */
export function reportError({ onError }: Pick<TransactorOptions, 'onError'>, error: unknown): void {
  if (onError !== undefined) onError(error)
  else process.emitWarning(error instanceof Error ? error : String(error), 'SeriatimError')
}

export const NOT_DETACHED =
  'This endpoint keeps no unfinished units of work: their reads and writes live in the process that began them. Commit it there, or begin it anew.'
