// An update given by attribute instead of as a text: what to set, to add and to remove. Its text is made as a caller would
// write it, and applications make the same few again and again with other values, so all but the values is remembered.
import { DynamoError } from '../../model/errors.js'
import { parseAttributeValue } from '../../model/parse-value.js'
import { typeOf, type AttributeValue, type Item, type MutableItem } from '../../model/value.js'
import { bindUpdate, isAddable } from '../bind/bind-update.js'
import { TextCache } from '../parse/cache.js'
import { parseUpdate } from '../parse/parse-update.js'
import { Placeholders } from '../bind/placeholders.js'
import type { UpdateNode } from '../parse/tree.js'
import type { BoundUpdate } from '../parse/types.js'

/** One attribute; a removed one has no value. */
export interface PlainAction {
  readonly type: 'set' | 'add' | 'remove'
  readonly name: string
  readonly value?: AttributeValue
}

export interface PlainUpdate {
  readonly text: string
  readonly names: Readonly<Record<string, string>>
  /** Absent if nothing is set or added. */
  readonly values?: Item
  /** Absent if something is wrong with it: whoever is sent the text says what. */
  readonly bound?: BoundUpdate
}

/** The same update whatever the values are. */
interface Form {
  readonly text: string
  readonly names: Readonly<Record<string, string>>
  readonly nameByPlaceholder: ReadonlyMap<string, string>
  /** Absent if no values could make it right. */
  readonly tree: UpdateNode | undefined
}

const forms = new TextCache<Form>({ entriesMax: 1000, charactersMax: 512 * 1024 })

/**
 * @example
 * plainUpdate([{ type: 'set', name: 'status', value: { S: 'paid' } }]).text // 'SET #n0 = :v0'
 */
export function plainUpdate(actions: readonly PlainAction[]): PlainUpdate {
  let key = ''
  // With its length a name cannot be taken for something else.
  for (const { type, name } of actions) key += `${type}${name.length} ${name}`
  const { text, names, nameByPlaceholder, tree } = forms.get(key, () => formOf(actions))
  const values: MutableItem = {}
  const valueByPlaceholder = new Map<string, AttributeValue>()
  let isRight = tree !== undefined
  for (let at = 0; at < actions.length; at++) {
    const { type, value } = actions[at]!
    if (value === undefined) continue
    const placeholder = `:v${at}`
    values[placeholder] = value
    const parsed = parsedValue(value)
    isRight &&= parsed !== undefined && (type !== 'add' || isAddable(typeOf(parsed)))
    if (parsed !== undefined) valueByPlaceholder.set(placeholder, parsed)
  }
  const bound =
    isRight && tree !== undefined
      ? { bound: { tree, bindings: { names: nameByPlaceholder, values: valueByPlaceholder } } }
      : undefined
  return valueByPlaceholder.size > 0 || Object.keys(values).length > 0
    ? { text, names, values, ...bound }
    : { text, names, ...bound }
}

const WORDS = { set: ['SET', ' = '], add: ['ADD', ' '], remove: ['REMOVE', ''] } as const

/** Sections in the order of their first action; an action's place in the list is the number of its placeholders. */
function formOf(actions: readonly PlainAction[]): Form {
  const names: Record<string, string> = {}
  const sections = new Map<PlainAction['type'], string[]>()
  for (const [at, { type, name }] of actions.entries()) {
    names[`#n${at}`] = name
    const parts = sections.get(type) ?? []
    sections.set(type, parts)
    parts.push(type === 'remove' ? `#n${at}` : `#n${at}${WORDS[type][1]}:v${at}`)
  }
  const text = [...sections].map(([type, parts]) => `${WORDS[type][0]} ${parts.join(', ')}`).join(' ')
  return {
    text,
    names,
    nameByPlaceholder: new Map(Object.entries(names)),
    tree: treeOf(text, names, actions),
  }
}

/** Undefined if the names are not ones, or two are the same. Values of the right types are put in for those to come. */
function treeOf(
  text: string,
  names: Readonly<Record<string, string>>,
  actions: readonly PlainAction[],
): UpdateNode | undefined {
  const values: Record<string, AttributeValue> = {}
  for (const [at, { type }] of actions.entries()) if (type !== 'remove') values[`:v${at}`] = { N: '0' }
  try {
    const given = Object.keys(values).length > 0 ? values : undefined
    return bindUpdate(parseUpdate(text), Placeholders.of(names, given)).tree
  } catch (error) {
    if (error instanceof DynamoError) return undefined
    throw error
  }
}

function parsedValue(value: AttributeValue): AttributeValue | undefined {
  try {
    return parseAttributeValue(value)
  } catch (error) {
    if (error instanceof DynamoError) return undefined
    throw error
  }
}
