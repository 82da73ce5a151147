// What a transaction consumed: of the tables twice what the same reads and writes cost alone, once to prepare and once to commit; of the
// indexes as much as they cost alone.
import { parseRecord } from '../../line/record.js'
import { applyUpdate } from '../../expression/expression.js'
import { itemBytes, type Item } from '../../model/value.js'
import type { ActionVerdict } from '../../storage/contract/transactions.js'
import type { ItemRecord } from '../../storage/contract/storage-node.js'
import {
  addConsumed,
  type Consumed,
  consumedByWrite,
  consumedCapacity,
  readUnits,
  writeUnits,
} from '../request/capacity.js'
import type { Input, Table } from '../request/context.js'
import type { BoundAction } from './transact-actions.js'

const ROUNDS = 2

export function consumedByWrites(
  input: Input,
  actions: readonly BoundAction[],
  verdicts: readonly ActionVerdict[],
): readonly object[] {
  return byTable(
    input,
    'WriteCapacityUnits',
    actions.map(({ table, action }, at) => {
      const verdict = verdicts[at]
      const old = verdict?.verdict === 'accepted' ? verdict.old : undefined
      return [table, consumedByAction(action, old)]
    }),
  )
}

function consumedByAction(
  { table, mutation, keyAttributes }: BoundAction['action'],
  old?: ItemRecord,
): Consumed {
  const before = old && parseRecord(old)
  if (mutation.kind === 'check') return { table: writeUnits(old?.itemBytes ?? 0) }
  const next = nextImage(mutation, before, keyAttributes)
  return consumedByWrite(table, old?.itemBytes ?? 0, next === undefined ? 0 : itemBytes(next), () => ({
    old: before,
    new: next,
  }))
}

/** As far as can be told from the image at prepare: another transaction may have come between. */
function nextImage(
  mutation: Exclude<BoundAction['action']['mutation'], { kind: 'check' }>,
  before: Item | undefined,
  keyAttributes: Item,
): Item | undefined {
  if (mutation.kind === 'put') return mutation.item
  if (mutation.kind === 'delete') return undefined
  const updated = applyUpdate(mutation.update, before, keyAttributes)
  return 'refusal' in updated ? before : updated.item
}

export function consumedByReads(
  input: Input,
  reads: readonly (readonly [Table, ItemRecord | undefined])[],
): readonly object[] {
  return byTable(
    input,
    'ReadCapacityUnits',
    reads.map(([table, record]) => [table, { table: readUnits(record?.itemBytes ?? 0, true) }]),
  )
}

/** One entry for each table, in the order of the request. */
function byTable(
  input: Input,
  unitsMember: 'ReadCapacityUnits' | 'WriteCapacityUnits',
  each: readonly (readonly [Table, Consumed])[],
): readonly object[] {
  const sums = new Map<string, Consumed>()
  for (const [{ name }, consumed] of each) {
    sums.set(name, addConsumed(sums.get(name) ?? { table: 0 }, consumed))
  }
  return [...sums].flatMap(([name, sum]) => {
    const answer = consumedCapacity(input['ReturnConsumedCapacity'], name, doubled(sum))
    return answer === undefined ? [] : [withUnits(answer, unitsMember)]
  })
}

const doubled = (sum: Consumed): Consumed => ({ ...sum, table: sum.table * ROUNDS })

/** Transactions tell reads and writes apart, wherever units are told. */
function withUnits(value: object, unitsMember: string): object {
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]: [string, unknown]) => {
      if (name === 'CapacityUnits')
        return [
          ['CapacityUnits', inner],
          [unitsMember, inner],
        ]
      return [[name, typeof inner === 'object' && inner !== null ? withUnits(inner, unitsMember) : inner]]
    }),
  )
}
