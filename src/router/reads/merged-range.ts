// Reads one key range over several nodes as if it were one stream, in key order.
//
//   node 0  a c f ..\
//   node 1  b d ......> a b c d e f ..  each entry handed to `take` until a limit is reached or all nodes are at the end
//   node 2  e ......./
//
// A node is asked again only when its buffer is empty, so what is held is at most one page of each node.
import type { KeyBytes } from '../../model/brand.js'
import { keyAfter } from '../../model/key-range.js'
import { limits } from '../../model/limits.js'
import type { RangeEntry, RangeRequest, StorageNode } from '../../storage/contract/storage-node.js'

export type MergedRange = Omit<RangeRequest, 'entriesMax' | 'bytesMax'>

export interface PageLimits {
  readonly entriesMax: number
  /** Of what `take` counts, which for an index is only the part that it projects. */
  readonly bytesMax: number
}

/** Why reading ended. Only an exhausted range has no next page. */
export type RangeEnd = 'exhausted' | 'entries' | 'bytes'

/** Items behind the entries of one page, whole: bounds the work where an index projects little of large items. */
const STORED_BYTES_MAX = 16 * limits.pageBytesMax

/** Hands over entries in order; `take` answers how many bytes an entry counts towards the limit. */
export async function readMerged(
  nodes: readonly Pick<StorageNode, 'range'>[],
  range: MergedRange,
  page: PageLimits,
  take: (entry: RangeEntry) => number,
): Promise<RangeEnd> {
  const cursors = nodes.map((node) => new Cursor(node, range))
  // Keys are spread evenly, so each node is asked for its share first and for all that is missing later.
  const share = (total: number): number => Math.ceil(total / nodes.length)
  const first = cursors.map((cursor) => cursor.fill(share(page.entriesMax), share(page.bytesMax)))
  await (first.length === 1 ? first[0] : Promise.all(first))

  let entries = 0
  let bytes = 0
  let storedBytes = 0
  for (;;) {
    let next: Cursor | undefined
    for (const cursor of cursors) {
      if (cursor.needsMore) await cursor.fill(page.entriesMax - entries, page.bytesMax - bytes)
      if (cursor.head !== undefined && (next === undefined || cursor.precedes(next))) next = cursor
    }
    if (next === undefined) return 'exhausted'
    const entry = next.shift()
    entries += 1
    bytes += take(entry)
    storedBytes += entry.record.itemBytes
    if (entries >= page.entriesMax) return 'entries'
    if (bytes >= page.bytesMax || storedBytes >= STORED_BYTES_MAX) return 'bytes'
  }
}

/** Where reading stands on one node. */
class Cursor {
  readonly #node: Pick<StorageNode, 'range'>
  readonly #range: MergedRange
  #entries: readonly RangeEntry[] = []
  #position = 0
  #more = true
  #last: KeyBytes | undefined

  constructor(node: Pick<StorageNode, 'range'>, range: MergedRange) {
    this.#node = node
    this.#range = range
  }

  get head(): RangeEntry | undefined {
    return this.#entries[this.#position]
  }

  get needsMore(): boolean {
    return this.#more && this.#position === this.#entries.length
  }

  precedes(other: Cursor): boolean {
    const [mine, theirs] = [this.head?.key ?? '', other.head?.key ?? '']
    return this.#range.reverse ? mine > theirs : mine < theirs
  }

  shift(): RangeEntry {
    const entry = this.#entries[this.#position]
    if (entry === undefined) throw new RangeError('no entry is left in this page')
    this.#position += 1
    return entry
  }

  async fill(entriesMax: number, bytesMax: number): Promise<void> {
    const page = await this.#node.range({ ...this.#rest(), entriesMax, bytesMax })
    this.#entries = page.entries
    this.#position = 0
    this.#more = page.more && page.entries.length > 0
    this.#last = page.entries.at(-1)?.key ?? this.#last
  }

  /** What of the range has not been asked for. */
  #rest(): MergedRange {
    if (this.#last === undefined) return this.#range
    return this.#range.reverse
      ? { ...this.#range, to: this.#last }
      : { ...this.#range, from: keyAfter(this.#last) }
  }
}
