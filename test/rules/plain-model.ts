// What transactions mean, without any protocol: actions on plain images, one after another in timestamp order.
import type { Action } from '../../src/rules/item/contended-item.js'
import { actionOn } from './plain-values.js'

export type Fields = Readonly<Record<string, number>>
export type PlainImage = Fields | undefined

/** One of few fields, so that actions meet. */
export type Field = 'n' | 'm'

export type Intent =
  | { readonly kind: 'put'; readonly item: Fields; readonly condition?: Guard | undefined }
  | { readonly kind: 'delete'; readonly condition?: Guard | undefined }
  | { readonly kind: 'update'; readonly change: Change; readonly condition?: Guard | undefined }
  | { readonly kind: 'check'; readonly condition: Guard }

export type Change =
  | { readonly do: 'set' | 'add' | 'increase'; readonly field: Field; readonly by: number }
  | { readonly do: 'remove'; readonly field: Field }
  | { readonly do: 'copy'; readonly from: Field; readonly to: Field }

export type Guard =
  | { readonly test: '=' | '<' | '>='; readonly field: Field; readonly value: number }
  | { readonly expected: boolean; readonly field: Field | 'id' }

/** The image afterwards; `refused` if the condition fails or the update is not possible. */
export function outcomeOf(intent: Intent, image: PlainImage): { readonly image: PlainImage } | 'refused' {
  if (intent.condition !== undefined && !holds(intent.condition, image)) return 'refused'
  switch (intent.kind) {
    case 'put':
      return { image: intent.item }
    case 'delete':
      return { image: undefined }
    case 'check':
      return { image }
    case 'update':
      // What only takes away creates nothing.
      return image === undefined && intent.change.do === 'remove'
        ? { image }
        : changed(intent.change, image ?? {})
  }
}

function holds(guard: Guard, image: PlainImage): boolean {
  if ('expected' in guard) {
    const present = guard.field === 'id' ? image !== undefined : image?.[guard.field] !== undefined
    return present === guard.expected
  }
  const value = image?.[guard.field]
  if (value === undefined) return false
  return guard.test === '='
    ? value === guard.value
    : guard.test === '<'
      ? value < guard.value
      : value >= guard.value
}

function changed(change: Change, fields: Fields): { readonly image: PlainImage } | 'refused' {
  switch (change.do) {
    case 'set':
      return { image: { ...fields, [change.field]: change.by } }
    case 'add':
      return { image: { ...fields, [change.field]: (fields[change.field] ?? 0) + change.by } }
    case 'increase': {
      const value = fields[change.field]
      return value === undefined ? 'refused' : { image: { ...fields, [change.field]: value + change.by } }
    }
    case 'remove': {
      const { [change.field]: _, ...rest } = fields
      return { image: rest }
    }
    case 'copy': {
      const value = fields[change.from]
      return value === undefined ? 'refused' : { image: { ...fields, [change.to]: value } }
    }
  }
}

/** The same for the rules, through the real expressions. */
export function actionOf(name: string, intent: Intent): Action {
  const condition = intent.condition && guardText(intent.condition)
  switch (intent.kind) {
    case 'put':
      return actionOn(name, { kind: 'put', item: intent.item }, condition)
    case 'update':
      return actionOn(name, { kind: 'update', text: changeText(intent.change) }, condition)
    case 'delete':
    case 'check':
      return actionOn(name, { kind: intent.kind }, condition)
  }
}

function guardText(guard: Guard): string {
  if ('expected' in guard) return `attribute_${guard.expected ? 'exists' : 'not_exists'}(${guard.field})`
  return `${guard.field} ${guard.test} ${guard.value}`
}

function changeText(change: Change): string {
  switch (change.do) {
    case 'set':
      return `set ${change.field} = ${change.by}`
    case 'add':
      return `add ${change.field} ${change.by}`
    case 'increase':
      return `set ${change.field} = ${change.field} + ${change.by}`
    case 'remove':
      return `remove ${change.field}`
    case 'copy':
      return `set ${change.to} = ${change.from}`
  }
}
