// Guards: one record for each partition of a table that has them. Whoever writes in the partition writes the guard, too;
// whoever queried it need not read the range again at the commit, because the guard is the same only if nobody did.
//
//   query    the guard is read, then the rows      commit   the guard's version is compared like that of any item read
//   write    + one write: the guard's version      commit   two writers of one partition meet at its guard, and go in turn
//
// A guard is a participant like any other and has no attributes of its own: its version is all there is to it. Once
// written it stays for good, so that its absence, too, is the same only if nobody has written in the partition.
import { createHash } from 'node:crypto'
import { openExpressions } from '../../../expression/expression.js'
import { type AttributeValue, attribute, type Item } from '../../../model/value.js'
import type { UnitAction, ItemAddress, UnitRange, TableLayout, CommitWork } from '../../unit/protocol.js'
import type { RequestUsage } from '../context/caller.js'
import { addressText } from '../protocol/images.js'
import { ItemReader } from './look.js'
import { GUARD_PART, recordKey } from '../protocol/records.js'
import type { IntentsContext } from '../context/context.js'
import type { Observed } from './validate.js'

/** Of what a guard's id says in clear; longer ones are digested, because DynamoDB's keys end at 2,048 bytes. */
const GUARD_ID_BYTES_MAX = 1_024

export function guardAddress(records: string, table: string, partition: AttributeValue): ItemAddress {
  const [[type, value]] = Object.entries(partition) as [[string, string]]
  const clear = `guard/${table}/${type}/${value}`
  const id =
    Buffer.byteLength(clear) <= GUARD_ID_BYTES_MAX
      ? clear
      : `guard/${table}/sha256/${createHash('sha256').update(`${type}/${value}`).digest('base64url')}`
  return { table: records, key: recordKey(id, GUARD_PART) }
}

/** Told by a record of the record table. */
export function isGuardRecord(record: Item): boolean {
  const part = attribute(record, 'part')
  return part !== undefined && 'S' in part && part.S === GUARD_PART
}

/** The guards that one attempt has looked at, each once and before the rows that it stands for. */
export class SeenGuards {
  readonly #seen: Map<string, Promise<Observed>>

  constructor(resumed: readonly Observed[]) {
    this.#seen = new Map(
      resumed.map((guard) => [addressText(guard.table, guard.key), Promise.resolve(guard)]),
    )
  }

  /** False where this range has no guard that is relied on: it must be read again. */
  async look(
    space: IntentsContext,
    layout: TableLayout,
    range: UnitRange,
    mine: string,
    usage: RequestUsage,
  ): Promise<boolean> {
    if (space.guards[range.table] !== 'rely' || range.keyCondition === undefined) return false
    assertPartitions(layout)
    const { names, values, keyCondition } = range
    const expressions = openExpressions({
      ...(names !== undefined && { ExpressionAttributeNames: names }),
      ...(values !== undefined && { ExpressionAttributeValues: values }),
    })
    const index = layout.indexes.find(({ name }) => name === range.index)
    const { partition } = expressions.keyCondition(keyCondition, index?.key ?? layout.key)
    const address = guardAddress(space.records, range.table, partition)
    const text = addressText(address.table, address.key)
    let seen = this.#seen.get(text)
    if (seen === undefined) {
      seen = lookAtGuard(space, address, mine, usage)
      this.#seen.set(text, seen)
    }
    try {
      await seen
    } catch (error) {
      this.#seen.delete(text)
      throw error
    }
    return true
  }

  all(): Promise<Observed[]> {
    return Promise.all(this.#seen.values())
  }
}

async function lookAtGuard(
  space: IntentsContext,
  address: ItemAddress,
  mine: string,
  usage: RequestUsage,
): Promise<Observed> {
  const [look] = await new ItemReader(space, usage, mine).items([address])
  const { item, version } = look!
  return {
    ...address,
    ...(item !== undefined && { item }),
    ...(version !== undefined && { version }),
    isGuard: true,
  }
}

/** The work of a unit with the guards that it has seen among its reads, and those that it must write among its actions. */
export async function guardedWork(
  space: IntentsContext,
  unit: CommitWork,
  seen: readonly Observed[],
): Promise<CommitWork> {
  const touched = new Map<string, ItemAddress>()
  for (const { kind, table, key } of unit.actions) {
    if (kind === 'check' || space.guards[table] === undefined) continue
    const layout = await space.layouts.of(table)
    assertPartitions(layout)
    const guard = guardAddress(space.records, table, attribute(key, layout.key.partition.name)!)
    touched.set(addressText(guard.table, guard.key), guard)
  }
  if (touched.size + seen.length === 0) return unit
  return {
    ...unit,
    reads: [...unit.reads, ...seen],
    actions: [...unit.actions, ...[...touched.values()].map(touching)],
  }
}

const touching = (address: ItemAddress): UnitAction => ({
  ...address,
  kind: 'update',
  expressions: {},
  pinned: false,
})

function assertPartitions({ name, key }: TableLayout): void {
  if (key.sort === undefined)
    throw new TypeError(`the table ${name} has no sort key: no query of it needs a guard`)
}
