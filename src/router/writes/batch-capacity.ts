// What the writes of one batch consumed together.
import { parseRecord } from '../../line/record.js'
import type { TableShape } from '../../model/table.js'
import type { WriteOutcome } from '../../storage/contract/storage-node.js'
import { consumedByWrite, type Consumed } from '../request/capacity.js'

export function consumedByOutcome(table: TableShape, outcome: WriteOutcome & { verdict: 'done' }): Consumed {
  return consumedByWrite(table, outcome.old?.itemBytes ?? 0, outcome.new?.itemBytes ?? 0, () => ({
    old: outcome.old && parseRecord(outcome.old),
    new: outcome.new && parseRecord(outcome.new),
  }))
}

export function addConsumed(a: Consumed, b: Consumed): Consumed {
  return {
    table: a.table + b.table,
    global: addByIndex(a.global, b.global),
    local: addByIndex(a.local, b.local),
  }
}

function addByIndex(a: Consumed['global'], b: Consumed['global']): ReadonlyMap<string, number> {
  const sum = new Map(a)
  for (const [name, units] of b ?? []) sum.set(name, (sum.get(name) ?? 0) + units)
  return sum
}
