// A unit of work of a simulated client: reads at a snapshot, and a commit that carries what it has read. It asks what a
// coordinator offers (unit-service.ts), and knows nothing of what a level of isolation requires: that is the store's.
//
//   get, range, ... (each written down as a read at the timestamp it was answered with) --> commit: writes, reads, ranges
//
// What the judges hold it to: reads are the model at the snapshot, of which there is one at snapshot and serializable; a serializable unit's reads and ranges are the model
// just before its commit, too; at snapshot nobody has written in between what it writes.
import { openExpressions } from '../src/expression/expression.js'
import type { BoundCondition } from '../src/expression/parse/types.js'
import type { ItemRef } from '../src/ledger/ledger.js'
import type { Timestamp } from '../src/model/brand.js'
import { type Isolation, namesReads, readsAtOneSnapshot, validatesReads } from '../src/model/isolation.js'
import type { Item } from '../src/model/value.js'
import type { Input } from '../src/router/request/context.js'
import type { BoundGet } from '../src/router/units/work.js'
import type { RequestUnit } from '../src/router/units/unit.js'
import type { UnitRead } from '../src/rules/units/binding.js'
import type { ReadPoint } from '../src/storage/contract/units.js'
import { type Clause, check, keyNamed, type Request } from './actions.js'
import type { SimClient } from './client.js'
import type { Image, RangeSeen } from './history.js'
import { TABLE } from './table.js'
import { imageOf, type Recorder, type WriteDraft } from './recorder.js'

export type SimIsolation = Exclude<Isolation, 'read-uncommitted'>

/** A range of the key space, and the keys of the workload that lie in it. */
export interface SimRange {
  readonly keys: readonly string[]
  /** The partition that is queried; absent: a scan. */
  readonly partition?: string
  readonly filter?: Clause
}

export interface SimUnitOptions {
  readonly recorder: Recorder
  readonly id: string
  readonly isolation: SimIsolation
  /** When its first attempt began, of a unit that is tried again: it reads what is being written, too. */
  readonly began?: Timestamp
}

const PAGE_ENTRIES = 3
const PAGES_MAX = 50
/** Of a unit, and with it of its locks. */
const TIMEOUT_MS = 2_000
/** A client may name what it has read where it need not. */
const NAMES_ALL = 0.2

export class SimUnit {
  readonly #client: SimClient
  readonly #recorder: Recorder
  readonly #began: Timestamp | undefined
  readonly id: string
  readonly isolation: SimIsolation
  readonly #versions = new Map<string, Timestamp | undefined>()
  readonly #images = new Map<string, Image>()
  readonly #predicates: Input[] = []
  readonly #ranges: RangeSeen[] = []
  readonly #locked = new Set<string>()
  #snapshot: Timestamp | undefined

  constructor(client: SimClient, { recorder, id, isolation, began }: SimUnitOptions) {
    this.#client = client
    this.#recorder = recorder
    this.#began = began
    this.id = id
    this.isolation = isolation
  }

  /** Undefined if the unit cannot go on. The first read of a unit opens its snapshot. */
  async get(
    names: readonly string[],
    { lock = false }: { readonly lock?: boolean } = {},
  ): Promise<readonly Image[] | undefined> {
    const invokedAt = this.#client.nowMicros
    // Those whose answer is lost may be locked, too.
    if (lock) for (const name of names) this.#locked.add(name)
    const gets = names.map((name) => getOf(name, lock))
    const answer = await this.#client.ofUnit('unitGetItems', this.#unit(), gets)
    this.#client.tell(lock ? 'unit-lock' : 'unit-read', told(answer))
    if (answer === undefined || 'refused' in answer) return undefined
    this.#noteSnapshot(answer.at)
    const images = answer.records.map(imageOf)
    this.#recorder.reads.push({
      kind: 'read',
      id: this.id,
      timestamp: answer.at as Timestamp,
      images: new Map(names.map((name, at) => [name, images[at]])),
      invokedAt,
      completedAt: this.#client.nowMicros,
      ofUnit: true,
    })
    for (const [at, name] of names.entries()) {
      this.#versions.set(name, answer.records[at]?.timestamp)
      this.#images.set(name, images[at])
    }
    return images
  }

  /** False if the unit cannot go on. */
  async range(range: SimRange): Promise<boolean> {
    const { keys } = range
    const invokedAt = this.#client.nowMicros
    const input = inputOf(range)
    const items = await this.#walk(input)
    if (items === undefined) return false
    const images = new Map<string, Image>()
    for (const item of items) {
      // Other workloads' keys are none of this unit's business.
      const name = nameOf(item)
      if (keys.includes(name)) images.set(name, item)
    }
    const filter = range.filter && bound(range.filter)
    const seen = { keys, ...(filter && { filter }), images }
    this.#recorder.ranges.push({
      kind: 'range',
      id: this.id,
      timestamp: this.#snapshot as Timestamp,
      ...seen,
      invokedAt,
      completedAt: this.#client.nowMicros,
    })
    this.#ranges.push(seen)
    this.#predicates.push(input)
    return true
  }

  /** Commits these writes; at most one an item. */
  async commit(writes: readonly Request[], token?: { readonly again: boolean }): Promise<WriteDraft> {
    const locks = [...this.#locked]
    const isNamed = namesReads(this.isolation, locks) || this.#client.random.chance(NAMES_ALL)
    const read = isNamed ? [...this.#versions] : []
    const snapshot = this.#snapshot
    const work = {
      writes,
      reads: read.map(([name, written]): UnitRead => ({
        ...check(name),
        expected: { kind: 'version', written },
      })),
      locks: locks.map((name) => check(name)),
      predicates: this.#predicates,
    }
    const judged = {
      // What was read under a lock stays as it is, at whatever level.
      ...(validatesReads(this.isolation)
        ? { old: this.#images, ranges: this.#ranges }
        : { old: new Map(locks.map((name) => [name, this.#images.get(name)] as const)) }),
      ...(this.isolation === 'snapshot' && { since: snapshot as Timestamp }),
    }
    const draft = await this.#client.commitUnit(this.#unit(), work, judged, token)
    // The answer to a commit closes its snapshot.
    if (draft.status !== 'unknown') this.#snapshot = undefined
    return draft
  }

  async close(): Promise<void> {
    if (this.#snapshot === undefined && this.#locked.size === 0) return
    const locks = [...this.#locked].map(refOf)
    await this.#client.ofUnit('unitEnd', this.#unit(), locks)
  }

  #unit(): RequestUnit {
    return {
      id: this.id,
      isolation: this.isolation,
      readTimestamp: this.#snapshot,
      began: this.#began,
      attemptBegan: undefined,
      timeoutMs: TIMEOUT_MS,
    }
  }

  #noteSnapshot(at: ReadPoint): void {
    if (!readsAtOneSnapshot(this.isolation)) return
    this.#snapshot ??= at as Timestamp
    if (at !== this.#snapshot)
      this.#recorder.found.add('two-snapshots', `${this.id} read at ${this.#snapshot} and at ${at}`)
  }

  /** All pages of a range. */
  async #walk(input: Input): Promise<readonly Item[] | undefined> {
    const found: Item[] = []
    let start: Item | undefined
    for (let page = 0; page < PAGES_MAX; page++) {
      const request = { ...input, Limit: PAGE_ENTRIES, ...(start && { ExclusiveStartKey: start }) }
      const answer = await this.#client.ofUnit('unitRange', this.#unit(), request)
      this.#client.tell('unit-range', told(answer))
      if (answer === undefined || 'refused' in answer) return undefined
      this.#noteSnapshot(answer.at)
      found.push(...answer.items)
      start = answer.next
      if (start === undefined) return found
    }
    throw new Error('the pages of a range do not end')
  }
}

/** In the words of the store's insides. */
function told(answer: object | undefined): string {
  if (answer === undefined) return 'lost'
  if (!('refused' in answer)) return 'read'
  return TOLD.get(answer.refused) ?? String(answer.refused)
}

const TOLD: ReadonlyMap<unknown, string> = new Map([
  ['UnitConflictException', 'conflict'],
  ['SnapshotTooOldException', 'snapshot-too-old'],
])

const refOf = (name: string): ItemRef => ({ space: TABLE.space, key: keyNamed(name).key })

const getOf = (name: string, locked: boolean): BoundGet => ({
  tableName: TABLE.name,
  keyAttributes: keyNamed(name).keyAttributes,
  ref: refOf(name),
  locked,
})

/** As on the wire, for the pages and for the predicate. */
function inputOf({ partition, filter }: SimRange): Input {
  const values = { ...filter?.values, ...(partition !== undefined && { ':p': { S: partition } }) }
  return {
    TableName: TABLE.name,
    ...(partition !== undefined && { KeyConditionExpression: 'p = :p' }),
    ...(filter && { FilterExpression: filter.text }),
    ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
  }
}

function nameOf(item: Item): string {
  const id = item['id']
  return id !== undefined && 'S' in id ? id.S : ''
}

function bound({ text, values }: Clause): BoundCondition {
  return openExpressions(values ? { ExpressionAttributeValues: values } : {}).condition(
    text,
    'FilterExpression',
  )
}
