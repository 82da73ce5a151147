// One attempt of a unit of work: what it has read, what it will write, and reads that see its own writes.
//
//   put, update, delete, check --> steps of an item (unit-items.ts)
//   get, getAll ----------------> the item as read, and then the unit's own steps on it
//   query, scan ----------------> pages of the endpoint, with the unit's own rows at their places (own-rows.ts)
//   execute --------------------> the calls that a statement stands for (unit-statements.ts)
//   work() ---------------------> all of it, for the commit
//
// It keeps nothing on the endpoint. May import: model, expression, partiql.
import { pickAttributes, itemBytes, type Item } from '../../model/value.js'
import { UnitAborted } from '../endpoint/errors.js'
import type { StatementScans } from '../../partiql/partiql.js'
import {
  conditionExpression,
  conditionOf,
  expression,
  updateExpression,
  withReservedNames,
} from './expressions.js'
import type { UnitCall } from './fold-calls.js'
import { keyNames } from '../../model/table.js'
import { OwnRows, rangeView } from './own-rows.js'
import type { AttemptPort, AttemptStart, ItemAddress, UnitRange } from './protocol.js'
import type { UnitRangeEntry, TableLayout, CommitWork } from './protocol.js'
import { PendingReads, RangeRead, UnitRows, type Batches } from './rows.js'
import { addressOf, idOf, positionsOf } from './layout.js'
import type { Condition, QueryInput, Rows, ScanInput, UnitOfWork, Update } from './transactor.js'
import { type Entry, UnitItems } from './unit-items.js'
import { UnitHistory } from './unit-history.js'
import { executeInUnit, type StatementUnit } from './unit-statements.js'
import type { LedgerRevision } from '../values/revision.js'
import { marshallItem, unmarshallItem } from '../values/values.js'

type Plain = Record<string, unknown>

const NONE: readonly never[] = []

export interface UnitOptions {
  readonly start: AttemptStart
  readonly port: AttemptPort
  readonly ordersLikeSeriatim: boolean
  readonly unitBytesMax?: number | undefined
  readonly statementScans?: StatementScans | undefined
}

export class UnitAttempt implements UnitOfWork {
  readonly id: string
  readonly attempt: number
  readonly #port: AttemptPort
  readonly #start: AttemptStart
  readonly #ordersLikeSeriatim: boolean
  readonly #statementScans: StatementScans | undefined
  readonly #items: UnitItems
  readonly #reads = new PendingReads()
  #ranges: RangeRead[] | undefined
  /** Of a unit that goes on with what another one has read. */
  #adoptedRanges: readonly UnitRangeEntry[] = NONE
  #callbacks: (() => void | Promise<void>)[] | undefined
  #ended: string | undefined
  #aborted: UnitAborted | undefined

  constructor({ start, port, ordersLikeSeriatim, unitBytesMax, statementScans }: UnitOptions) {
    this.#statementScans = statementScans
    this.id = start.id
    this.attempt = start.attempt
    this.#start = start
    this.#port = port
    this.#ordersLikeSeriatim = ordersLikeSeriatim
    this.#items = new UnitItems(port, start.isolation, unitBytesMax)
  }

  async get(
    table: string,
    key: object,
    options: { readonly lock?: boolean } = {},
  ): Promise<Plain | undefined> {
    this.assertOpen()
    const address = addressOf(table, key)
    const items = this.#items
    const pending = this.#reads.begin(address)
    try {
      const placed = items.placed()
      if (placed !== undefined) await placed
      const entry = items.entry(address)
      const read = options.lock === true ? items.lock(entry) : items.ensureRead([entry])
      if (read !== undefined) await read
      return this.#plain(entry)
    } catch (error) {
      return this.#reads.failed(error)
    } finally {
      this.#reads.end(pending)
    }
  }

  async getAll(table: string, keys: readonly object[]): Promise<(Plain | undefined)[]> {
    this.assertOpen()
    const addresses = keys.map((key) => addressOf(table, key))
    const items = this.#items
    const pending = this.#reads.begin({ table })
    try {
      const placed = items.placed()
      if (placed !== undefined) await placed
      const entries = addresses.map((address) => items.entry(address))
      const read = items.ensureRead(entries)
      if (read !== undefined) await read
      return entries.map((entry) => this.#plain(entry))
    } catch (error) {
      return this.#reads.failed(error)
    } finally {
      this.#reads.end(pending)
    }
  }

  query(table: string, input: QueryInput): Rows<Plain> {
    this.assertOpen()
    const { text, names: keyNames, values } = expression(input.key, input.names, input.values)
    const { filter, names } = filterOf(input, keyNames)
    const request: UnitRange = {
      table,
      ...(input.index !== undefined && { index: input.index }),
      keyCondition: text,
      ...(filter !== undefined && { filter }),
      ...(names !== undefined && { names }),
      ...(values !== undefined && { values }),
      reverse: input.reverse ?? false,
    }
    return this.#rows(request, input.limit)
  }

  scan(table: string, input: ScanInput = {}): Rows<Plain> {
    this.assertOpen()
    const { names: given, values } = expression('', input.names, input.values)
    const { filter, names } = filterOf(input, given)
    const request: UnitRange = {
      table,
      ...(input.index !== undefined && { index: input.index }),
      ...(filter !== undefined && { filter }),
      ...(names !== undefined && { names }),
      ...(values !== undefined && { values }),
      reverse: false,
    }
    return this.#rows(request, input.limit)
  }

  history(table: string, key: object): Rows<LedgerRevision> {
    this.assertOpen()
    const address = addressOf(table, key)
    return new UnitHistory(this.#port, address, async () => {
      this.assertOpen()
      const pending = this.#reads.begin(address)
      try {
        await this.#items.placed()
        const entry = this.#items.entry(address)
        if (entry.read === undefined) await this.#items.fetch(entry)
        return entry.read
      } finally {
        this.#reads.end(pending)
      }
    })
  }

  /** A statement that was not awaited is told at the commit, as a read is. */
  async execute<Row extends object = Plain>(
    statement: string,
    parameters: readonly unknown[] = [],
  ): Promise<Row[]> {
    this.assertOpen()
    const pending = this.#reads.begin({ table: statement })
    try {
      return (await executeInUnit(this.#statements, statement, parameters, this.#statementScans)) as Row[]
    } catch (error) {
      return this.#reads.failed(error)
    } finally {
      this.#reads.end(pending)
    }
  }

  readonly #statements: StatementUnit = {
    layout: (table) => this.#port.layout(table),
    image: async (address) => {
      await this.#items.placed()
      const entry = this.#items.entry(address)
      await this.#items.ensureRead([entry])
      return this.#items.imageOf(entry)
    },
    rows: async (range) => {
      const { batches, read } = this.#open(range)
      const rows: Item[] = []
      for await (const batch of batches) rows.push(...batch)
      read.saw('all')
      return rows
    },
    write: ({ table, key }, step) => {
      this.assertOpen()
      this.#items.write(table, key, step)
    },
  }

  #open(request: UnitRange): { readonly read: RangeRead; readonly batches: Batches } {
    this.assertOpen()
    const read = new RangeRead(request)
    this.#ranges ??= []
    this.#ranges.push(read)
    return { read, batches: this.#fetchBatches(request, undefined, 'array') }
  }

  put(table: string, item: object, condition?: Condition): void {
    this.assertOpen()
    this.#items.write(table, undefined, { kind: 'put', item: marshallItem(item), ...conditionOf(condition) })
  }

  update(table: string, key: object, update: Update<Plain>, condition?: Condition): void {
    this.assertOpen()
    const step: UnitCall = { kind: 'update', update: updateExpression(update), ...conditionOf(condition) }
    this.#items.write(table, marshallItem(key), step)
  }

  delete(table: string, key: object, condition?: Condition): void {
    this.assertOpen()
    this.#items.write(table, marshallItem(key), { kind: 'delete', ...conditionOf(condition) })
  }

  check(table: string, key: object, condition: Condition): void {
    this.assertOpen()
    const step: UnitCall = { kind: 'check', condition: conditionExpression(condition) }
    this.#items.write(table, marshallItem(key), step)
  }

  abort(reason?: unknown): never {
    this.assertOpen()
    this.#aborted = new UnitAborted(reason)
    this.#ended = 'it was aborted: begin another one'
    throw this.#aborted
  }

  onCommit(callback: () => void | Promise<void>): void {
    this.assertOpen()
    this.#callbacks ??= []
    this.#callbacks.push(callback)
  }

  /** What `abort` threw, even if the lambda has caught it. */
  get aborted(): UnitAborted | undefined {
    return this.#aborted
  }

  /** A read was refused in a way that another attempt may not meet. */
  get hindered(): unknown {
    return this.#items.hindered
  }

  get callbacks(): readonly (() => void | Promise<void>)[] {
    return this.#callbacks ?? NONE
  }

  /** Before the commit, or before it is detached: what it decided upon must have been read. Throws if a read has not been awaited. */
  assertReadsDone(): void {
    this.#reads.assertDone()
  }

  /** From now on every call fails at once, saying why. */
  end(why: string): void {
    this.#ended ??= why
  }

  /** Whether there is anything to write or to check. */
  get isReadOnly(): boolean {
    return this.#items.isReadOnly
  }

  /** Everything, with one action for each item. Reads the items that folding needs. */
  async work(): Promise<CommitWork> {
    const { reads, actions } = await this.#items.work()
    return { reads, actions, ranges: this.#rangesRead(), locks: this.locks }
  }

  /** What was read and locked so far; it can be told at any time. */
  observed(): CommitWork {
    return { reads: this.#items.reads(), ranges: this.#rangesRead(), actions: NONE, locks: this.locks }
  }

  #rangesRead(): readonly UnitRangeEntry[] {
    if (this.#ranges === undefined) return this.#adoptedRanges
    const ranges = [...this.#adoptedRanges]
    for (const range of this.#ranges) {
      const layout = this.#port.layout(range.request.table)
      // Of a table that is not there, which its query has told.
      if (layout instanceof Promise) layout.catch(() => undefined)
      const entry =
        layout instanceof Promise
          ? range.request
          : range.entry((row) => pickAttributes(row, positionsOf(layout, range.request)))
      if (entry !== undefined) ranges.push(entry)
    }
    return ranges
  }

  get locks(): readonly ItemAddress[] {
    return this.#items.locks
  }

  /** Goes on with what another unit has read and is about to write. */
  adopt(work: CommitWork): void {
    this.#items.adopt(work)
    this.#adoptedRanges = work.ranges
  }

  #plain(entry: Entry): Plain | undefined {
    const image = this.#items.imageOf(entry)
    return image === undefined ? undefined : unmarshallItem(image)
  }

  #rows(request: UnitRange, limit: number | undefined): Rows<Plain> {
    if (limit !== undefined && !(Number.isSafeInteger(limit) && limit >= 1))
      throw new RangeError(`limit is a whole number from 1 on, not ${limit}`)
    return new UnitRows({
      open: (use) => {
        this.assertOpen()
        const range = new RangeRead(request)
        this.#ranges ??= []
        this.#ranges.push(range)
        return { range, batches: this.#batches(request, limit, use) }
      },
    })
  }

  /** A read is under way until the caller is given its rows, and again when he asks for more. */
  async *#batches(request: UnitRange, limit: number | undefined, use: 'array' | 'iteration'): Batches {
    const batches = this.#fetchBatches(request, limit, use)
    for (;;) {
      const pending = this.#reads.begin(request)
      try {
        const batch = await batches.next()
        if (batch.done === true) return batch.value
        this.#reads.end(pending)
        yield batch.value
      } catch (error) {
        return this.#reads.failed(error)
      } finally {
        this.#reads.end(pending)
      }
    }
  }

  async *#fetchBatches(request: UnitRange, limit: number | undefined, use: 'array' | 'iteration'): Batches {
    await this.#items.placed()
    const layout = await this.#port.layout(request.table)
    const own = await this.#ownRows(layout, request)
    let left = limit ?? Number.POSITIVE_INFINITY
    let start: Item | undefined
    for (;;) {
      const wanted =
        limit === undefined || request.filter !== undefined ? undefined : left + (own?.hidden.size ?? 0)
      const page = await this.#items.answered(this.#port.page(request, start, wanted))
      this.assertOpen()
      if (use === 'array') for (const item of page.items) this.#items.hold(itemBytes(item))
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
  async #ownRows(layout: TableLayout, request: UnitRange): Promise<OwnRows | undefined> {
    const changed = this.#items.changed(request.table)
    if (changed.length === 0) return undefined
    const view = rangeView(layout, request, { ordersLikeSeriatim: this.#ordersLikeSeriatim })
    const concerned = changed.filter(({ address }) => view.mayHold(address.key))
    await this.#items.ensureRead(concerned)
    const rows = concerned.flatMap((entry) => {
      const image = this.#items.imageOf(entry)
      const row = image === undefined ? undefined : view.rowOf(image)
      return row === undefined ? [] : [row]
    })
    const hidden = new Set(concerned.map(({ id }) => id))
    const names = keyNames(layout.key)
    const idOfRow = (row: Item): string => idOf({ table: request.table, key: pickAttributes(row, names) })
    return new OwnRows({ hidden, rows, idOfRow, compare: view.compare })
  }

  /** Throws a sentence that helps, once the unit has ended. */
  assertOpen(): void {
    if (this.#ended !== undefined) throw new Error(`This unit of work has ended: ${this.#ended}.`)
    this.#start.deadline.throwIfOver()
  }
}

/** The filter of a query or scan, and the names of all its expressions. */
function filterOf(
  input: Pick<ScanInput, 'filter'>,
  names: UnitRange['names'],
): Pick<UnitRange, 'filter' | 'names'> {
  if (input.filter === undefined) return names === undefined ? {} : { names }
  const named = withReservedNames(input.filter, names, 'condition')
  return { filter: named.text, ...(named.names !== undefined && { names: named.names }) }
}
