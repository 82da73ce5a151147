// Stands in for the storage node until it is there.
import { expiryEntryKey, indexEntryKey, itemKey } from '../../src/model/key-bytes.js'
import type { KeyBytes, Lsn, SpaceId, Timestamp } from '../../src/model/brand.js'
import type { ItemKey, TableShape } from '../../src/model/table.js'
import { attribute, type Item } from '../../src/model/value.js'
import type { Runtime } from '../../src/runtime/runtime.js'
import type { ItemRecord, RangeEntry, StorageNode } from '../../src/storage/storage-node.js'

export function memoryNode(_runtime: Runtime): StorageNode {
  const spaces = new Map<SpaceId, Map<KeyBytes, string>>()
  const meta = new Map<string, Uint8Array>()
  const space = (id: SpaceId): Map<KeyBytes, string> => {
    let found = spaces.get(id)
    if (found === undefined) spaces.set(id, (found = new Map()))
    return found
  }
  const record = (json: string): ItemRecord => ({
    timestamp: 1 as Timestamp,
    lsn: 1 as Lsn,
    itemBytes: json.length,
    json: Buffer.from(json),
  })
  const sorted = (id: SpaceId): KeyBytes[] => [...space(id).keys()].toSorted()
  const entryKeys = (table: TableShape, key: ItemKey, json: string | undefined): [SpaceId, KeyBytes][] => {
    if (json === undefined) return []
    const item = JSON.parse(json) as Item
    const keys: [SpaceId, KeyBytes][] = []
    for (const index of table.indexes) {
      const entry = indexEntryKey(index, item, key)
      if (entry !== undefined) keys.push([index.space, entry])
    }
    const expiry = table.expiry && attribute(item, table.expiry.attribute)
    if (table.expiry && expiry && 'N' in expiry)
      keys.push([table.expiry.space, expiryEntryKey(Number(expiry.N), key)])
    return keys
  }
  return {
    get: async (id, key) => {
      const json = space(id).get(key.bytes)
      return json === undefined ? undefined : record(json)
    },
    write: async ({ table, key, mutation, condition }) => {
      const items = space(table.space)
      const old = items.get(key.bytes)
      if (condition) {
        const name = condition.bindings.names.get('#expiry') as string
        const seen = JSON.stringify(condition.bindings.values.get(':seen'))
        const now = old === undefined ? undefined : attribute(JSON.parse(old) as Item, name)
        if (JSON.stringify(now) !== seen) return { verdict: 'condition-failed' }
      }
      for (const [id, entry] of entryKeys(table, key, old)) space(id).delete(entry)
      const next = mutation.kind === 'put' ? JSON.stringify(mutation.item) : undefined
      if (next === undefined) items.delete(key.bytes)
      else items.set(key.bytes, next)
      for (const [id, entry] of entryKeys(table, key, next)) space(id).set(entry, key.bytes)
      return { verdict: 'done' }
    },
    range: async ({ space: id, itemSpace, from, to, entriesMax }) => {
      const keys = sorted(id).filter((key) => key >= from && (to === undefined || key < to))
      const entries: RangeEntry[] = keys.slice(0, entriesMax).map((key) => {
        const value = space(id).get(key) as string
        return {
          key,
          record: record(
            itemSpace === undefined ? value : (space(itemSpace).get(value as KeyBytes) as string),
          ),
        }
      })
      return { entries, more: keys.length > entriesMax }
    },
    writeMeta: async (entries) => {
      for (const { name, value } of entries)
        if (value === undefined) meta.delete(name)
        else meta.set(name, value)
    },
    readMeta: async (prefix) =>
      [...meta].filter(([name]) => name.startsWith(prefix)).map(([name, value]) => ({ name, value })),
    backfill: async ({ table, index, from, itemsMax }) => {
      const id = index === 'expiry' ? table.expiry?.space : index.space
      const keys = sorted(table.space).filter((key) => key >= from)
      for (const key of keys.slice(0, itemsMax)) {
        const json = space(table.space).get(key) as string
        const made = itemKey(table.key, JSON.parse(json) as Item)
        for (const [at, entry] of entryKeys(table, made, json)) if (at === id) space(at).set(entry, key)
      }
      return keys[itemsMax]
    },
    sweep: async (id, entriesMax) => {
      for (const key of sorted(id).slice(0, entriesMax)) space(id).delete(key)
      return space(id).size === 0
    },
    expired: async () => [],
    count: (id) => ({
      items: space(id).size,
      bytes: [...space(id).values()].reduce((sum, value) => sum + value.length, 0),
    }),
    close: async () => {},
  }
}
