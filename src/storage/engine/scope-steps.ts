// Steps on the rows of one scope, several at a time: those of this server that arrive while one compare-and-set is under way are
// decided together, one after another, and share the next one.
//
//   step --> line of its scope --> read all rows --> decide each on what those before it leave --> entries that must be there first
//                    ^                                                                                   |
//                    |                                                                                   v
//                    +------- refused: decided again on what is there <---------------------------- one cas --> answers
//                                                                                                              entries that go
//
// A step is a pure decision on rows: it may be taken many times, and only the last one counts. What it answers leaves only when
// the compare-and-set it is a part of was applied, or, if it changes nothing, when what it looked at was read.
//
// Those that waited for a compare-and-set need not read what it has left: if all that they look at is compared by the next one, that
// tells whether another server was faster. So a hot partition takes one call of the engine for each group, not two.
import {
  type Engine,
  type EngineRow,
  EngineUnavailable,
  type PlainOutcome,
  type PlainWrite,
  type RowAddress,
  type RowChange,
  type RowPut,
} from '../../engine/engine.js'
import { WriteFailed } from '../../line/errors.js'
import type { Runtime } from '../../runtime/runtime.js'
import { Absences } from './absences.js'
import { because, nextPut, newVersionId, type SureCas, type SureOutcome } from './sure-cas.js'

/** The rows as those before it in the same compare-and-set leave them. */
export interface RowsSeen {
  row(address: RowAddress): EngineRow | undefined
}

export interface RowNext {
  readonly address: RowAddress
  /** The cells that change; `removed`: the row goes; absent: it has to stay as it is. */
  readonly cells?: RowPut['cells'] | 'removed'
  /** It follows a row that is compared, and is not looked at itself. */
  readonly follows?: true
}

export interface StepDecision<Answer> {
  readonly answer: Answer
  readonly next?: readonly RowNext[]
  /** Entries that have to be there before, and those that nothing names afterwards. */
  readonly before?: readonly PlainWrite[]
  readonly after?: readonly PlainWrite[]
}

export interface ScopeStep<Answer> {
  /** All of one scope. */
  readonly addresses: readonly RowAddress[]
  /**
   * It may be decided on rows that this server remembers, or takes for absent: if it is wrong it is refused. `likely`: for absent only
   * where rows of their space were so of late.
   */
  readonly mayGuess?: boolean | 'likely'
  decide(rows: RowsSeen): StepDecision<Answer>
}

interface Waiting {
  readonly step: ScopeStep<unknown>
  /** It was guessed wrongly: the rows are read. */
  mustRead: boolean
  /** Its caller was told so: it is not decided again when the others are, since the caller may take it again meanwhile. */
  hasFailed: boolean
  readonly resolve: (answer: unknown) => void
  readonly reject: (error: unknown) => void
}

interface Line {
  readonly waiting: Waiting[]
  isBusy: boolean
  /** Rows that were changed since it became busy and that no other server was found to have changed since: at most as many as are known. */
  readonly changed: Set<string>
  /** How many groups are read for before another one is not: where other servers write, too, what was left is seldom still so. */
  readBefore: number
}

export interface ScopeStepsOptions {
  readonly engine: Engine
  readonly runtime: Runtime
  readonly sure: SureCas
  /** How many steps share one compare-and-set. */
  readonly stepsMax?: number
  /** Told of every row that was changed here. */
  readonly onChanged?: (address: RowAddress) => void
  /** Work behind an answer. */
  readonly behind: (work: Promise<unknown>) => void
  /** Told of every step, and of every time that one is decided again. */
  readonly counted?: (what: 'step' | 'again') => void
}

const STEPS_MAX = 64
const TRIES_MAX = 40
const PUT_TRIES_MAX = 3
const KNOWN_MAX = 5000
const KNOWN_BYTES_MAX = 8 * 1024 * 1024
const PAUSE_MS_MAX = 50
/** After one that another server was faster than. */
const GROUPS_READ = 8

export const rowPlace = ({ space, partition, row }: RowAddress): string => `${space}/${partition}/${row}`

export class ScopeSteps {
  readonly #options: ScopeStepsOptions
  readonly #lines = new Map<string, Line>()
  readonly #known = new KnownRows()
  readonly #absences = new Absences()

  constructor(options: ScopeStepsOptions) {
    this.#options = options
  }

  /** A row as this server has last seen it, if it remembers. */
  known(address: RowAddress): EngineRow | undefined {
    return this.#known.get(address)
  }

  take<Answer>(step: ScopeStep<Answer>): Promise<Answer> {
    const [first] = step.addresses
    if (first === undefined) return Promise.resolve(step.decide({ row: () => undefined }).answer)
    this.#options.counted?.('step')
    const scope = this.#options.engine.scopeOf(first)
    return new Promise<Answer>((resolve, reject) => {
      let line = this.#lines.get(scope)
      if (line === undefined)
        this.#lines.set(scope, (line = { waiting: [], isBusy: false, changed: new Set(), readBefore: 0 }))
      line.waiting.push({
        step,
        mustRead: step.mayGuess === undefined || step.mayGuess === false,
        hasFailed: false,
        resolve: resolve as (answer: unknown) => void,
        reject,
      })
      if (!line.isBusy) void this.#run(scope, line)
    })
  }

  async #run(scope: string, line: Line): Promise<void> {
    line.isBusy = true
    // Those that come in the same turn go together.
    await Promise.resolve()
    while (line.waiting.length > 0) {
      const batch = line.waiting.splice(0, this.#options.stepsMax ?? STEPS_MAX)
      try {
        await this.#carryOut(batch, line)
      } catch (error) {
        line.changed.clear()
        for (const { reject } of batch) reject(error)
      }
    }
    line.isBusy = false
    this.#lines.delete(scope)
  }

  async #carryOut(batch: readonly Waiting[], line: Line): Promise<void> {
    const { engine, sure, behind } = this.#options
    let rows: Map<string, EngineRow | undefined> | undefined
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      if (tries > 2) await this.#pause(tries)
      const isGuessed = rows === undefined && (this.#mayGuess(batch) || this.#areFresh(batch, line))
      rows ??= isGuessed ? this.#guess(batch) : await this.#read(batch)
      const seen = new Overlay(rows)
      const decided: (StepDecision<unknown> | undefined)[] = []
      let taken = 0
      for (const waiting of batch) {
        if (taken > 0 && seen.size >= engine.limits.casRowsMax / 4) break
        if (seen.bytes > engine.limits.casBytesMax / 4) break
        decided.push(this.#decide(waiting, seen))
        taken++
      }
      const changes = seen.changes(() => newVersionId(this.#options.runtime))
      const isCompared = ({ step }: Waiting): boolean =>
        changes.length > 0 && step.addresses.every((address) => seen.isCompared(address))
      if (isGuessed && !batch.slice(0, taken).every(isCompared)) {
        // What is not compared has to be read.
        rows = await this.#read(batch)
        continue
      }
      const before = decided.flatMap((each) => each?.before ?? [])
      let outcome: SureOutcome = { outcome: 'applied' }
      if (changes.length > 0) {
        if (before.length > 0) await this.#put(before)
        outcome = await sure.cas(changes).catch((error: unknown) => {
          this.#forget(changes)
          throw error
        })
      }
      if (isGuessed) this.#learn(batch, changes, outcome)
      if (outcome.outcome === 'refused') {
        line.changed.clear()
        line.readBefore = GROUPS_READ + 1
        if (before.length > 0) behind(engine.write(before.map(({ address }) => ({ address }))))
        for (const [at, { address }] of changes.entries()) {
          rows.set(rowPlace(address), outcome.rows[at])
          this.#known.set(address, outcome.rows[at])
        }
        for (const waiting of batch) {
          waiting.mustRead = true
          this.#options.counted?.('again')
        }
        continue
      }
      this.#applied(changes, seen)
      line.readBefore = Math.max(0, line.readBefore - 1)
      if (line.changed.size > KNOWN_MAX) line.changed.clear()
      for (const { address, next } of changes) if (next !== undefined) line.changed.add(rowPlace(address))
      const after = decided.flatMap((each) => each?.after ?? [])
      if (after.length > 0) behind(engine.write(after))
      for (let at = 0; at < taken; at++) {
        const { resolve } = batch[at]!
        const each = decided[at]
        if (each !== undefined) resolve(each.answer)
      }
      // The others go first in the next one.
      if (taken < batch.length) line.waiting.unshift(...batch.slice(taken))
      return
    }
    throw new WriteFailed(`Other servers changed the item ${TRIES_MAX} times in a row.`)
  }

  /** A step that throws has done nothing, and is nobody else's trouble. */
  #decide(waiting: Waiting, seen: Overlay): StepDecision<unknown> | undefined {
    if (waiting.hasFailed) return { answer: undefined }
    try {
      const decided = waiting.step.decide(seen)
      for (const next of decided.next ?? []) seen.set(next)
      return decided
    } catch (error) {
      waiting.hasFailed = true
      waiting.reject(error)
      return { answer: undefined }
    }
  }

  #mayGuess(batch: readonly Waiting[]): boolean {
    const isLikely = (address: RowAddress): boolean =>
      this.#known.get(address) !== undefined || this.#absences.isLikely(address.space)
    return batch.every(
      ({ mustRead, step }) => !mustRead && (step.mayGuess === true || step.addresses.every(isLikely)),
    )
  }

  /** This server has changed them a moment ago, and nobody else since, as far as it knows. */
  #areFresh(batch: readonly Waiting[], { changed, readBefore }: Line): boolean {
    if (readBefore > 0) return false
    const isFresh = (address: RowAddress): boolean =>
      changed.has(rowPlace(address)) && this.#known.get(address) !== undefined
    return batch.every(({ step }) => step.addresses.every(isFresh))
  }

  /** What became of rows that were taken for absent. */
  #learn(batch: readonly Waiting[], changes: readonly RowChange[], outcome: SureOutcome): void {
    if (!isOfLikely(batch)) return
    for (const [at, { address, seen }] of changes.entries())
      if (seen === 'absent')
        this.#absences.met(address.space, outcome.outcome === 'applied' || outcome.rows[at] === undefined)
  }

  #guess(batch: readonly Waiting[]): Map<string, EngineRow | undefined> {
    return new Map(addressesOf(batch).map((address) => [rowPlace(address), this.#known.get(address)]))
  }

  async #read(batch: readonly Waiting[]): Promise<Map<string, EngineRow | undefined>> {
    const addresses = addressesOf(batch)
    const rows = await this.#options.engine.read(addresses, 'consistent')
    // What might have been guessed.
    if (isOfLikely(batch) && batch.every(({ mustRead }) => !mustRead))
      for (const [at, address] of addresses.entries())
        if (this.#known.get(address) === undefined) this.#absences.met(address.space, rows[at] === undefined)
    return new Map(addresses.map((address, at) => [rowPlace(address), rows[at]]))
  }

  async #put(before: readonly PlainWrite[]): Promise<void> {
    const { engine, behind } = this.#options
    // To put a row again is to have put it once.
    let written = await this.#written(before)
    for (let tries = 1; written.outcome !== 'applied' && tries < PUT_TRIES_MAX; tries++) {
      await this.#pause(tries)
      written = await this.#written(before)
    }
    if (written.outcome === 'applied') return
    behind(engine.write(before.map(({ address }) => ({ address }))))
    throw new WriteFailed(
      `The engine did not answer when an index entry was written${because(written.cause)}`,
      { cause: written.cause },
    )
  }

  async #written(rows: readonly PlainWrite[]): Promise<PlainOutcome> {
    try {
      return await this.#options.engine.write(rows)
    } catch (cause) {
      if (cause instanceof EngineUnavailable) return { outcome: 'unknown', cause }
      throw cause
    }
  }

  #applied(changes: readonly RowChange[], seen: Overlay): void {
    for (const { address, next } of changes) {
      if (next === undefined) continue
      this.#known.set(address, next === 'removed' ? undefined : { ...seen.row(address)!, ...heldOf(next) })
      this.#options.onChanged?.(address)
    }
  }

  #forget(changes: readonly RowChange[]): void {
    for (const { address } of changes) this.#known.set(address, undefined)
  }

  #pause(tries: number): Promise<void> {
    const { runtime } = this.#options
    const ms = 1 + ((runtime.randomBytes(1)[0] ?? 0) / 255) * Math.min(PAUSE_MS_MAX, 2 ** tries)
    return new Promise((resolve) => void runtime.clock.timer(ms, resolve))
  }
}

const isOfLikely = (batch: readonly Waiting[]): boolean =>
  batch.every(({ step }) => step.mayGuess === 'likely')

const heldOf = ({ version, past }: RowPut): Pick<EngineRow, 'version' | 'past'> => ({ version, past })

function addressesOf(batch: readonly Waiting[]): readonly RowAddress[] {
  const unique = new Map<string, RowAddress>()
  for (const { step } of batch) for (const address of step.addresses) unique.set(rowPlace(address), address)
  return [...unique.values()]
}

/** What was read, and what the steps so far make of it. */
class Overlay implements RowsSeen {
  readonly #rows: ReadonlyMap<string, EngineRow | undefined>
  readonly #changed = new Map<string, { next: RowNext; row: EngineRow | undefined }>()
  bytes = 0

  constructor(rows: ReadonlyMap<string, EngineRow | undefined>) {
    this.#rows = rows
  }

  get size(): number {
    return this.#changed.size
  }

  row(address: RowAddress): EngineRow | undefined {
    const place = rowPlace(address)
    const changed = this.#changed.get(place)
    return changed === undefined ? this.#rows.get(place) : changed.row
  }

  /** Whether a compare-and-set of these changes is refused if the row is not as it was taken to be. */
  isCompared(address: RowAddress): boolean {
    const changed = this.#changed.get(rowPlace(address))
    return changed !== undefined && changed.next.follows !== true
  }

  set(next: RowNext): void {
    const place = rowPlace(next.address)
    const before = this.#changed.get(place)
    if (next.cells === undefined) {
      if (before === undefined) this.#changed.set(place, { next, row: this.#rows.get(place) })
      return
    }
    if (next.cells === 'removed') {
      this.#changed.set(place, { next, row: undefined })
      return
    }
    const earlier = before?.next.cells
    const cells = typeof earlier === 'object' ? { ...earlier, ...next.cells } : next.cells
    const row = before === undefined ? this.#rows.get(place) : before.row
    this.#changed.set(place, { next: { ...next, cells }, row: withCells(row, next.address, next.cells) })
    for (const cell of Object.values(next.cells)) this.bytes += cell?.length ?? 0
  }

  changes(version: () => RowPut['version']): readonly RowChange[] {
    const changes = Array.from(this.#changed, ([place, { next }]): RowChange => {
      const { address, cells, follows } = next
      const row = this.#rows.get(place)
      const seen = follows === true ? 'any' : (row?.version ?? 'absent')
      if (cells === undefined) return { address, seen }
      if (cells === 'removed') return { address, seen, next: 'removed' }
      return { address, seen, next: nextPut(follows === true ? undefined : row, version(), cells) }
    })
    // Of several rows that are only compared, a read does not tell that they were so at one moment.
    return changes.length > 1 || changes.some(({ next }) => next !== undefined) ? changes : []
  }
}

function withCells(row: EngineRow | undefined, address: RowAddress, cells: RowPut['cells']): EngineRow {
  const all: Record<string, Uint8Array> = { ...row?.cells }
  for (const [name, cell] of Object.entries(cells)) {
    if (cell === null) delete all[name]
    else if (cell !== undefined) all[name] = cell
  }
  return { address, version: row?.version ?? ('' as EngineRow['version']), past: row?.past ?? [], cells: all }
}

/** The rows that this server changed last. */
class KnownRows {
  readonly #rows = new Map<string, EngineRow>()
  #bytes = 0

  get(address: RowAddress): EngineRow | undefined {
    return this.#rows.get(rowPlace(address))
  }

  set(address: RowAddress, row: EngineRow | undefined): void {
    const place = rowPlace(address)
    this.#drop(place)
    if (row === undefined) return
    this.#rows.set(place, row)
    this.#bytes += bytesOf(row)
    for (const [oldest] of this.#rows) {
      if (this.#rows.size <= KNOWN_MAX && this.#bytes <= KNOWN_BYTES_MAX) return
      this.#drop(oldest)
    }
  }

  #drop(place: string): void {
    const row = this.#rows.get(place)
    if (row === undefined) return
    this.#bytes -= bytesOf(row)
    this.#rows.delete(place)
  }
}

const bytesOf = ({ cells }: EngineRow): number =>
  Object.values(cells).reduce((sum: number, cell) => sum + (cell?.length ?? 0), 200)
