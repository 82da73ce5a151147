// Brings the items of a backup into a table that no request reaches yet.
//
//   entries --> at most so many, by key: the last word on each --> slices of puts and deletes, a turn between them --> nodes
//
// Entries are applied in their order, so what is written of one key last is its last entry. Writes are ordinary ones: they
// go through the journal, and a table that is half loaded when the process ends is one that the next process removes.
import { knobs } from '../model/knobs.js'
import { itemKey } from '../model/key-bytes.js'
import { keyAttributesOf, type ItemKey, type TableShape } from '../model/table.js'
import type { Item } from '../model/value.js'
import type { Runtime } from '../runtime/runtime.js'
import type { StorageNode } from '../storage/contract/storage-node.js'
import type { BackupEntry } from './backup-frame.js'

export interface LoadParts {
  readonly runtime: Runtime
  readonly nodeOf: (hash: number) => StorageNode
  /** The table as it is now; throws if it is gone. Asked for in the same stretch in which writes are called. */
  readonly target: () => TableShape
  readonly entriesMax?: number | undefined
}

const HELD_BYTES_MAX = 1024 * 1024
const SLICE_ENTRIES_MAX = 50
const SLICE_BYTES_MAX = 64 * 1024

interface Held extends BackupEntry {
  readonly key: ItemKey
  readonly item: Item
}

export class TableLoad {
  readonly #parts: LoadParts
  readonly #held = new Map<string, Held>()
  #bytes = 0

  constructor(parts: LoadParts) {
    this.#parts = parts
  }

  async add(entries: readonly BackupEntry[]): Promise<void> {
    const { key: schema } = this.#parts.target()
    let sliceBytes = 0
    for (const entry of entries) {
      const item = parsed(entry.text)
      const key = itemKey(schema, item)
      // Behind the others: their order is that of the last entries.
      this.#held.delete(key.bytes)
      this.#held.set(key.bytes, { ...entry, key, item })
      this.#bytes += entry.text.byteLength
      sliceBytes += entry.text.byteLength
      if (
        this.#held.size >= (this.#parts.entriesMax ?? knobs.loadEntriesMax) ||
        this.#bytes >= HELD_BYTES_MAX
      )
        await this.flush()
      else if (sliceBytes >= SLICE_BYTES_MAX) {
        sliceBytes = 0
        await this.#turn()
      }
    }
  }

  /** Resolves when everything that was added is durable. */
  async flush(): Promise<void> {
    const held = [...this.#held.values()]
    this.#held.clear()
    this.#bytes = 0
    const writes: Promise<void>[] = []
    let [entries, bytes] = [0, 0]
    for (const one of held) {
      const write = this.#write(one)
      // One that fails during a turn is told below, with the others: until then nothing waits for it.
      write.catch(() => undefined)
      writes.push(write)
      entries++
      bytes += one.text.byteLength
      if (entries < SLICE_ENTRIES_MAX && bytes < SLICE_BYTES_MAX) continue
      ;[entries, bytes] = [0, 0]
      await this.#turn()
    }
    await Promise.all(writes)
  }

  async #write({ kind, key, item }: Held): Promise<void> {
    const table = this.#parts.target()
    const { verdict } = await this.#parts.nodeOf(key.hash).write({
      table,
      key,
      keyAttributes: keyAttributesOf(table.key, item),
      mutation: kind === 'put' ? { kind: 'put', item } : { kind: 'delete' },
    })
    if (verdict !== 'done') throw new Error(`an item could not be brought into ${table.name}: ${verdict}`)
  }

  #turn(): Promise<void> {
    return new Promise((resolve) => this.#parts.runtime.defer(resolve))
  }
}

const parsed = ({ buffer, byteOffset, byteLength }: Uint8Array): Item =>
  JSON.parse(Buffer.from(buffer, byteOffset, byteLength).toString()) as Item
