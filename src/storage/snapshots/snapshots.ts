// The open snapshots of a node, and which images of the past they need.
//
//   oldest <--> ... <--> newest          in the order of their timestamps
//     |owns       |owns     |owns
//   images      images    images         an image belongs to the newest snapshot that sees it; when that is closed, to
//                                        the next older one that does, and where there is none it is forgotten
//
// So no image outlives the last snapshot that needs it, and closing one looks only at the images it owns. What has not
// been closed is dropped when it is too old, when the images take too much memory, and when steps were taken back.
import type { KeyBytes, Timestamp, TxId } from '../../model/brand.js'
import { type Knobs, knobs } from '../../model/knobs.js'
import type { ItemRecord } from '../../rules/item/item.js'
import type { Clock } from '../../runtime/runtime.js'
import { PastImages, PastImage } from './past-images.js'

export interface SnapshotLimits extends Partial<
  Pick<Knobs, 'historyBytesMax' | 'historySpareKeysMax' | 'snapshotsMax'>
> {
  /** A snapshot that is older than this may be read no more. */
  readonly snapshotAgeMs?: number
}

const SNAPSHOT_AGE_MS = 30_000
const STEP_BACK_MICROS_MAX = 10_000

interface Snapshot {
  readonly timestamp: Timestamp
  readonly openedMicros: number
  /** How many have opened it and not closed it. */
  count: number
  older: Snapshot | undefined
  newer: Snapshot | undefined
  images: PastImage[]
  /** Until then something that was decided before it was opened is not durable. */
  whenDurable: Promise<void> | undefined
  /** How many late writes there had been by then. */
  readonly lateBefore: number
}

/** A write that puts an image into the past. */
export interface Overwriting {
  readonly address: KeyBytes
  readonly old: ItemRecord | undefined
  readonly timestamp: Timestamp
  readonly by: TxId | undefined
  /** The keys of the old image in the indexes of its table, with their spaces. */
  readonly entries: () => readonly KeyBytes[]
}

export class OpenSnapshots {
  readonly history: PastImages
  readonly #clock: Clock
  readonly #ageMs: number
  readonly #bytesMax: number
  readonly #snapshotsMax: number
  readonly #byTimestamp = new Map<Timestamp, Snapshot>()
  #oldest: Snapshot | undefined
  #newest: Snapshot | undefined
  #cancelTimer: (() => void) | undefined
  /** When the last late write is durable, until it is; and how many there have been. */
  #late: Promise<void> | undefined
  #lateCount = 0

  constructor(clock: Clock, limits: SnapshotLimits = {}) {
    this.#clock = clock
    this.#ageMs = limits.snapshotAgeMs ?? SNAPSHOT_AGE_MS
    this.#bytesMax = limits.historyBytesMax ?? knobs.historyBytesMax
    this.#snapshotsMax = limits.snapshotsMax ?? knobs.snapshotsMax
    this.history = new PastImages({ ...knobs, ...limits })
  }

  get size(): number {
    return this.#byTimestamp.size
  }

  /** At or above everything that was decided so far, but for what is being written now. `whenDurable`: when that is durable. */
  open(timestamp: Timestamp, whenDurable: Promise<void> | undefined): void {
    const known = this.#byTimestamp.get(timestamp)
    if (known !== undefined) {
      known.count++
      return
    }
    const openedMicros = this.#clock.nowMicros()
    const [older, newer] = this.#around(timestamp)
    const lateBefore = this.#lateCount
    const opened: Snapshot = {
      timestamp,
      openedMicros,
      count: 1,
      older,
      newer,
      images: [],
      whenDurable,
      lateBefore,
    }
    if (older === undefined) this.#oldest = opened
    else older.newer = opened
    if (newer === undefined) this.#newest = opened
    else newer.older = opened
    this.#byTimestamp.set(timestamp, opened)
    const forget = (): void => {
      opened.whenDurable = undefined
    }
    whenDurable?.then(forget, forget)
    if (this.size > this.#snapshotsMax) this.#drop(this.#oldest as Snapshot)
    this.#watchAge()
  }

  /** Nearly always behind the newest. */
  #around(timestamp: Timestamp): readonly [Snapshot | undefined, Snapshot | undefined] {
    let older = this.#newest
    let newer: Snapshot | undefined
    while (older !== undefined && older.timestamp > timestamp) {
      newer = older
      older = older.older
    }
    return [older, newer]
  }

  close(timestamp: Timestamp): void {
    const snapshot = this.#byTimestamp.get(timestamp)
    if (snapshot === undefined) return
    snapshot.count--
    if (snapshot.count === 0) this.#drop(snapshot)
  }

  /** Whether everything a reader at that timestamp may need is there. */
  isOpen(timestamp: Timestamp): boolean {
    const snapshot = this.#byTimestamp.get(timestamp)
    if (snapshot === undefined) return false
    if (!this.#isTooOld(snapshot)) return true
    this.#drop(snapshot)
    return false
  }

  /** When all that a reader at this timestamp sees is durable, be it in the past or current. */
  whenDurable(timestamp: Timestamp): Promise<void> | undefined {
    const snapshot = this.#byTimestamp.get(timestamp)
    if (snapshot === undefined) return this.#late
    // The later one of two batches is durable after the earlier.
    return this.#lateCount > snapshot.lateBefore ? (this.#late ?? snapshot.whenDurable) : snapshot.whenDurable
  }

  /** A write that is durable then has a timestamp at or below a snapshot that was open already. */
  noteLate(timestamp: Timestamp, durable: Promise<void> | undefined): void {
    if (durable === undefined || this.#newest === undefined || timestamp > this.#newest.timestamp) return
    this.#late = durable
    this.#lateCount++
    const forget = (): void => {
      if (this.#late === durable) this.#late = undefined
    }
    durable.then(forget, forget)
  }

  /** Keeps the old image, if a snapshot sees it. */
  overwrite({ address, old, timestamp: until, by, entries }: Overwriting): void {
    let owner = this.#newest
    while (owner !== undefined && owner.timestamp >= until) owner = owner.older
    // Of an absent item the last thing known is what ended the image before.
    const since = old?.timestamp ?? this.history.of(address).at(-1)?.until ?? BEFORE
    if (owner === undefined || owner.timestamp < since) return
    const keys = [address, ...(old === undefined ? [] : entries())] as const
    const image = new PastImage({ since, until, record: old, by, keys })
    owner.images.push(image)
    this.history.add(image)
    while (this.history.bytes > this.#bytesMax && this.#oldest !== undefined) this.#drop(this.#oldest)
  }

  /** Nothing is known of the past any more. */
  dropAll(): void {
    this.#byTimestamp.clear()
    this.#oldest = undefined
    this.#newest = undefined
    this.history.clear()
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }

  #drop(snapshot: Snapshot): void {
    const { older, newer, images } = snapshot
    this.#byTimestamp.delete(snapshot.timestamp)
    if (older === undefined) this.#oldest = newer
    else older.newer = newer
    if (newer === undefined) this.#newest = older
    else newer.older = older
    for (const image of images) {
      if (older !== undefined && older.timestamp >= image.since) older.images.push(image)
      else this.history.remove(image)
    }
    snapshot.images = []
    if (this.#oldest === undefined) {
      this.#cancelTimer?.()
      this.#cancelTimer = undefined
    }
  }

  /** A clock that was set back says nothing about age; within a millisecond it may always step back. */
  #isTooOld({ openedMicros }: Snapshot): boolean {
    const ageMicros = this.#clock.nowMicros() - openedMicros
    return ageMicros >= this.#ageMs * 1000 || ageMicros < -STEP_BACK_MICROS_MAX
  }

  /** One timer, for the oldest. */
  #watchAge(): void {
    if (this.#oldest === undefined || this.#cancelTimer !== undefined) return
    const leftMs = this.#ageMs - (this.#clock.nowMicros() - this.#oldest.openedMicros) / 1000
    this.#cancelTimer = this.#clock.timer(Math.max(1, Math.ceil(leftMs)), () => {
      this.#cancelTimer = undefined
      while (this.#oldest !== undefined && this.#isTooOld(this.#oldest)) this.#drop(this.#oldest)
      this.#watchAge()
    })
  }
}

const BEFORE = 0 as Timestamp
