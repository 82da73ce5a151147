// Several steps of a unit on one item become one action, because a commit has one action for an item.
//
//   untouched --condition--> the endpoint checks it
//      |--put, delete--> known image: later conditions and updates are evaluated here
//      '--update-------> changed, image unknown: later updates are composed with it where they can be
//                          '--otherwise: the item is needed, and the action is pinned to what was looked at of it
//
// Pure: the unit loads, asks, and sends the answer.
import { applyUpdate, conditionAttributes, evaluateCondition } from '../../expression/expression.js'
import type { BoundCondition, BoundUpdate } from '../../expression/parse/types.js'
import { sameValue } from '../../model/compare.js'
import { validationError } from '../../model/errors.js'
import { itemBytes, attribute, type Item, type MutableItem } from '../../model/value.js'
import { composed, lookedAtNames, placedActions, printedUpdate, targetName } from './compose-update.js'
import type { PlacedAction } from './compose-update.js'
import { boundCondition, boundUpdate, combined, type Expression } from './expressions.js'
import type { UnitStatement } from '../../port/unit-port.js'
import type { UnitAction, ItemAddress } from './protocol.js'

/** One call of put, update, delete or check; or an action of a unit that is gone on with. */
export type UnitCall = {
  /** As in UnitAction. */
  readonly pinned?: true
  readonly statements?: readonly UnitStatement[]
} & (
  | { readonly kind: 'put'; readonly item: Item; readonly condition?: Expression }
  | { readonly kind: 'update'; readonly update: Expression; readonly condition?: Expression }
  | { readonly kind: 'delete'; readonly condition?: Expression }
  | { readonly kind: 'check'; readonly condition: Expression }
)

/** Roughly what a step takes in memory. */
export function stepBytes(step: UnitCall): number {
  if (step.kind === 'put') return itemBytes(step.item)
  const update = step.kind === 'update' ? step.update : undefined
  let bytes = 0
  for (const one of [update, step.condition]) {
    if (one !== undefined) bytes += one.text.length + (one.values === undefined ? 0 : itemBytes(one.values))
  }
  return bytes
}

export function unitCallOf(action: UnitAction): UnitCall {
  const call = plainCallOf(action)
  return action.statements === undefined ? call : { ...call, statements: action.statements }
}

function plainCallOf({ kind, item, expressions, pinned }: UnitAction): UnitCall {
  const { update, condition, names, values } = expressions
  const rest = { ...(names !== undefined && { names }), ...(values !== undefined && { values }) }
  const conditioned = {
    ...(pinned && ({ pinned } as const)),
    ...(condition !== undefined && { condition: { text: condition, ...rest } }),
  }
  if (kind === 'put') return { kind, item: item ?? {}, ...conditioned }
  if (kind === 'update') return { kind, update: { text: update ?? '', ...rest }, ...conditioned }
  if (kind === 'delete') return { kind, ...conditioned }
  return { kind, ...conditioned, condition: { text: condition ?? '', ...rest } }
}

/** The item as it was read; `item` is absent where there was none. */
export interface ReadImage {
  readonly item?: Item
}

export type Folded =
  | { readonly type: 'action'; readonly action: UnitAction }
  /** Ask again with the item. */
  | { readonly type: 'needs-base' }
  /** A condition does not hold on what the unit itself has written before. */
  | { readonly type: 'condition-failed'; readonly condition: string }

export function fold(address: ItemAddress, steps: readonly UnitCall[], base: ReadImage | undefined): Folded {
  if (steps.length === 1) return { type: 'action', action: single(address, steps[0]!) }
  let state: State = { type: 'untouched' }
  const conditions: Expression[] = []
  for (const step of steps) {
    if (step.condition !== undefined) {
      const verdict = conditionVerdict(state, address, step.condition)
      if (verdict === 'needs-base') return pinned(address, steps, base)
      if (verdict === 'on-base') conditions.push(step.condition)
      if (verdict === 'failed') return { type: 'condition-failed', condition: step.condition.text }
    }
    const next = after(state, address, step)
    if (next === 'needs-base') return pinned(address, steps, base)
    state = next
  }
  const action = actionOf(state, address, conditions)
  return { type: 'action', action: steps[0]?.pinned === true ? { ...action, pinned: true } : action }
}

/** The item as the unit sees it after its own steps, or what is needed to tell. */
export function imageAfter(
  { key }: ItemAddress,
  steps: readonly UnitCall[],
  base: ReadImage | undefined,
): ReadImage | 'needs-base' {
  const from = lastReplacing(steps)
  if (from < 0 && base === undefined) return 'needs-base'
  let image = from < 0 ? base?.item : undefined
  for (const step of steps.slice(Math.max(from, 0))) {
    if (step.kind === 'put') image = step.item
    else if (step.kind === 'delete') image = undefined
    else if (step.kind === 'update') image = updated(boundUpdate(step.update), image, key)
  }
  return image === undefined ? {} : { item: image }
}

/** Whether any step changes the item. */
export const changesItem = (steps: readonly UnitCall[]): boolean =>
  steps.some((step) => step.kind !== 'check')

/** Whether what the item becomes depends on what it was. */
export const dependsOnBase = (steps: readonly UnitCall[]): boolean =>
  lastReplacing(steps) < 0 && changesItem(steps)

const lastReplacing = (steps: readonly UnitCall[]): number =>
  steps.findLastIndex((step) => step.kind === 'put' || step.kind === 'delete')

type State =
  | { readonly type: 'untouched' }
  | { readonly type: 'image'; readonly item: Item | undefined }
  | { readonly type: 'changed'; readonly actions: readonly PlacedAction[] }

function single({ table, key }: ItemAddress, step: UnitCall): UnitAction {
  const { kind } = step
  const pinned = step.pinned ?? false
  const expressions = combined(kind === 'update' ? step.update : undefined, step.condition)
  if (kind === 'put') return { table, key, kind, item: step.item, expressions, pinned }
  if (kind !== 'update' || step.update.bound === undefined) return { table, key, kind, expressions, pinned }
  return { table, key, kind, expressions, bound: step.update.bound, pinned }
}

function conditionVerdict(
  state: State,
  { key }: ItemAddress,
  condition: Expression,
): 'holds' | 'failed' | 'on-base' | 'needs-base' {
  switch (state.type) {
    case 'untouched':
      return 'on-base'
    case 'image':
      return evaluateCondition(boundCondition(condition), state.item) ? 'holds' : 'failed'
    case 'changed': {
      // An update makes sure that the item is there, so the key counts as changed, too.
      const changed = new Set([...state.actions.map(targetName), ...Object.keys(key)])
      const names = conditionNames(boundCondition(condition))
      return names.some((name) => changed.has(name)) ? 'needs-base' : 'on-base'
    }
  }
}

function after(state: State, { key }: ItemAddress, step: UnitCall): State | 'needs-base' {
  switch (step.kind) {
    case 'check':
      return state
    case 'put':
      return { type: 'image', item: step.item }
    case 'delete':
      return { type: 'image', item: undefined }
    case 'update': {
      const update = boundUpdate(step.update)
      if (state.type === 'image') return { type: 'image', item: updated(update, state.item, key) }
      if (state.type === 'untouched') return { type: 'changed', actions: placedActions(update) }
      const actions = composed(state.actions, placedActions(update))
      return actions === undefined ? 'needs-base' : { type: 'changed', actions }
    }
  }
}

function actionOf(state: State, address: ItemAddress, conditions: readonly Expression[]): UnitAction {
  const common = { ...address, pinned: false }
  switch (state.type) {
    case 'untouched':
      return { ...common, kind: 'check', expressions: combined(undefined, ...conditions) }
    case 'image': {
      const expressions = combined(undefined, ...conditions)
      return state.item === undefined
        ? { ...common, kind: 'delete', expressions }
        : { ...common, kind: 'put', item: state.item, expressions }
    }
    case 'changed':
      return { ...common, kind: 'update', expressions: combined(printedUpdate(state.actions), ...conditions) }
  }
}

/** Evaluated step by step on the item; the action holds only if all that was looked at is still so. */
function pinned(address: ItemAddress, steps: readonly UnitCall[], base: ReadImage | undefined): Folded {
  if (base === undefined) return { type: 'needs-base' }
  const { key } = address
  const lookedAt = new Set<string>()
  let image = base.item
  for (const step of steps) {
    if (step.condition !== undefined) {
      const condition = boundCondition(step.condition)
      for (const name of conditionNames(condition)) lookedAt.add(name)
      if (!evaluateCondition(condition, image))
        return { type: 'condition-failed', condition: step.condition.text }
    }
    if (step.kind === 'put') image = step.item
    else if (step.kind === 'delete') image = undefined
    else if (step.kind === 'update') {
      const update = boundUpdate(step.update)
      for (const placed of placedActions(update)) {
        lookedAt.add(targetName(placed))
        for (const name of lookedAtNames(placed)) lookedAt.add(name)
      }
      image = updated(update, image, key)
    }
  }
  const replaced = lastReplacing(steps) >= 0
  return { type: 'action', action: pinnedAction(address, base.item, image, { lookedAt, replaced }) }
}

function pinnedAction(
  address: ItemAddress,
  before: Item | undefined,
  image: Item | undefined,
  { lookedAt, replaced }: { readonly lookedAt: ReadonlySet<string>; readonly replaced: boolean },
): UnitAction {
  const pins = pinsOf(address.key, before, lookedAt)
  const common = { ...address, pinned: true }
  if (image === undefined) {
    const kind = before === undefined ? 'check' : 'delete'
    return { ...common, kind, expressions: combined(undefined, pins) }
  }
  if (before === undefined || replaced)
    return { ...common, kind: 'put', item: image, expressions: combined(undefined, pins) }
  const change = difference(before, image)
  return change === undefined
    ? { ...common, kind: 'check', expressions: combined(undefined, pins) }
    : { ...common, kind: 'update', expressions: combined(change, pins) }
}

/** Holds if the item is there, or not, as before, and the attributes that were looked at are the same. */
function pinsOf(key: Item, before: Item | undefined, lookedAt: ReadonlySet<string>): Expression {
  const names: Record<string, string> = { '#k': Object.keys(key)[0]! }
  if (before === undefined) return { text: 'attribute_not_exists(#k)', names }
  const values: MutableItem = {}
  const terms = ['attribute_exists(#k)']
  for (const name of lookedAt) {
    if (Object.hasOwn(key, name)) continue
    const at = terms.length
    names[`#p${at}`] = name
    const value = attribute(before, name)
    if (value === undefined) {
      terms.push(`attribute_not_exists(#p${at})`)
    } else {
      values[`:p${at}`] = value
      terms.push(`#p${at} = :p${at}`)
    }
  }
  return { text: terms.join(' AND '), names, ...(Object.keys(values).length > 0 && { values }) }
}

/** An update that makes the one image of the other, attribute by attribute; undefined if they are the same. */
function difference(before: Item, image: Item): Expression | undefined {
  const names: Record<string, string> = {}
  const values: MutableItem = {}
  const set: string[] = []
  const removed: string[] = []
  for (const name of new Set([...Object.keys(before), ...Object.keys(image)])) {
    const old = attribute(before, name)
    const value = attribute(image, name)
    if (old !== undefined && value !== undefined && sameValue(old, value)) continue
    const at = set.length + removed.length
    names[`#d${at}`] = name
    if (value === undefined) {
      removed.push(`#d${at}`)
    } else {
      values[`:d${at}`] = value
      set.push(`#d${at} = :d${at}`)
    }
  }
  if (set.length + removed.length === 0) return undefined
  const sections = [
    ...(set.length > 0 ? [`SET ${set.join(', ')}`] : []),
    ...(removed.length > 0 ? [`REMOVE ${removed.join(', ')}`] : []),
  ]
  return { text: sections.join(' '), names, ...(set.length > 0 && { values }) }
}

const conditionNames = (condition: BoundCondition): readonly string[] =>
  conditionAttributes(condition).map(([name]) => String(name))

function updated(update: BoundUpdate, image: Item | undefined, key: Item): Item | undefined {
  const result = applyUpdate(update, image, key)
  if ('refusal' in result) throw validationError(result.refusal)
  return result.item
}
