// What has been decided but is not in the index yet, by key and batch.
//
//   decided (newest version) --batch durable--> readers see it --applied to the index--> dropped
//
// Deciding sees the newest version of a key; readers see the newest durable one, then the index.
import { KeyOrder } from '../ordered-map/key-order.js'
import type { KeyBytes } from '../model/brand.js'
import { type Knobs, knobs } from '../model/knobs.js'

/** One value of a key, as of one batch; `value` undefined: removed. */
export interface OverlayEntry {
  readonly batch: number
  readonly value: Uint8Array | undefined
  readonly older: OverlayEntry | undefined
  /** Readers see it before its batch is durable: intent and decision are durable already, and would bring it back. */
  readonly visible: boolean
  /** Its value is made when somebody wants it. */
  readonly encode: (() => Uint8Array) | undefined
}

export class Overlay {
  readonly #newest = new Map<KeyBytes, OverlayEntry>()
  readonly #order: SeldomAskedOrder
  #durableBatch = 0
  /** Below the first: what a start found in the journal is a batch of its own, and not in the index either. */
  #appliedBatch = -1

  constructor({ overlaySpareKeysMax }: Pick<Knobs, 'overlaySpareKeysMax'> = knobs) {
    this.#order = new SeldomAskedOrder(this.#newest, overlaySpareKeysMax)
  }

  /** Batches up to this one are durable. */
  get durableBatch(): number {
    return this.#durableBatch
  }

  get keys(): number {
    return this.#newest.size
  }

  decided(key: KeyBytes): OverlayEntry | undefined {
    const newest = this.#newest.get(key)
    return newest?.encode === undefined ? newest : this.#encoded(key, newest, newest.encode)
  }

  #encoded(key: KeyBytes, version: OverlayEntry, encode: () => Uint8Array): OverlayEntry {
    const encoded = { ...version, value: encode(), encode: undefined }
    this.#newest.set(key, encoded)
    return encoded
  }

  has(key: KeyBytes): boolean {
    return this.#newest.has(key)
  }

  /** The batch that has decided this key, if readers do not see that yet. */
  unseenIn(key: KeyBytes): number | undefined {
    const newest = this.#newest.get(key)
    return newest === undefined || this.isVisible(newest) ? undefined : newest.batch
  }

  durable(key: KeyBytes): OverlayEntry | undefined {
    return this.#durableOf(this.#newest.get(key))
  }

  put(key: KeyBytes, value: Uint8Array | undefined, batch: number): void {
    this.#put(key, value, batch, false)
  }

  /** For a key of which there is no version; its value is made when it is wanted. */
  putNew(key: KeyBytes, encode: () => Uint8Array, batch: number): void {
    this.#newest.set(key, { batch, value: undefined, older: undefined, visible: false, encode })
    this.#order.add(key)
  }

  /** As though it had never been put. */
  takeBack(key: KeyBytes): void {
    this.#delete(key)
  }

  /** Only upon a version that readers see. */
  putVisible(key: KeyBytes, value: Uint8Array | undefined, batch: number): void {
    this.#put(key, value, batch, true)
  }

  #put(key: KeyBytes, value: Uint8Array | undefined, batch: number, visible: boolean): void {
    const newest = this.#newest.get(key)
    // Within one batch the last value counts; below the newest version that readers see nobody looks.
    const older = newest?.batch === batch && !newest.visible ? newest.older : newest
    const below = visible ? undefined : this.#trimmed(older)
    this.#newest.set(key, { batch, value, older: below, visible, encode: undefined })
    if (newest === undefined) this.#order.add(key)
  }

  /** Whether readers see this version. */
  isVisible(version: OverlayEntry): boolean {
    return version.visible || version.batch <= this.#durableBatch
  }

  promote(batch: number): void {
    this.#durableBatch = batch
  }

  /** Takes back what these keys got after the durable batches. */
  rollBack(keys: Iterable<KeyBytes>): void {
    for (const key of keys) {
      const durable = this.durable(key)
      // What was kept below a lost version may be in the index by now, and nobody would drop it any more.
      if (durable === undefined || durable.batch <= this.#appliedBatch) this.#delete(key)
      else this.#newest.set(key, durable)
    }
  }

  /** The index holds all batches up to that one, and these are the keys of the last ones. */
  drop(keys: Iterable<KeyBytes>, batch: number): void {
    this.#appliedBatch = batch
    for (const key of keys) {
      const newest = this.#newest.get(key)
      if (newest !== undefined && newest.batch <= batch) this.#delete(key)
    }
  }

  /** Whether a range holds any version, of whatever batch. */
  hasAny(from: KeyBytes, to: KeyBytes): boolean {
    return this.#newest.size > 0 && this.#order.hasAny(from, to)
  }

  /** Versions in a range that are durable (or, to decide, the newest), removed ones included. */
  *range(
    from: KeyBytes,
    to: KeyBytes,
    options: { readonly reverse: boolean; readonly view: 'durable' | 'decided' },
  ): Iterable<readonly [KeyBytes, Uint8Array | undefined]> {
    for (const key of this.#order.range(from, to, options.reverse ? 'backward' : 'forward')) {
      const version = options.view === 'decided' ? this.decided(key) : this.durable(key)
      if (version !== undefined) yield [key, version.value]
    }
  }

  #delete(key: KeyBytes): void {
    this.#newest.delete(key)
    this.#order.delete(key)
  }

  #durableOf(newest: OverlayEntry | undefined): OverlayEntry | undefined {
    let version = newest
    while (version !== undefined && !this.isVisible(version)) version = version.older
    return version
  }

  /** At most three versions of a key matter: open, in flight and durable. */
  #trimmed(version: OverlayEntry | undefined): OverlayEntry | undefined {
    if (version === undefined) return undefined
    if (this.isVisible(version)) {
      return version.older === undefined ? version : { ...version, older: undefined }
    }
    return { ...version, older: this.#trimmed(version.older) }
  }
}

/** The order of the keys of a map. Under a load of writes most leave it before anybody asks, and cost no more than a push. */
class SeldomAskedOrder {
  readonly #keys: ReadonlyMap<KeyBytes, unknown>
  readonly #spareMax: number
  readonly #order = new KeyOrder(Infinity)
  /** Not in the order yet; some of them are gone again, or stand there twice. */
  #added: KeyBytes[] = []
  #isAsked = false

  /** By so many the keys that are noted may exceed twice those that are there. */
  constructor(keys: ReadonlyMap<KeyBytes, unknown>, spareMax: number) {
    this.#keys = keys
    this.#spareMax = spareMax
  }

  /** The map has the key already: one that it does not have is taken for one that is gone. */
  add(key: KeyBytes): void {
    this.#added.push(key)
    if (this.#added.length > 2 * this.#keys.size + this.#spareMax)
      this.#added = [...new Set(this.#added)].filter((each) => this.#keys.has(each))
  }

  delete(key: KeyBytes): void {
    if (this.#isAsked) this.#order.delete(key)
  }

  hasAny(from: KeyBytes, to: KeyBytes): boolean {
    return this.#upToDate().hasAny(from, to)
  }

  range(from: KeyBytes, to: KeyBytes, direction: 'forward' | 'backward'): Iterable<KeyBytes> {
    return this.#upToDate().range(from, to, direction)
  }

  #upToDate(): KeyOrder {
    this.#isAsked = true
    for (const key of this.#added) if (this.#keys.has(key)) this.#order.add(key, undefined)
    this.#added = []
    return this.#order
  }
}
