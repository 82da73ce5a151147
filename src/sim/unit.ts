// A unit of work of a simulated client: reads at a snapshot, and a commit that carries what it has read.
//
//   open --> get, range, ... (each written down as a read at that timestamp) --> commit: expectations and predicates
//
// What the judges hold it to: reads are the model at the snapshot; a serializable unit's reads and ranges are the model
// just before its commit, too; at snapshot nobody has written in between what it writes.
import { evaluateCondition, openExpressions } from '../expression/expression.js'
import type { BoundCondition } from '../expression/types.js'
import type { LocatedPredicate } from '../coordinator/coordinator.js'
import type { SnapshotPage, SnapshotRecords, Snapshots } from '../coordinator/snapshots.js'
import type { ItemRef } from '../ledger/ledger.js'
import type { KeyBytes, Timestamp } from '../model/brand.js'
import { itemRange, type KeyRange } from '../model/key-range.js'
import type { Item } from '../model/value.js'
import type { ItemRecord } from '../storage/storage-node.js'
import type { LockReply } from '../storage/units.js'
import { type Clause, check, keyNamed, type Request } from './actions.js'
import type { SimClient } from './client.js'
import type { Image, RangeSeen } from './history.js'
import { EPOCH_MICROS } from './process.js'
import { nodeOf } from './processes.js'
import { TABLE } from './table.js'
import { imageOf, type Recorder, type WriteDraft } from './recorder.js'

export type SimIsolation = 'read-committed' | 'snapshot' | 'serializable'

/** A range of the key space, and the keys of the workload that lie in it. */
export interface SimRange {
  readonly keys: readonly string[]
  /** The partition that is queried; absent: a scan. */
  readonly partition?: string
  readonly filter?: Clause
}

export interface SimUnitOptions {
  readonly recorder: Recorder
  readonly nodes: number
  readonly id: string
  readonly isolation: SimIsolation
  /** The first read opens the snapshot, in the same request. */
  readonly opensByReading: boolean
}

const PAGE_ENTRIES = 3
const PAGES_MAX = 50
const LOCKED_MICROS = 2_000_000

export class SimUnit {
  readonly #client: SimClient
  readonly #recorder: Recorder
  readonly #nodes: number
  readonly #opensByReading: boolean
  readonly id: string
  readonly isolation: SimIsolation
  readonly #versions = new Map<string, Timestamp | undefined>()
  readonly #images = new Map<string, Image>()
  readonly #predicates: LocatedPredicate[] = []
  readonly #ranges: RangeSeen[] = []
  readonly #locked = new Set<string>()
  #snapshot: Timestamp | undefined

  constructor(client: SimClient, { recorder, nodes, id, isolation, opensByReading }: SimUnitOptions) {
    this.#opensByReading = opensByReading
    this.#client = client
    this.#recorder = recorder
    this.#nodes = nodes
    this.id = id
    this.isolation = isolation
  }

  /** False if the unit cannot go on. */
  async open(): Promise<boolean> {
    return this.#opensByReading || this.#open()
  }

  async #open(): Promise<boolean> {
    this.#snapshot = (await this.#client.snapshots('open')) as Timestamp | undefined
    return this.#snapshot !== undefined
  }

  async lock(name: string): Promise<boolean> {
    const reply = (await this.#client.snapshots('lock', {
      unit: { id: this.id, began: EPOCH_MICROS + this.#client.nowMicros },
      items: [{ space: TABLE.space, key: keyNamed(name).key }],
      until: EPOCH_MICROS + this.#client.nowMicros + LOCKED_MICROS,
    })) as LockReply | undefined
    this.#client.tell('lock', reply?.verdict ?? 'lost')
    if (reply?.verdict !== 'locked') return false
    this.#locked.add(name)
    return true
  }

  async get(names: readonly string[]): Promise<readonly Image[] | undefined> {
    const invokedAt = this.#client.nowMicros
    const items = names.map((name) => ({ space: TABLE.space, key: keyNamed(name).key }))
    const outcome = await this.#read(items)
    this.#client.tell('unit-read', outcome?.outcome ?? 'lost')
    if (outcome?.outcome !== 'read') return undefined
    const images = outcome.records.map(imageOf)
    this.#recorder.reads.push({
      kind: 'read',
      id: this.id,
      timestamp: this.#snapshot as Timestamp,
      images: new Map(names.map((name, at) => [name, images[at]])),
      invokedAt,
      completedAt: this.#client.nowMicros,
    })
    for (const [at, name] of names.entries()) {
      this.#versions.set(name, outcome.records[at]?.timestamp)
      this.#images.set(name, images[at])
    }
    return images
  }

  /** The first of them opens the snapshot, if the unit has none. */
  async #read(items: readonly ItemRef[]): Promise<SnapshotRecords | undefined> {
    if (this.#snapshot !== undefined)
      return (await this.#client.snapshots('read', { at: this.#snapshot, items })) as
        SnapshotRecords | undefined
    const above = this.#client.random.chance(0.3) && ({ above: 'decided' } as const)
    const opened = (await this.#client.snapshots('readNew', { items, ...above })) as
      Awaited<ReturnType<Snapshots['readNew']>> | undefined
    this.#snapshot = opened?.at
    return opened?.answer
  }

  async range({ keys, partition, filter: clause }: SimRange): Promise<boolean> {
    if (this.#snapshot === undefined && !(await this.#open())) return false
    const invokedAt = this.#client.nowMicros
    const range = rangeOf(partition)
    const nodes =
      partition === undefined
        ? Array.from({ length: this.#nodes }, (_, at) => at)
        : [nodeOf(keyNamed(keys[0] as string).key.hash, this.#nodes)]
    const filter = clause && bound(clause)
    const images = new Map<string, Image>()
    const nameOf = new Map(keys.map((name) => [keyNamed(name).key.bytes, name]))
    const matches = (image: Item): boolean => filter === undefined || evaluateCondition(filter, image)
    for (const node of nodes) {
      const records = await this.#walk(node, range)
      if (records === undefined) return false
      for (const [key, record] of records) {
        const image = imageOf(record)
        // Other workloads' keys are none of this unit's business.
        const name = nameOf.get(key)
        if (name !== undefined && image !== undefined && matches(image)) images.set(name, image)
      }
    }
    const seen = { keys, ...(filter && { filter }), images }
    const timestamp = this.#snapshot as Timestamp
    this.#recorder.ranges.push({
      kind: 'range',
      id: this.id,
      timestamp,
      ...seen,
      invokedAt,
      completedAt: this.#client.nowMicros,
    })
    this.#ranges.push(seen)
    this.#predicates.push({
      check: { table: TABLE, since: timestamp, range, ...(filter && { filter }) },
      nodes,
    })
    return true
  }

  /** Commits these writes; at most one an item. */
  async commit(writes: readonly Request[], token?: { readonly again: boolean }): Promise<WriteDraft> {
    const validates = this.isolation === 'serializable'
    const left = new Set([...this.#versions.keys()].filter((name) => validates || this.#locked.has(name)))
    const requests = writes.map((write) => {
      const { key } = write.written
      const expected = left.delete(key)
        ? ({ kind: 'version', written: this.#versions.get(key) } as const)
        : this.isolation === 'snapshot' && !onlyAdds(write)
          ? ({ kind: 'unwritten-since', timestamp: this.#snapshot as Timestamp } as const)
          : undefined
      return this.#owned(expected === undefined ? write : { ...write, expected })
    })
    for (const name of left)
      requests.push(
        this.#owned({ ...check(name), expected: { kind: 'version', written: this.#versions.get(name) } }),
      )
    const locked = new Map([...this.#locked].map((name) => [name, this.#images.get(name)] as const))
    return this.#client.transact(this.id, requests, token, {
      request: {
        unit: this.id,
        ...(validates && this.#predicates.length > 0 && { predicates: this.#predicates }),
      },
      judged: {
        // What was read under a lock stays as it is, at whatever level.
        ...(validates ? { old: this.#images, ranges: this.#ranges } : { old: locked }),
        ...(this.isolation === 'snapshot' && { since: this.#snapshot as Timestamp }),
      },
    })
  }

  async close(): Promise<void> {
    if (this.#snapshot !== undefined) await this.#client.snapshots('close', this.#snapshot)
    if (this.#locked.size > 0) {
      const items = [...this.#locked].map((name) => ({ space: TABLE.space, key: keyNamed(name).key }))
      await this.#client.snapshots('unlock', this.id, items)
    }
  }

  #owned(request: Request): Request {
    return this.#locked.has(request.written.key) ? { ...request, locked: true } : request
  }

  /** All pages of one node. */
  async #walk(
    node: number,
    whole: KeyRange,
  ): Promise<readonly (readonly [KeyBytes, ItemRecord])[] | undefined> {
    const found: (readonly [KeyBytes, ItemRecord])[] = []
    let range = whole
    for (let page = 0; page < PAGES_MAX; page++) {
      const request = {
        space: TABLE.space,
        ...range,
        reverse: false,
        entriesMax: PAGE_ENTRIES,
        bytesMax: Infinity,
        at: this.#snapshot,
        table: TABLE,
      }
      const outcome = (await this.#client.snapshots('range', node, request)) as SnapshotPage | undefined
      this.#client.tell('unit-range', outcome?.outcome ?? 'lost')
      if (outcome?.outcome !== 'read') return undefined
      for (const { key, record } of outcome.page.entries) found.push([key, record])
      const last = outcome.page.entries.at(-1)
      if (!outcome.page.more || last === undefined) return found
      range = { ...whole, from: `${last.key}\0` as KeyBytes }
    }
    throw new Error('the pages of a range do not end')
  }
}

const rangeOf = (partition: string | undefined): KeyRange =>
  partition === undefined ? { from: '' as KeyBytes } : itemRange(TABLE.key, { S: partition })

const onlyAdds = ({ mutation, condition }: Request): boolean =>
  mutation.kind === 'update' &&
  condition === undefined &&
  mutation.update.tree.actions.every(({ type }) => type === 'add')

function bound({ text, values }: Clause): BoundCondition {
  return openExpressions(values ? { ExpressionAttributeValues: values } : {}).condition(
    text,
    'FilterExpression',
  )
}
