// A unit that outlives a lambda: its owner commits it, rolls it back, or detaches it. Nothing is retried.
import type { RunningAttempt } from './attempts.js'
import { Conflict } from '../endpoint/errors.js'
import type { CommitReport, DetachedUnits } from './protocol.js'
import { rethrown, surfaced } from '../endpoint/refusals.js'
import type { LedgerRevision } from '../values/revision.js'
import type { Condition, QueryInput, Rows, ScanInput, UnitHandle, Update } from './transactor.js'

type Plain = Record<string, unknown>

export interface HandleParts {
  readonly running: RunningAttempt
  readonly detached: DetachedUnits | undefined
  /** Told once, after the commit. */
  readonly committed: (report: CommitReport) => Promise<void>
  /** Told once, however it ends. */
  readonly over: () => void
}

export const openHandle = (parts: HandleParts): UnitHandle => new Handle(parts)

class Handle implements UnitHandle {
  readonly #parts: HandleParts
  #isOver = false

  constructor(parts: HandleParts) {
    this.#parts = parts
    // Whoever forgets his handle gives his turn back when its time is over.
    parts.running.start.deadline.onOver(() => this.#end('its time is over'))
  }

  get id(): string {
    return this.#unit.id
  }
  get attempt(): number {
    return this.#unit.attempt
  }
  get(table: string, key: object, options?: { readonly lock?: boolean }): Promise<Plain | undefined> {
    return this.#unit.get(table, key, options)
  }
  getAll(table: string, keys: readonly object[]): Promise<(Plain | undefined)[]> {
    return this.#unit.getAll(table, keys)
  }
  query(table: string, input: QueryInput): Rows<Plain> {
    return this.#unit.query(table, input)
  }
  scan(table: string, input?: ScanInput): Rows<Plain> {
    return this.#unit.scan(table, input)
  }
  execute<Row extends object = Plain>(statement: string, parameters?: readonly unknown[]): Promise<Row[]> {
    return this.#unit.execute<Row>(statement, parameters)
  }
  history(table: string, key: object): Rows<LedgerRevision> {
    return this.#unit.history(table, key)
  }
  put(table: string, item: object, condition?: Condition): void {
    this.#unit.put(table, item, condition)
  }
  update(table: string, key: object, update: Update<Plain>, condition?: Condition): void {
    this.#unit.update(table, key, update, condition)
  }
  delete(table: string, key: object, condition?: Condition): void {
    this.#unit.delete(table, key, condition)
  }
  check(table: string, key: object, condition: Condition): void {
    this.#unit.check(table, key, condition)
  }
  onCommit(callback: () => void | Promise<void>): void {
    this.#unit.onCommit(callback)
  }

  abort(reason?: unknown): never {
    try {
      return this.#unit.abort(reason)
    } finally {
      this.#end('it was aborted: begin another one')
    }
  }

  async commit(): Promise<void> {
    this.#assertOpen()
    const { running, committed } = this.#parts
    try {
      const report = await running.commit()
      await committed(report)
    } catch (error) {
      running.end('its commit has failed')
      throw error instanceof Conflict
        ? new Conflict(error.message, error.detail, 1, { cause: error })
        : surfaced(error)
    } finally {
      this.#over()
    }
  }

  async rollback(): Promise<void> {
    const { port } = this.#parts.running
    const isOver = this.#isOver
    this.#end('it was rolled back')
    if (!isOver) await port.rolledBack?.().catch(rethrown)
  }

  async detach(): Promise<string> {
    this.#assertOpen()
    const { running, detached } = this.#parts
    if (detached === undefined)
      throw new Error('This endpoint keeps no unfinished units of work: commit it here, or roll it back.')
    running.unit.assertReadsDone()
    await detached.detach(running.start, await running.unit.work(), running.port).catch(rethrown)
    this.#end('it was detached; resume(id) goes on with it')
    return this.id
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.rollback()
  }

  get #unit(): RunningAttempt['unit'] {
    return this.#parts.running.unit
  }

  #assertOpen(): void {
    this.#parts.running.unit.assertOpen()
  }

  #end(why: string): void {
    if (this.#isOver) return
    this.#parts.running.end(why)
    this.#over()
  }

  #over(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#parts.over()
  }
}
