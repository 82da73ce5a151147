// An index as a person describes it: the attributes of its key, up to four of each kind, and what it holds of an item.
import { Field, Select, TextInput } from '../../parts/basics.js'
import { useFocus } from '../../parts/focus.js'
import type { KeyType, TableDescription } from '../../wire/tables.js'

export const KEY_TYPES: readonly (readonly [KeyType, string])[] = [
  ['S', 'String'],
  ['N', 'Number'],
  ['B', 'Binary'],
]
/** Of one kind, in the key of a global index. */
const KEY_ATTRIBUTES_MAX = 4

export interface KeyDraft {
  readonly name: string
  readonly type: KeyType
}

export interface IndexDraft {
  readonly kind: 'global' | 'local'
  readonly name: string
  readonly hashes: readonly KeyDraft[]
  /** Those without a name are none. */
  readonly ranges: readonly KeyDraft[]
  readonly projection: 'ALL' | 'KEYS_ONLY' | 'INCLUDE'
  /** With commas between, for `INCLUDE`. */
  readonly included: string
}

const emptyKey: KeyDraft = { name: '', type: 'S' }
export const emptyIndex: IndexDraft = {
  kind: 'global',
  name: '',
  hashes: [emptyKey],
  ranges: [emptyKey],
  projection: 'ALL',
  included: '',
}

/** Attributes that have a type already: an attribute has one in all keys of a table. */
export type KnownTypes = ReadonlyMap<string, KeyType>

const keysOf = (index: IndexDraft): readonly KeyDraft[] => [
  ...(index.kind === 'global' ? index.hashes : []),
  ...rangesOf(index),
]

const rangesOf = ({ kind, ranges }: IndexDraft): readonly KeyDraft[] =>
  ranges.filter(({ name }) => name !== '').slice(0, kind === 'global' ? KEY_ATTRIBUTES_MAX : 1)

/** What was known, and after it what these indexes add. */
export function typesWith(known: KnownTypes, indexes: readonly IndexDraft[]): KnownTypes {
  const types = new Map(known)
  for (const { name, type } of indexes.flatMap(keysOf)) if (!types.has(name)) types.set(name, type)
  return types
}

export const definitionsOf = (types: KnownTypes): TableDescription['AttributeDefinitions'] =>
  [...types].map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType }))

/** As CreateTable and UpdateTable take it. `hash` is the partition key of the table, which a local index shares. */
export const indexInput = (index: IndexDraft, hash: string): object => ({
  IndexName: index.name,
  KeySchema: [
    ...(index.kind === 'local' ? [hash] : index.hashes.map(({ name }) => name)).map((AttributeName) => ({
      AttributeName,
      KeyType: 'HASH',
    })),
    ...rangesOf(index).map(({ name }) => ({ AttributeName: name, KeyType: 'RANGE' })),
  ],
  Projection: {
    ProjectionType: index.projection,
    ...(index.projection === 'INCLUDE' && {
      NonKeyAttributes: index.included
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== ''),
    }),
  },
})

export function IndexFields({
  index,
  known,
  onChange,
  isGlobalOnly,
}: {
  readonly index: IndexDraft
  readonly known: KnownTypes
  readonly onChange: (next: Partial<IndexDraft>) => void
  readonly isGlobalOnly?: boolean
}) {
  return (
    <>
      <div class="fields">
        <Field label="Index name">
          {(id) => <TextInput id={id} value={index.name} onValue={(name) => onChange({ name })} required />}
        </Field>
        {isGlobalOnly !== true && (
          <Field label="Kind">
            {(id) => (
              <Select
                id={id}
                value={index.kind}
                options={[
                  ['global', 'Global'],
                  ['local', 'Local'],
                ]}
                onValue={(kind) => onChange({ kind })}
              />
            )}
          </Field>
        )}
      </div>
      {index.kind === 'global' && (
        <KeyFields
          what="partition key"
          keys={index.hashes}
          known={known}
          isRequired
          most={KEY_ATTRIBUTES_MAX}
          onChange={(hashes) => onChange({ hashes })}
        />
      )}
      <KeyFields
        what="sort key"
        keys={index.kind === 'local' ? index.ranges.slice(0, 1) : index.ranges}
        known={known}
        isRequired={index.kind === 'local'}
        most={index.kind === 'local' ? 1 : KEY_ATTRIBUTES_MAX}
        onChange={(ranges) => onChange({ ranges })}
      />
      <div class="fields">
        <Field label="Projection">
          {(id) => (
            <Select
              id={id}
              value={index.projection}
              options={[
                ['ALL', 'All attributes'],
                ['KEYS_ONLY', 'Keys only'],
                ['INCLUDE', 'Keys, and these attributes'],
              ]}
              onValue={(projection) => onChange({ projection })}
            />
          )}
        </Field>
        {index.projection === 'INCLUDE' && (
          <Field label="Attributes" hint="with commas between">
            {(id) => (
              <TextInput
                id={id}
                value={index.included}
                onValue={(included) => onChange({ included })}
                required
              />
            )}
          </Field>
        )}
      </div>
    </>
  )
}

/** The attributes of one part of a key, in the order in which they stand in it. */
function KeyFields({
  what,
  keys,
  known,
  isRequired,
  most,
  onChange,
}: {
  readonly what: string
  readonly keys: readonly KeyDraft[]
  readonly known: KnownTypes
  readonly isRequired: boolean
  readonly most: number
  readonly onChange: (keys: readonly KeyDraft[]) => void
}) {
  const [place, focusOn] = useFocus<HTMLDivElement>()
  const change = (at: number, next: Partial<KeyDraft>): void =>
    onChange(keys.map((key, each) => (each === at ? { ...key, ...next } : key)))
  return (
    <div ref={place} class="key-parts" role="group" aria-label={`All of the index ${what}`}>
      {keys.map((key, at) => {
        const title = `Index ${what}${at === 0 ? '' : ` ${at + 1}`}`
        const type = key.name === '' ? undefined : known.get(key.name)
        return (
          <div class="key-part" key={at}>
            <Field label={title}>
              {(id) => (
                <TextInput
                  id={id}
                  value={key.name}
                  onValue={(name) => change(at, { name })}
                  required={isRequired || keys.length > 1}
                  {...(!isRequired && keys.length === 1 && { placeholder: 'may be empty' })}
                />
              )}
            </Field>
            <Field label="Its type">
              {(id) => (
                <Select
                  id={id}
                  value={type ?? key.type}
                  options={KEY_TYPES}
                  disabled={type !== undefined}
                  {...(type !== undefined && { title: 'as in the other keys that it is in' })}
                  onValue={(next) => change(at, { type: next })}
                />
              )}
            </Field>
            {keys.length > 1 && (
              <button
                type="button"
                class="icon"
                aria-label={`Remove ${title.toLowerCase()}`}
                onClick={() => {
                  focusOn(`.key-part:nth-child(${Math.max(1, at)}) input`)
                  onChange(keys.filter((_, each) => each !== at))
                }}
              >
                ✕
              </button>
            )}
          </div>
        )
      })}
      {keys.length < most && (
        <button
          type="button"
          class="small"
          onClick={() => {
            focusOn(`.key-part:nth-child(${keys.length + 1}) input`)
            onChange([...keys, emptyKey])
          }}
        >
          Add to the index {what}
        </button>
      )}
    </div>
  )
}
