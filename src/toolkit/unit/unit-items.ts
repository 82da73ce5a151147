// The items that one attempt of a unit knows: what was read of each, and what the unit will do with it.
//
//   entry = address, the item as read, the unit's own steps on it (fold.ts makes one action of them at the end)
//   unplaced = puts whose key is not known before the table's layout is, and what was written after them
//
// Reads of one turn go in one request. What is held in memory is counted, and bounded.
import { readsAtOneSnapshot } from '../../model/isolation.js'
import { itemBytes, type Item } from '../../model/value.js'
import { ConditionFailed } from '../endpoint/errors.js'
import {
  changesItem,
  dependsOnBase,
  fold,
  imageAfter,
  stepBytes,
  unitCallOf,
  type UnitCall,
} from './fold-calls.js'
import { unitLimits } from '../endpoint/limits.js'
import { isRetriableAttempt, surfaced } from '../endpoint/refusals.js'
import type { UnitAction, AttemptPort, ItemAddress, ReadEntry, ReadItem, CommitWork } from './protocol.js'
import { described, idOf, putKey } from './layout.js'
import type { IsolationLevel } from './transactor.js'
import { unmarshallItem } from '../values/values.js'

/** All that the unit knows of one item. */
export interface Entry {
  readonly address: ItemAddress
  readonly id: string
  readonly steps: UnitCall[]
  /** As the endpoint answered, before the unit's own steps. */
  read: ReadItem | undefined
  /** What `read` takes of the unit's bytes. */
  readBytes: number
}

/** A write whose item is not known yet, or that comes after such a one. */
interface Unplaced {
  readonly table: string
  readonly key: Item | undefined
  readonly step: UnitCall
}

const NONE: readonly never[] = []

export class UnitItems {
  readonly #port: AttemptPort
  readonly #isRepeatable: boolean
  readonly #bytesMax: number
  readonly #entries = new Map<string, Entry>()
  readonly #locks = new Map<string, ItemAddress>()
  readonly #unplaced: Unplaced[] = []
  #waiting: { entries: Entry[]; answered: Promise<void> } | undefined
  #written = 0
  #bytes = 0
  #hindered: unknown

  constructor(port: AttemptPort, isolation: IsolationLevel, bytesMax: number = unitLimits.unitBytesMax) {
    this.#port = port
    this.#isRepeatable = readsAtOneSnapshot(isolation)
    this.#bytesMax = bytesMax
  }

  /** A read was refused in a way that another attempt may not meet. */
  get hindered(): unknown {
    return this.#hindered
  }

  /** Whether there is anything to write or to check. */
  get isReadOnly(): boolean {
    return this.#written === 0 && this.#unplaced.length === 0
  }

  get locks(): readonly ItemAddress[] {
    return this.#locks.size === 0 ? NONE : [...this.#locks.values()]
  }

  entry(address: ItemAddress): Entry {
    const id = idOf(address)
    const known = this.#entries.get(id)
    if (known !== undefined) return known
    const entry: Entry = { address, id, steps: [], read: undefined, readBytes: 0 }
    this.#entries.set(id, entry)
    this.hold(id.length)
    return entry
  }

  write(table: string, key: Item | undefined, step: UnitCall): void {
    this.hold(stepBytes(step))
    if (this.#unplaced.length === 0) {
      const known = key ?? this.#keyOf(table, step)
      if (known !== undefined) {
        this.#add({ table, key: known }, step)
        return
      }
    }
    this.#unplaced.push({ table, key, step })
  }

  /** The key of a put, if the table's layout is known already. */
  #keyOf(table: string, step: UnitCall): Item | undefined {
    const layout = this.#port.layout(table)
    if (!(layout instanceof Promise)) return step.kind === 'put' ? putKey(layout, step.item) : undefined
    // Asked for now, awaited by the next read or by the commit, which then tell what is wrong with it.
    layout.catch(() => undefined)
    return undefined
  }

  #add(address: ItemAddress, step: UnitCall): void {
    const { steps } = this.entry(address)
    if (steps.length === 0) this.#written++
    steps.push(step)
  }

  /** Undefined if every write has its item. */
  placed(): Promise<void> | undefined {
    return this.#unplaced.length === 0 ? undefined : this.#place()
  }

  async #place(): Promise<void> {
    for (;;) {
      const next = this.#unplaced[0]
      if (next === undefined) return
      const { table, step } = next
      const layout = next.key === undefined ? await this.#port.layout(table) : undefined
      // Another read may have placed it meanwhile.
      if (this.#unplaced[0] !== next) continue
      this.#unplaced.shift()
      const key = next.key ?? putKey(layout!, step.kind === 'put' ? step.item : {})
      this.#add({ table, key }, step)
    }
  }

  /** The item of a repeatable level is read once; of the others, again each time. Undefined if nothing is to be read. */
  ensureRead(entries: readonly Entry[]): Promise<void> | undefined {
    const lacking = entries.filter(
      ({ steps, read }) =>
        (steps.length === 0 || !changesItem(steps) || dependsOnBase(steps)) &&
        (!this.#isRepeatable || read === undefined),
    )
    return lacking.length > 0 ? this.#fetch(lacking) : undefined
  }

  /** Whatever the unit does to it. */
  fetch(entry: Entry): Promise<void> {
    return this.#fetch([entry])
  }

  /** Reads of one turn go in one request. */
  #fetch(entries: readonly Entry[]): Promise<void> {
    if (this.#waiting !== undefined) {
      this.#waiting.entries.push(...entries)
      return this.#waiting.answered
    }
    const waiting = { entries: [...entries], answered: NOW.then(() => this.#fetchWaiting()) }
    this.#waiting = waiting
    return waiting.answered
  }

  #fetchWaiting(): Promise<void> {
    const { entries } = this.#waiting!
    this.#waiting = undefined
    const unique = entries.length === 1 ? entries : [...new Set(entries)]
    const addresses = unique.map(({ address }) => address)
    return this.#receive(unique, this.#port.get(addresses, { lock: false }))
  }

  async lock(entry: Entry): Promise<void> {
    this.#locks.set(entry.id, entry.address)
    await this.#receive([entry], this.#port.get([entry.address], { lock: true }))
  }

  async #receive(entries: readonly Entry[], answer: Promise<readonly ReadItem[]>): Promise<void> {
    const read = await this.answered(answer)
    for (let at = 0; at < entries.length; at++) {
      const entry = entries[at]!
      const one = read[at] ?? {}
      const bytes = one.item === undefined ? 0 : (one.bytes ?? itemBytes(one.item))
      this.hold(bytes - entry.readBytes)
      entry.read = one
      entry.readBytes = bytes
    }
  }

  /** A lambda may hide why it failed; the attempt should know. */
  async answered<Answer>(answer: Promise<Answer>): Promise<Answer> {
    try {
      return await answer
    } catch (error) {
      if (isRetriableAttempt(error)) this.#hindered ??= error
      throw surfaced(error)
    }
  }

  /** As the unit sees it: after its own steps. */
  imageOf({ address, steps, read }: Entry): Item | undefined {
    if (steps.length === 0) return read?.item
    const image = imageAfter(address, steps, read)
    return image === 'needs-base' ? undefined : image.item
  }

  /** Items of a table that the unit changes. */
  changed(table: string): readonly Entry[] {
    if (this.#written === 0) return NONE
    return [...this.#entries.values()].filter(
      ({ address, steps }) => address.table === table && changesItem(steps),
    )
  }

  /** One action for each item that is written or checked, and all that was read. Reads the items that folding needs. */
  async work(): Promise<Pick<CommitWork, 'reads' | 'actions'>> {
    if (this.#unplaced.length > 0) await this.#place()
    if (this.#written > unitLimits.actionsMax)
      throw new RangeError(
        `This unit of work writes ${this.#written} items, and ${unitLimits.actionsMax} are the most: divide it.`,
      )
    const lacking: Entry[] = []
    for (const entry of this.#entries.values())
      if (entry.steps.length > 1 && entry.read === undefined && this.#fold(entry) === undefined)
        lacking.push(entry)
    if (lacking.length > 0) await this.#fetch(lacking)
    const reads: ReadEntry[] = []
    const actions: UnitAction[] = []
    for (const entry of this.#entries.values()) {
      const isWritten = entry.steps.length > 0
      const read = readOf(entry, isWritten ? actions.length : undefined)
      if (read !== undefined) reads.push(read)
      if (!isWritten) continue
      const action = this.#fold(entry) as { -readonly [Member in keyof UnitAction]: UnitAction[Member] }
      if (read?.place !== undefined) action.place = read.place
      const statements = entry.steps.flatMap((step) => step.statements ?? NONE)
      if (statements.length > 0) action.statements = statements
      actions.push(action)
    }
    return { reads, actions }
  }

  /** What was read so far. */
  reads(): ReadEntry[] {
    return [...this.#entries.values()].flatMap((entry) => readOf(entry, undefined) ?? [])
  }

  /** Goes on with what another unit has read and is about to write. */
  adopt(work: CommitWork): void {
    for (const { table, key, ...read } of work.reads) this.entry({ table, key }).read = read
    for (const action of work.actions) {
      const { table, key } = action
      this.#add({ table, key }, unitCallOf(action))
    }
  }

  #fold(entry: Entry): UnitAction | undefined {
    const folded = fold(entry.address, entry.steps, entry.read)
    switch (folded.type) {
      case 'action':
        return folded.action
      case 'needs-base':
        return undefined
      case 'condition-failed': {
        const { table, key } = entry.address
        throw new ConditionFailed(
          `The condition "${folded.condition}" does not hold for ${described(entry.address)} after what the unit itself has written.`,
          { table, key: unmarshallItem(key) },
        )
      }
    }
  }

  hold(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes <= this.#bytesMax) return
    throw new RangeError(
      `This unit of work holds more than ${this.#bytesMax} bytes of items: read fewer of them, go through rows with for await, or divide the work.`,
    )
  }
}

const NOW = Promise.resolve()

/** `write`: the position of the action on the same item. */
function readOf({ address: { table, key }, read }: Entry, write: number | undefined): ReadEntry | undefined {
  if (read === undefined) return undefined
  const entry: { -readonly [Member in keyof ReadEntry]: ReadEntry[Member] } = { table, key }
  if (read.item !== undefined) entry.item = read.item
  if (read.version !== undefined) entry.version = read.version
  if (read.place !== undefined) entry.place = read.place
  // Only an endpoint that has told where the item is has a use for it.
  if (write !== undefined && read.place !== undefined) entry.write = write
  return entry
}
