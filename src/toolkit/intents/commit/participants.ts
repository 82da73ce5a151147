// From what a unit did to what its commit consists of: the items to write or lock, each with what it must still be and
// what is to become of it, and the items and ranges that must still be as they were seen.
import { DynamoError } from '../../../model/errors.js'
import { itemBytes, type Item } from '../../../model/value.js'
import { ConditionFailed } from '../../endpoint/errors.js'
import type { UnitAction, ItemAddress, TableLayout, CommitWork } from '../../unit/protocol.js'
import { invalidWrite } from '../../unit/naming.js'
import { described } from '../../unit/layout.js'
import { unmarshallItem } from '../../values/values.js'
import type { RequestUsage } from '../context/caller.js'
import { evaluateAction } from '../protocol/evaluate.js'
import { isGuardRecord } from '../items/guards.js'
import { addressText, redoOf } from '../protocol/images.js'
import { ItemReader } from '../items/look.js'
import type { Redo } from '../protocol/records.js'
import { type BaseVersion, baseOf } from '../protocol/requests.js'
import type { WorkSummary } from '../protocol/rules.js'
import { changed } from '../items/settle.js'
import type { IntentsContext } from '../context/context.js'
import { isBare, type Observed } from '../items/validate.js'

/** An item that the transaction locks. */
export interface IntentParticipant extends ItemAddress {
  readonly layout: TableLayout
  readonly base: BaseVersion
  /** The image that it must still have, where it has one. */
  readonly expected?: Item
  readonly redo: Exclude<Redo, { act: 'spilled' }>
  /** A guard that is written whatever its version was. */
  readonly touch: boolean
}

/** A write whose item has not been looked at. */
export interface Blind {
  readonly action: UnitAction
  readonly layout: TableLayout
  /** It is a guard: only its version is written. */
  readonly touch: boolean
}

/** An action and the item as it was seen. */
interface Known {
  readonly action: UnitAction
  readonly layout: TableLayout
  readonly seen: Observed
  /** The unit itself has read it. */
  readonly read: boolean
  readonly touch: boolean
}

export interface Work {
  readonly blind: readonly Blind[]
  readonly writes: readonly Known[]
  /** Read or checked, not written. */
  readonly observed: readonly Observed[]
}

/** Sorts the work of a unit. `validated`: the level at which it runs validates its reads. */
export async function workOf(
  space: IntentsContext,
  unit: CommitWork,
  validated: boolean,
  usage: RequestUsage,
): Promise<Work> {
  const isGuard = ({ table, key }: ItemAddress): boolean => table === space.records && isGuardRecord(key)
  const reads = new Map<string, Observed>()
  for (const { table, key, item, version } of validated ? unit.reads : [])
    reads.set(addressText(table, key), {
      table,
      key,
      ...(item !== undefined && { item }),
      ...(version !== undefined && { version: String(version) }),
      ...(isGuard({ table, key }) && { isGuard: true }),
    })
  const blind: Blind[] = []
  const writes: Known[] = []
  const checks: Blind[] = []
  const observed = new Map(reads)
  for (const action of unit.actions) {
    const layout = await space.layouts.of(action.table)
    const text = addressText(action.table, action.key)
    const seen = reads.get(text)
    if (action.kind === 'check') {
      if (seen === undefined) checks.push({ action, layout, touch: false })
      else evaluated({ action, layout, seen, read: true, touch: false })
      continue
    }
    observed.delete(text)
    if (seen === undefined) blind.push({ action, layout, touch: isGuard(action) })
    else writes.push({ action, layout, seen, read: true, touch: false })
  }
  for (const { seen, ...known } of await lookAt(space, checks, usage)) {
    evaluated({ seen, ...known })
    observed.set(addressText(seen.table, seen.key), seen)
  }
  return { blind, writes, observed: [...observed.values()] }
}

/** Looks at the items of blind writes, so that they are blind no more. */
export async function lookAt(
  space: IntentsContext,
  blind: readonly Blind[],
  usage: RequestUsage,
): Promise<Known[]> {
  const looks = await new ItemReader(space, usage).items(blind.map(({ action }) => action))
  return blind.map(({ action, layout, touch }, at) => {
    const { item, version } = looks[at]!
    const { table, key } = action
    const seen = {
      table,
      key,
      ...(item !== undefined && { item }),
      ...(version !== undefined && { version }),
    }
    return { action, layout, seen, read: false, touch }
  })
}

export function memberOf(known: Known): IntentParticipant {
  const { action, layout, seen, touch } = known
  const after = evaluated(known)
  const { item, version } = seen
  return {
    table: action.table,
    key: action.key,
    layout,
    base: baseOf(item, version),
    ...(item !== undefined && { expected: item }),
    redo: after === undefined ? { act: 'delete' } : redoOf(item ?? {}, after),
    touch,
  }
}

/** An item that is only locked, because nothing but its image or its absence can be compared. */
export const lockOf = (seen: Observed, layout: TableLayout): IntentParticipant => ({
  table: seen.table,
  key: seen.key,
  layout,
  base: baseOf(seen.item, seen.version),
  ...(seen.item !== undefined && { expected: seen.item }),
  redo: { act: 'keep' },
  touch: false,
})

/** The image after the action. Throws what a caller can react to. */
function evaluated({ action, layout, seen }: Known): Item | undefined {
  const evaluation = evaluateAction(action, layout, seen.item)
  if (evaluation.verdict === 'fine') return evaluation.after
  if (evaluation.verdict === 'condition')
    throw action.pinned ? changed(action, seen.version) : conditionFailed(action, seen.item)
  throw invalidWrite(action, evaluation.message)
}

export const conditionFailed = (address: ItemAddress, item: Item | undefined): ConditionFailed =>
  new ConditionFailed(
    `A condition does not hold for ${described(address)}.`,
    { table: address.table, key: unmarshallItem(address.key) },
    { item: item && unmarshallItem(item) },
  )

/** The unit itself is to blame, so trying again would not help, if what it read was right. */
export const isUnitRefusal = (error: unknown): boolean =>
  error instanceof ConditionFailed || error instanceof DynamoError

export function summaryOf(work: Work, ranges: number, begun: boolean): WorkSummary {
  const { blind, writes, observed } = work
  const isUnversioned = ({ item, version }: Observed): boolean => item !== undefined && version === undefined
  // A put or delete without a condition is right whatever was there.
  const pinnedByImage = writes.filter(
    ({ action, seen, read }) =>
      isUnversioned(seen) && (read || action.kind === 'update' || action.expressions.condition !== undefined),
  )
  return {
    writes: blind.length + writes.length,
    blind: blind.length,
    observed: observed.length,
    absent: observed.filter((seen) => isBare(seen) && seen.item === undefined).length,
    unversioned: pinnedByImage.length + observed.filter(isUnversioned).length,
    ranges,
    bytes: [...blind, ...writes].reduce((sum, { action }) => sum + actionBytes(action), 0),
    begun,
  }
}

function actionBytes({ item, key, expressions }: UnitAction): number {
  const { update = '', condition = '', values } = expressions
  return (
    itemBytes(item ?? key) + update.length + condition.length + (values === undefined ? 0 : itemBytes(values))
  )
}
