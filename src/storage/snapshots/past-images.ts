// Images that were overwritten while a snapshot was open (docs/adr/0011-units-of-work.md), in memory.
//
//   address of the item  --> [V0, W1) image, [V1, W2) image, ...     in the order of time
//   key in each index    --> the same images, where they stood there
//
// Who needs an image, and when it may go, is the business of snapshots.ts.
import { BTree } from '../../ordered-map/b-tree.js'
import { compareKeyBytes } from '../../model/key-bytes.js'
import type { KeyBytes, Timestamp, TxId } from '../../model/brand.js'
import { type Knobs, knobs } from '../../model/knobs.js'
import type { Item } from '../../model/value.js'
import type { ItemRecord } from '../../rules/item/item.js'
import type { PastState } from '../../rules/units/visibility.js'
import { parseRecord } from '../../line/record.js'

/** What an image costs beside its bytes: the objects, and for each key a map entry, a list and a place in the tree. */
const IMAGE_OVERHEAD_BYTES = 200
const KEY_OVERHEAD_BYTES = 150

export interface PastImageParts {
  readonly since: Timestamp
  readonly until: Timestamp
  readonly record: ItemRecord | undefined
  readonly by: TxId | undefined
  /** The address of the item, and the keys of its index entries, with their spaces. */
  readonly keys: readonly [KeyBytes, ...KeyBytes[]]
}

/** It is parsed anew whenever somebody looks at it: hardly anybody does, and the bytes are smaller. */
export class PastImage implements PastState {
  readonly since: Timestamp
  readonly until: Timestamp
  readonly record: ItemRecord | undefined
  readonly by?: TxId
  readonly keys: PastImageParts['keys']
  readonly bytes: number

  constructor({ since, until, record, by, keys }: PastImageParts) {
    this.since = since
    this.until = until
    this.record = record
    if (by !== undefined) this.by = by
    this.keys = keys
    let bytes = IMAGE_OVERHEAD_BYTES + (record?.json.byteLength ?? 0)
    for (const key of keys) bytes += KEY_OVERHEAD_BYTES + key.length
    this.bytes = bytes
  }

  item(): Item | undefined {
    return this.record && parseRecord(this.record)
  }
}

const NONE: readonly PastImage[] = []

export class PastImages {
  /** By the address of the item, or by the key of its entry in an index. */
  readonly #images = new Map<KeyBytes, readonly PastImage[]>()
  /** For ranges. Keys come into it when somebody asks for one: who reads single items has no use for their order. */
  readonly #order = new BTree<KeyBytes, undefined>(undefined, compareKeyBytes)
  /** Keys that may not be in the order yet; some of them may be gone, or stand here twice. */
  #unordered: KeyBytes[] = []
  #bytes = 0
  readonly #spareMax: number

  constructor({ historySpareKeysMax }: Pick<Knobs, 'historySpareKeysMax'> = knobs) {
    this.#spareMax = historySpareKeysMax
  }

  get bytes(): number {
    return this.#bytes
  }

  /** In the order of time. */
  of(key: KeyBytes): readonly PastImage[] {
    return this.#images.get(key) ?? NONE
  }

  /** Later than all other images of the item. */
  add(image: PastImage): void {
    this.#bytes += image.bytes
    if (this.#unordered.length > this.#spareMax + 2 * this.#images.size) this.#forgetGone()
    for (const key of image.keys) {
      const others = this.#images.get(key)
      if (others === undefined) this.#unordered.push(key)
      this.#images.set(key, others === undefined ? [image] : [...others, image])
    }
  }

  remove(image: PastImage): void {
    this.#bytes -= image.bytes
    for (const key of image.keys) {
      const left = this.of(key).filter((each) => each !== image)
      if (left.length > 0) {
        this.#images.set(key, left)
      } else {
        this.#images.delete(key)
        if (this.#order.size > 0) this.#order.delete(key)
      }
    }
  }

  clear(): void {
    this.#images.clear()
    this.#order.clear()
    this.#unordered = []
    this.#bytes = 0
  }

  #putInOrder(): void {
    for (const key of this.#unordered) if (this.#images.has(key)) this.#order.set(key, undefined)
    this.#unordered = []
  }

  /** Keeps the list from growing while nobody asks for a range. */
  #forgetGone(): void {
    this.#unordered = [...new Set(this.#unordered)].filter((key) => this.#images.has(key))
  }

  /** From the first key, inclusive, to the second, exclusive. */
  *range(
    from: KeyBytes,
    to: KeyBytes,
    direction: { readonly reverse: boolean },
  ): Iterable<readonly [KeyBytes, readonly PastImage[]]> {
    this.#putInOrder()
    if (this.#images.size === 0) return
    const { reverse } = direction
    const keys = reverse ? this.#order.entriesReversed(to, undefined, true) : this.#order.entries(from)
    for (const [key] of keys) {
      if (reverse ? key < from : key >= to) return
      yield [key, this.of(key)]
    }
  }
}
