// A new table: keys, indexes, stream, time to live, ledger.
import { useState } from 'preact/hooks'
import { Check, Dialog, Field, Problem, Select, TextInput } from '../../parts/basics.js'
import { useFocus } from '../../parts/focus.js'
import { call } from '../../wire/client.js'
import type { KeyType } from '../../wire/tables.js'
import { describeTable } from '../../wire/tables.js'
import {
  definitionsOf,
  emptyIndex,
  type IndexDraft,
  IndexFields,
  indexInput,
  KEY_TYPES,
  type KnownTypes,
  typesWith,
} from './index-fields.js'

export const STREAM_VIEWS = [
  ['', 'No stream'],
  ['NEW_AND_OLD_IMAGES', 'New and old images'],
  ['NEW_IMAGE', 'New images'],
  ['OLD_IMAGE', 'Old images'],
  ['KEYS_ONLY', 'Keys only'],
] as const

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

  const draft = { name, hash, hashType, range, rangeType, stream, isLedger, isProtected, indexes }
  const [place, focusOn] = useFocus<HTMLDivElement>()

  const create = async (): Promise<void> => {
    if (isBusy) return
    setBusy(true)
    try {
      await call('CreateTable', createInput(draft))
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
        <div ref={place}>
          {indexes.map((index, at) => (
            <fieldset key={at} class="boxed">
              <legend>Index {at + 1}</legend>
              <IndexFields
                index={index}
                known={typesWith(tableTypes(draft), indexes.slice(0, at))}
                onChange={(next) => change(at, next)}
              />
              <button
                type="button"
                class="small"
                onClick={() => {
                  focusOn('[data-add]')
                  setIndexes(indexes.filter((_, each) => each !== at))
                }}
              >
                Remove index {at + 1}
              </button>
            </fieldset>
          ))}
          <button
            type="button"
            class="small"
            data-add
            onClick={() => {
              focusOn('fieldset:last-of-type input')
              setIndexes([...indexes, emptyIndex])
            }}
          >
            Add an index
          </button>
        </div>
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
          <button type="submit" class="primary" aria-disabled={isBusy}>
            Create table
          </button>
        </div>
      </form>
    </Dialog>
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

const tableTypes = ({ hash, hashType, range, rangeType }: TableDraft): KnownTypes =>
  new Map([[hash, hashType], ...(range === '' ? [] : [[range, rangeType] as const])])

function createInput(draft: TableDraft): Readonly<Record<string, unknown>> {
  const indexesOf = (which: IndexDraft['kind']): readonly object[] =>
    draft.indexes.filter(({ kind }) => kind === which).map((index) => indexInput(index, draft.hash))
  const globals = indexesOf('global')
  const locals = indexesOf('local')
  return {
    TableName: draft.name,
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: [
      { AttributeName: draft.hash, KeyType: 'HASH' },
      ...(draft.range === '' ? [] : [{ AttributeName: draft.range, KeyType: 'RANGE' }]),
    ],
    AttributeDefinitions: definitionsOf(typesWith(tableTypes(draft), draft.indexes)),
    ...(globals.length > 0 && { GlobalSecondaryIndexes: globals }),
    ...(locals.length > 0 && { LocalSecondaryIndexes: locals }),
    ...(draft.stream !== '' && {
      StreamSpecification: { StreamEnabled: true, StreamViewType: draft.stream },
    }),
    ...(draft.isLedger && { Tags: [{ Key: 'seriatim:ledger', Value: 'true' }] }),
    ...(draft.isProtected && { DeletionProtectionEnabled: true }),
  }
}
