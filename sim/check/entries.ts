// Judges the entries that follow items: those of a node are the ones that its items imply, no more and no fewer.
import type { KeyBytes, SpaceId } from '../../src/model/brand.js'
import { itemKey } from '../../src/model/key-bytes.js'
import type { TableShape } from '../../src/model/table.js'
import type { Item } from '../../src/model/value.js'
import { forEachEntry } from '../../src/storage/items/index-entries.js'
import { type Anomaly, Findings } from './anomaly.js'

/** `found`: what is in a space of the node. */
export function judgeEntries(
  node: string,
  table: TableShape,
  items: readonly Item[],
  found: (space: SpaceId) => readonly KeyBytes[],
): readonly Anomaly[] {
  const findings = new Findings()
  const spaces = [...table.indexes.map(({ space }) => space), ...(table.expiry ? [table.expiry.space] : [])]
  const implied = new Map(spaces.map((space) => [space, new Map<KeyBytes, Item>()]))
  for (const item of items) {
    forEachEntry(table, itemKey(table.key, item), { old: undefined, new: item }, (space, _, key) => {
      if (key !== undefined) implied.get(space)?.set(key, item)
    })
  }
  for (const [space, wanted] of implied) {
    const there = new Set(found(space))
    for (const [key, item] of wanted) {
      if (!there.has(key))
        findings.add('entry-missing', `${node} has no entry in space ${space} for ${JSON.stringify(item)}`)
    }
    for (const key of there) {
      if (!wanted.has(key))
        findings.add(
          'entry-left',
          `${node} has an entry in space ${space} that no item implies: ${JSON.stringify(key)}`,
        )
    }
  }
  return findings.all
}
