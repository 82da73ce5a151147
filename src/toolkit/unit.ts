// One attempt of a unit of work: what it has read, what it will write, and reads that see its own writes.
//
//   put, update, delete, check --> steps of an item (fold.ts makes one action of them at the end)
//   get, getAll ----------------> the item as read, and then the unit's own steps on it
//   query, scan ----------------> pages of the endpoint, with the unit's own rows at their places (own-rows.ts)
//   work() ---------------------> all of it, for the commit
//
// It keeps nothing on the endpoint. May import: model, expression.
import { itemBytes } from '../model/item-size.js'
import type { Item } from '../model/value.js'
import { ConditionFailed, UnitAborted } from './errors.js'
import { conditionExpression, expression, updateExpression } from './expressions.js'
import { changesItem, dependsOnBase, fold, imageAfter, type Step } from './fold.js'
import { keyNames, pick } from './layout.js'
import { unitLimits } from './limits.js'
import { OwnRows, rangeView } from './own-rows.js'
import { isRepeatable, isRetriable } from './protocol.js'
import type { Action, Attempt, AttemptStart, ItemAddress, RangeRequest, ReadItem } from './protocol.js'
import type { RangeEntry, ReadEntry, TableLayout, UnitWork } from './protocol.js'
import { RangeRead, UnitRows, type Batches } from './rows.js'
import { addressOf, conditionOf, described, idOf, positionsOf, putKey, stepBytes, stepOf } from './steps.js'
import type { Condition, QueryInput, Rows, ScanInput, UnitOfWork, Update } from './transactor.js'
import { marshallItem, unmarshallItem } from './values.js'

type Plain = Record<string, unknown>

const NONE: readonly never[] = []

export interface UnitOptions {
  readonly start: AttemptStart
  readonly port: Attempt
  readonly ordersLikeSeriatim: boolean
  readonly unitBytesMax?: number | undefined
}

/** All that the unit knows of one item. */
interface Entry {
  readonly address: ItemAddress
  readonly id: string
  readonly steps: Step[]
  /** As the endpoint answered, before the unit's own steps. */
  read: ReadItem | undefined
  /** What `read` takes of the unit's bytes. */
  readBytes: number
}

/** A write whose item is not known yet, or that comes after such a one. */
interface Unplaced {
  readonly table: string
  readonly key: Item | undefined
  readonly step: Step
}

export class Unit implements UnitOfWork {
  readonly id: string
  readonly attempt: number
  readonly #port: Attempt
  readonly #start: AttemptStart
  readonly #ordersLikeSeriatim: boolean
  readonly #unitBytesMax: number
  readonly #entries = new Map<string, Entry>()
  readonly #ranges: RangeRead[] = []
  /** Of a unit that goes on with what another one has read. */
  #adoptedRanges: readonly RangeEntry[] = []
  readonly #locks = new Map<string, ItemAddress>()
  readonly #callbacks: (() => void | Promise<void>)[] = []
  readonly #unplaced: Unplaced[] = []
  #waiting: { entries: Entry[]; answered: Promise<void> } | undefined
  #bytes = 0
  #ended: string | undefined
  #aborted: UnitAborted | undefined
  #hindered: unknown

  constructor({ start, port, ordersLikeSeriatim, unitBytesMax }: UnitOptions) {
    this.id = start.id
    this.attempt = start.attempt
    this.#start = start
    this.#port = port
    this.#ordersLikeSeriatim = ordersLikeSeriatim
    this.#unitBytesMax = unitBytesMax ?? unitLimits.unitBytesMax
  }

  async get(
    table: string,
    key: object,
    options: { readonly lock?: boolean } = {},
  ): Promise<Plain | undefined> {
    this.assertOpen()
    const address = addressOf(table, key)
    if (this.#unplaced.length > 0) await this.#place()
    const entry = this.#entry(address)
    if (options.lock === true) await this.#lock(entry)
    else await this.#ensureRead([entry])
    return this.#plain(entry)
  }

  async getAll(table: string, keys: readonly object[]): Promise<(Plain | undefined)[]> {
    this.assertOpen()
    const addresses = keys.map((key) => addressOf(table, key))
    if (this.#unplaced.length > 0) await this.#place()
    const entries = addresses.map((address) => this.#entry(address))
    await this.#ensureRead(entries)
    return entries.map((entry) => this.#plain(entry))
  }

  query(table: string, input: QueryInput): Rows<Plain> {
    this.assertOpen()
    const { text, names, values } = expression(input.key, input.names, input.values)
    const request: RangeRequest = {
      table,
      ...(input.index !== undefined && { index: input.index }),
      keyCondition: text,
      ...(input.filter !== undefined && { filter: input.filter }),
      ...(names !== undefined && { names }),
      ...(values !== undefined && { values }),
      reverse: input.reverse ?? false,
    }
    return this.#rows(request, input.limit)
  }

  scan(table: string, input: ScanInput = {}): Rows<Plain> {
    this.assertOpen()
    const { names, values } = expression(input.filter ?? '', input.names, input.values)
    const request: RangeRequest = {
      table,
      ...(input.index !== undefined && { index: input.index }),
      ...(input.filter !== undefined && { filter: input.filter }),
      ...(names !== undefined && { names }),
      ...(values !== undefined && { values }),
      reverse: false,
    }
    return this.#rows(request, input.limit)
  }

  put(table: string, item: object, condition?: Condition): void {
    this.assertOpen()
    this.#write(table, undefined, { kind: 'put', item: marshallItem(item), ...conditionOf(condition) })
  }

  update(table: string, key: object, update: Update<Plain>, condition?: Condition): void {
    this.assertOpen()
    const step: Step = { kind: 'update', update: updateExpression(update), ...conditionOf(condition) }
    this.#write(table, marshallItem(key), step)
  }

  delete(table: string, key: object, condition?: Condition): void {
    this.assertOpen()
    this.#write(table, marshallItem(key), { kind: 'delete', ...conditionOf(condition) })
  }

  check(table: string, key: object, condition: Condition): void {
    this.assertOpen()
    this.#write(table, marshallItem(key), { kind: 'check', condition: conditionExpression(condition) })
  }

  abort(reason?: unknown): never {
    this.assertOpen()
    this.#aborted = new UnitAborted(reason)
    this.#ended = 'it was aborted: begin another one'
    throw this.#aborted
  }

  onCommit(callback: () => void | Promise<void>): void {
    this.assertOpen()
    this.#callbacks.push(callback)
  }

  /** What `abort` threw, even if the lambda has caught it. */
  get aborted(): UnitAborted | undefined {
    return this.#aborted
  }

  /** A read was refused in a way that another attempt may not meet. */
  get hindered(): unknown {
    return this.#hindered
  }

  get callbacks(): readonly (() => void | Promise<void>)[] {
    return this.#callbacks
  }

  /** From now on every call fails at once, saying why. */
  end(why: string): void {
    this.#ended ??= why
  }

  /** Whether there is anything to write or to check. */
  get isReadOnly(): boolean {
    if (this.#unplaced.length > 0) return false
    for (const { steps } of this.#entries.values()) if (steps.length > 0) return false
    return true
  }

  /** Everything, with one action for each item. Reads the items that folding needs. */
  async work(): Promise<UnitWork> {
    await this.#place()
    const written = [...this.#entries.values()].filter(({ steps }) => steps.length > 0)
    if (written.length > unitLimits.actionsMax)
      throw new RangeError(
        `This unit of work writes ${written.length} items, and ${unitLimits.actionsMax} are the most: divide it.`,
      )
    const folded = written.map((entry) => this.#fold(entry))
    const lacking = written.filter((_, at) => folded[at] === undefined)
    if (lacking.length > 0) await this.#fetch(lacking)
    const actions = folded.map((action, at) => action ?? (this.#fold(written[at]!) as Action))
    return { ...this.observed(), actions }
  }

  /** What was read and locked so far; it can be told at any time. */
  observed(): UnitWork {
    const reads: ReadEntry[] = []
    for (const { address, read } of this.#entries.values()) {
      if (read === undefined) continue
      const { table, key } = address
      const { item, version } = read
      if (item === undefined) reads.push(version === undefined ? { table, key } : { table, key, version })
      else reads.push(version === undefined ? { table, key, item } : { table, key, item, version })
    }
    const ranges = [...this.#adoptedRanges]
    for (const range of this.#ranges) {
      const layout = this.#port.layout(range.request.table)
      const entry =
        layout instanceof Promise
          ? range.request
          : range.entry((row) => pick(row, positionsOf(layout, range.request)))
      if (entry !== undefined) ranges.push(entry)
    }
    return { reads, ranges, actions: [], locks: this.locks }
  }

  get locks(): readonly ItemAddress[] {
    return this.#locks.size === 0 ? NONE : [...this.#locks.values()]
  }

  /** Goes on with what another unit has read and is about to write. */
  adopt(work: UnitWork): void {
    for (const { table, key, ...read } of work.reads) {
      const entry = this.#entry({ table, key })
      entry.read = read
    }
    for (const action of work.actions) this.#entry(action).steps.push(stepOf(action))
    this.#adoptedRanges = work.ranges
  }

  #fold(entry: Entry): Action | undefined {
    const folded = fold(entry.address, entry.steps, entry.read)
    switch (folded.type) {
      case 'action':
        return folded.action
      case 'needs-base':
        return undefined
      case 'condition-failed': {
        const { table, key } = entry.address
        const plain = unmarshallItem(key)
        throw new ConditionFailed(
          `The condition "${folded.condition}" does not hold for ${described(entry.address)} after what the unit itself has written.`,
          { table, key: plain },
        )
      }
    }
  }

  #entry(address: ItemAddress): Entry {
    const id = idOf(address)
    const known = this.#entries.get(id)
    if (known !== undefined) return known
    const entry = {
      address: { table: address.table, key: address.key },
      id,
      steps: [],
      read: undefined,
      readBytes: 0,
    }
    this.#entries.set(id, entry)
    this.#hold(id.length)
    return entry
  }

  #write(table: string, key: Item | undefined, step: Step): void {
    this.#hold(stepBytes(step))
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
  #keyOf(table: string, step: Step): Item | undefined {
    const layout = this.#port.layout(table)
    if (!(layout instanceof Promise)) return step.kind === 'put' ? putKey(layout, step.item) : undefined
    // Asked for now, awaited by the next read or by the commit, which then tell what is wrong with it.
    layout.catch(() => undefined)
    return undefined
  }

  #add(address: ItemAddress, step: Step): void {
    const entry = this.#entry(address)
    entry.steps.push(step)
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

  /** The item of a repeatable level is read once; of the others, again each time. */
  async #ensureRead(entries: readonly Entry[]): Promise<void> {
    const repeatable = isRepeatable(this.#start.isolation)
    const lacking = entries.filter(
      ({ steps, read }) =>
        !(changesItem(steps) && !dependsOnBase(steps)) && (!repeatable || read === undefined),
    )
    if (lacking.length > 0) await this.#fetch(lacking)
  }

  /** Reads of one turn go in one request. */
  #fetch(entries: readonly Entry[]): Promise<void> {
    if (this.#waiting !== undefined) {
      this.#waiting.entries.push(...entries)
      return this.#waiting.answered
    }
    const waiting = { entries: [...entries], answered: Promise.resolve() }
    waiting.answered = Promise.resolve().then(async () => {
      this.#waiting = undefined
      const unique = [...new Set(waiting.entries)]
      await this.#receive(
        unique,
        this.#port.get(
          unique.map(({ address }) => address),
          { lock: false },
        ),
      )
    })
    this.#waiting = waiting
    return waiting.answered
  }

  async #lock(entry: Entry): Promise<void> {
    this.#locks.set(entry.id, entry.address)
    await this.#receive([entry], this.#port.get([entry.address], { lock: true }))
  }

  async #receive(entries: readonly Entry[], answer: Promise<readonly ReadItem[]>): Promise<void> {
    const read = await this.#answered(answer)
    for (const [at, entry] of entries.entries()) {
      const one = read[at] ?? {}
      const bytes = one.item === undefined ? 0 : itemBytes(one.item)
      this.#hold(bytes - entry.readBytes)
      entry.read = one
      entry.readBytes = bytes
    }
  }

  /** A lambda may hide why it failed; the attempt should know. */
  async #answered<Answer>(answer: Promise<Answer>): Promise<Answer> {
    try {
      return await answer
    } catch (error) {
      if (isRetriable(error)) this.#hindered ??= error
      throw error
    }
  }

  #imageOf({ address, steps, read }: Entry): Item | undefined {
    if (steps.length === 0) return read?.item
    const image = imageAfter(address, steps, read)
    return image === 'needs-base' ? undefined : image.item
  }

  #plain(entry: Entry): Plain | undefined {
    const image = this.#imageOf(entry)
    return image === undefined ? undefined : unmarshallItem(image)
  }

  #rows(request: RangeRequest, limit: number | undefined): Rows<Plain> {
    if (limit !== undefined && !(Number.isSafeInteger(limit) && limit >= 1))
      throw new RangeError(`limit is a whole number from 1 on, not ${limit}`)
    return new UnitRows({
      open: (use) => {
        this.assertOpen()
        const range = new RangeRead(request)
        this.#ranges.push(range)
        return { range, batches: this.#batches(request, limit, use) }
      },
    })
  }

  async *#batches(request: RangeRequest, limit: number | undefined, use: 'array' | 'iteration'): Batches {
    await this.#place()
    const layout = await this.#port.layout(request.table)
    const own = await this.#ownRows(layout, request)
    let left = limit ?? Number.POSITIVE_INFINITY
    let start: Item | undefined
    for (;;) {
      const wanted =
        limit === undefined || request.filter !== undefined ? undefined : left + (own?.hidden.size ?? 0)
      const page = await this.#answered(this.#port.page(request, start, wanted))
      this.assertOpen()
      if (use === 'array') for (const item of page.items) this.#hold(itemBytes(item))
      start = page.next
      const rows =
        own === undefined ? page.items : own.merged(page.items, start === undefined ? 'last' : 'more')
      yield rows.length > left ? rows.slice(0, left) : rows
      left -= rows.length
      if (left <= 0) return 'limit'
      if (start === undefined) return 'all'
      this.assertOpen()
    }
  }

  /** The unit's own rows of a range; undefined where it has written nothing into the table. */
  async #ownRows(layout: TableLayout, request: RangeRequest): Promise<OwnRows | undefined> {
    const changed = [...this.#entries.values()].filter(
      ({ address, steps }) => address.table === request.table && changesItem(steps),
    )
    if (changed.length === 0) return undefined
    const view = rangeView(layout, request, { ordersLikeSeriatim: this.#ordersLikeSeriatim })
    const concerned = changed.filter(({ address }) => view.mayHold(address.key))
    await this.#ensureRead(concerned)
    const rows = concerned.flatMap((entry) => {
      const image = this.#imageOf(entry)
      const row = image === undefined ? undefined : view.rowOf(image)
      return row === undefined ? [] : [row]
    })
    const hidden = new Set(concerned.map(({ id }) => id))
    const names = keyNames(layout.key)
    const idOfRow = (row: Item): string => idOf({ table: request.table, key: pick(row, names) })
    return new OwnRows({ hidden, rows, idOfRow, compare: view.compare })
  }

  #hold(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes <= this.#unitBytesMax) return
    throw new RangeError(
      `This unit of work holds more than ${this.#unitBytesMax} bytes of items: read fewer of them, go through rows with for await, or divide the work.`,
    )
  }

  /** Throws a sentence that helps, once the unit has ended. */
  assertOpen(): void {
    if (this.#ended !== undefined) throw new Error(`This unit of work has ended: ${this.#ended}.`)
    this.#start.deadline.throwIfOver()
  }
}
