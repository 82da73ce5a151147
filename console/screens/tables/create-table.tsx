// A new table: keys, indexes, stream, time to live, ledger.
import { useState } from 'preact/hooks'
import { Check, Dialog, Field, Problem, Select, TextInput } from '../../parts/basics.js'
import { call } from '../../wire/client.js'
import type { KeyType } from '../../wire/tables.js'
import { describeTable } from '../../wire/tables.js'

export const KEY_TYPES: readonly (readonly [KeyType, string])[] = [
  ['S', 'String'],
  ['N', 'Number'],
  ['B', 'Binary'],
]
export const STREAM_VIEWS = [
  ['', 'No stream'],
  ['NEW_AND_OLD_IMAGES', 'New and old images'],
  ['NEW_IMAGE', 'New images'],
  ['OLD_IMAGE', 'Old images'],
  ['KEYS_ONLY', 'Keys only'],
] as const

export interface IndexDraft {
  readonly kind: 'global' | 'local'
  readonly name: string
  readonly hash: string
  readonly hashType: KeyType
  readonly range: string
  readonly rangeType: KeyType
  readonly projection: 'ALL' | 'KEYS_ONLY' | 'INCLUDE'
  /** With commas between, for `INCLUDE`. */
  readonly included: string
}

export const emptyIndex: IndexDraft = {
  kind: 'global',
  name: '',
  hash: '',
  hashType: 'S',
  range: '',
  rangeType: 'S',
  projection: 'ALL',
  included: '',
}

const ACTIVE_TRIES_MAX = 100
const ACTIVE_POLL_MS = 100

export function CreateTable({
  onClose,
  onCreated,
}: {
  readonly onClose: () => void
  readonly onCreated: (name: string) => void
}) {
  const [name, setName] = useState('')
  const [hash, setHash] = useState('pk')
  const [hashType, setHashType] = useState<KeyType>('S')
  const [range, setRange] = useState('')
  const [rangeType, setRangeType] = useState<KeyType>('S')
  const [stream, setStream] = useState<string>('')
  const [ttl, setTtl] = useState('')
  const [isLedger, setLedger] = useState(false)
  const [isProtected, setProtected] = useState(false)
  const [indexes, setIndexes] = useState<readonly IndexDraft[]>([])
  const [error, setError] = useState<unknown>(undefined)
  const [isBusy, setBusy] = useState(false)
  const change = (at: number, next: Partial<IndexDraft>): void =>
    setIndexes(indexes.map((index, each) => (each === at ? { ...index, ...next } : index)))

  const create = async (): Promise<void> => {
    setBusy(true)
    try {
      await call(
        'CreateTable',
        createInput({ name, hash, hashType, range, rangeType, stream, isLedger, isProtected, indexes }),
      )
      if (ttl !== '') {
        for (let tries = 0; tries < ACTIVE_TRIES_MAX; tries++) {
          if ((await describeTable(name, { isQuiet: true })).TableStatus === 'ACTIVE') break
          await new Promise((resolve) => setTimeout(resolve, ACTIVE_POLL_MS))
        }
        await call('UpdateTimeToLive', {
          TableName: name,
          TimeToLiveSpecification: { AttributeName: ttl, Enabled: true },
        })
      }
      onCreated(name)
    } catch (failure) {
      setError(failure)
    } finally {
      setBusy(false)
    }
  }

  return (
    <Dialog title="Create table" onClose={onClose} wide>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void create()
        }}
      >
        <Problem error={error} />
        <Field label="Table name" wide>
          {(id) => <TextInput id={id} value={name} onValue={setName} required />}
        </Field>
        <div class="fields">
          <Field label="Partition key">
            {(id) => <TextInput id={id} value={hash} onValue={setHash} required />}
          </Field>
          <Field label="Its type">
            {(id) => <Select id={id} value={hashType} options={KEY_TYPES} onValue={setHashType} />}
          </Field>
          <Field label="Sort key" hint="may be empty">
            {(id) => <TextInput id={id} value={range} onValue={setRange} />}
          </Field>
          <Field label="Its type">
            {(id) => <Select id={id} value={rangeType} options={KEY_TYPES} onValue={setRangeType} />}
          </Field>
        </div>
        <h3>Indexes</h3>
        {indexes.map((index, at) => (
          <fieldset key={at} class="boxed">
            <legend>Index {at + 1}</legend>
            <IndexFields index={index} onChange={(next) => change(at, next)} />
            <button
              type="button"
              class="small"
              onClick={() => setIndexes(indexes.filter((_, each) => each !== at))}
            >
              Remove index {at + 1}
            </button>
          </fieldset>
        ))}
        <button type="button" class="small" onClick={() => setIndexes([...indexes, emptyIndex])}>
          Add an index
        </button>
        <h3>More</h3>
        <div class="fields">
          <Field label="Stream">
            {(id) => <Select id={id} value={stream} options={STREAM_VIEWS} onValue={setStream} />}
          </Field>
          <Field label="Time to live attribute" hint="may be empty">
            {(id) => <TextInput id={id} value={ttl} onValue={setTtl} />}
          </Field>
        </div>
        <Check
          checked={isLedger}
          onValue={setLedger}
          label="Ledger: keep every change for good, provable. It cannot be changed later."
        />
        <Check checked={isProtected} onValue={setProtected} label="Protect the table from deletion" />
        <div class="actions">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={isBusy}>
            Create table
          </button>
        </div>
      </form>
    </Dialog>
  )
}

export function IndexFields({
  index,
  onChange,
  isGlobalOnly,
}: {
  readonly index: IndexDraft
  readonly onChange: (next: Partial<IndexDraft>) => void
  readonly isGlobalOnly?: boolean
}) {
  return (
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
      {index.kind === 'global' && (
        <>
          <Field label="Index partition key">
            {(id) => <TextInput id={id} value={index.hash} onValue={(hash) => onChange({ hash })} required />}
          </Field>
          <Field label="Its type">
            {(id) => (
              <Select
                id={id}
                value={index.hashType}
                options={KEY_TYPES}
                onValue={(hashType) => onChange({ hashType })}
              />
            )}
          </Field>
        </>
      )}
      <Field label="Index sort key" hint={index.kind === 'global' ? 'may be empty' : undefined}>
        {(id) => (
          <TextInput
            id={id}
            value={index.range}
            onValue={(range) => onChange({ range })}
            required={index.kind === 'local'}
          />
        )}
      </Field>
      <Field label="Its type">
        {(id) => (
          <Select
            id={id}
            value={index.rangeType}
            options={KEY_TYPES}
            onValue={(rangeType) => onChange({ rangeType })}
          />
        )}
      </Field>
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
  )
}

interface TableDraft {
  readonly name: string
  readonly hash: string
  readonly hashType: KeyType
  readonly range: string
  readonly rangeType: KeyType
  readonly stream: string
  readonly isLedger: boolean
  readonly isProtected: boolean
  readonly indexes: readonly IndexDraft[]
}

export const schemaOf = (hash: string, range: string): readonly object[] => [
  { AttributeName: hash, KeyType: 'HASH' },
  ...(range === '' ? [] : [{ AttributeName: range, KeyType: 'RANGE' }]),
]

export const projectionOf = ({ projection, included }: IndexDraft): object => ({
  ProjectionType: projection,
  ...(projection === 'INCLUDE' && {
    NonKeyAttributes: included
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
  }),
})

function createInput(draft: TableDraft): Readonly<Record<string, unknown>> {
  const types = new Map<string, KeyType>([[draft.hash, draft.hashType]])
  if (draft.range !== '') types.set(draft.range, draft.rangeType)
  for (const index of draft.indexes) {
    if (index.kind === 'global') types.set(index.hash, index.hashType)
    if (index.range !== '') types.set(index.range, index.rangeType)
  }
  const indexOf = (index: IndexDraft): object => ({
    IndexName: index.name,
    KeySchema: schemaOf(index.kind === 'local' ? draft.hash : index.hash, index.range),
    Projection: projectionOf(index),
  })
  const globals = draft.indexes.filter(({ kind }) => kind === 'global').map(indexOf)
  const locals = draft.indexes.filter(({ kind }) => kind === 'local').map(indexOf)
  return {
    TableName: draft.name,
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: schemaOf(draft.hash, draft.range),
    AttributeDefinitions: [...types].map(([AttributeName, AttributeType]) => ({
      AttributeName,
      AttributeType,
    })),
    ...(globals.length > 0 && { GlobalSecondaryIndexes: globals }),
    ...(locals.length > 0 && { LocalSecondaryIndexes: locals }),
    ...(draft.stream !== '' && {
      StreamSpecification: { StreamEnabled: true, StreamViewType: draft.stream },
    }),
    ...(draft.isLedger && { Tags: [{ Key: 'seriatim:ledger', Value: 'true' }] }),
    ...(draft.isProtected && { DeletionProtectionEnabled: true }),
  }
}
