// What a table is, and what of it can be changed.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import {
  Badge,
  Check,
  confirmed,
  Dialog,
  Field,
  Problem,
  say,
  Select,
  TextInput,
} from '../../parts/basics.js'
import { bytesText, countText, dateText } from '../../parts/format.js'
import { useLoad } from '../../parts/load.js'
import { go, href } from '../../parts/route.js'
import { call, type Json } from '../../wire/client.js'
import {
  type IndexDescription,
  indexesOf,
  keyNames,
  keyParts,
  keyTypeOf,
  type TableDescription,
} from '../../wire/tables.js'
import { STREAM_VIEWS } from '../tables/create-table.js'
import {
  definitionsOf,
  emptyIndex,
  type IndexDraft,
  IndexFields,
  indexInput,
  typesWith,
} from '../tables/index-fields.js'

interface Ttl {
  readonly TimeToLiveStatus?: string
  readonly AttributeName?: string
}

async function readMore(table: TableDescription, signal: AbortSignal) {
  const options = { signal, isQuiet: true }
  const [ttl, tags] = await Promise.all([
    call<{ readonly TimeToLiveDescription: Ttl }>(
      'DescribeTimeToLive',
      { TableName: table.TableName },
      options,
    ),
    call<{ readonly Tags?: readonly { readonly Key: string; readonly Value: string }[] }>(
      'ListTagsOfResource',
      { ResourceArn: table.TableArn },
      options,
    ),
  ])
  return { ttl: ttl.TimeToLiveDescription, tags: tags.Tags ?? [] }
}

export function SettingsView({
  table,
  onChanged,
}: {
  readonly table: TableDescription
  readonly onChanged: () => void
}) {
  const more = useLoad((signal) => readMore(table, signal), [table])
  const [error, setError] = useState<unknown>(undefined)
  const [isAdding, setAdding] = useState(false)
  const [ttl, setTtl] = useState('')
  const [tag, setTag] = useState({ key: '', value: '' })
  const name = table.TableName
  const { hash, range } = keyNames(table.KeySchema)
  const isLedger =
    more.value?.tags.some(({ Key, Value }) => Key === 'seriatim:ledger' && Value === 'true') === true
  const change = async (operation: string, input: Json, done: string): Promise<void> => {
    try {
      await call(operation, input)
      say(done)
      setError(undefined)
      onChanged()
      more.reload()
    } catch (failure) {
      setError(failure)
    }
  }
  const stream =
    table.StreamSpecification?.StreamEnabled === true ? (table.StreamSpecification.StreamViewType ?? '') : ''
  const setStream = (view: string): Promise<void> =>
    change(
      'UpdateTable',
      {
        TableName: name,
        StreamSpecification:
          view === '' ? { StreamEnabled: false } : { StreamEnabled: true, StreamViewType: view },
      },
      'Stream changed',
    )
  const drop = async (): Promise<void> => {
    const isSure = await confirmed({
      title: `Delete the table ${name}?`,
      text: `Its ${countText(table.ItemCount)} items are deleted with it.${isLedger ? ' Its history in the ledger stays.' : ' This cannot be undone.'}`,
      action: 'Delete table',
      typed: name,
    })
    if (!isSure) return
    try {
      await call('DeleteTable', { TableName: name })
      say(`Table ${name} deleted`)
      go('tables')
    } catch (failure) {
      setError(failure)
    }
  }
  return (
    <>
      <Problem error={error ?? more.error} />
      <dl class="facts">
        <Fact title="Partition key">{`${hash} (${keyTypeOf(table, hash)})`}</Fact>
        {range !== undefined && <Fact title="Sort key">{`${range} (${keyTypeOf(table, range)})`}</Fact>}
        <Fact title="Items">{countText(table.ItemCount)}</Fact>
        <Fact title="Size">{bytesText(table.TableSizeBytes)}</Fact>
        {table.CreationDateTime !== undefined && (
          <Fact title="Created">{dateText(table.CreationDateTime * 1000)}</Fact>
        )}
        <Fact title="ARN">{table.TableArn}</Fact>
        <Fact title="Ledger">
          {isLedger ? <a href={href('ledger')}>yes: every change is kept and provable</a> : 'no'}
        </Fact>
      </dl>
      <section aria-labelledby="indexes">
        <h2 id="indexes">Indexes</h2>
        {indexesOf(table).length === 0 && <p class="muted">None.</p>}
        <ul class="cards">
          {indexesOf(table).map((index) => (
            <IndexCard
              key={index.IndexName}
              index={index}
              isGlobal={table.GlobalSecondaryIndexes?.includes(index) === true}
              onDelete={async () => {
                if (
                  await confirmed({
                    title: `Delete the index ${index.IndexName}?`,
                    text: 'Queries on it fail from then on.',
                    action: 'Delete index',
                  })
                )
                  await change(
                    'UpdateTable',
                    {
                      TableName: name,
                      GlobalSecondaryIndexUpdates: [{ Delete: { IndexName: index.IndexName } }],
                    },
                    'Index deleted',
                  )
              }}
            />
          ))}
        </ul>
        <button type="button" onClick={() => setAdding(true)}>
          Add an index
        </button>
      </section>
      <section aria-labelledby="behaviour">
        <h2 id="behaviour">Stream, expiry, protection</h2>
        <div class="fields">
          <Field label="Stream">
            {(id) => (
              <Select
                id={id}
                value={stream}
                // A view cannot be changed while the stream is on.
                options={
                  stream === ''
                    ? STREAM_VIEWS
                    : STREAM_VIEWS.filter(([view]) => view === '' || view === stream)
                }
                onValue={(view) => void setStream(view)}
              />
            )}
          </Field>
          {stream !== '' && (
            <a class="button" href={href('streams', name)}>
              Follow the stream
            </a>
          )}
        </div>
        {more.value?.ttl.AttributeName !== undefined ? (
          <p>
            Items expire by <code>{more.value.ttl.AttributeName}</code> (
            {more.value.ttl.TimeToLiveStatus?.toLowerCase()}).{' '}
            <button
              type="button"
              class="small"
              onClick={() =>
                void change(
                  'UpdateTimeToLive',
                  {
                    TableName: name,
                    TimeToLiveSpecification: { AttributeName: more.value!.ttl.AttributeName, Enabled: false },
                  },
                  'Items no longer expire',
                )
              }
            >
              Turn expiry off
            </button>
          </p>
        ) : (
          <form
            class="inline"
            onSubmit={(event) => {
              event.preventDefault()
              void change(
                'UpdateTimeToLive',
                { TableName: name, TimeToLiveSpecification: { AttributeName: ttl, Enabled: true } },
                'Items expire by that attribute',
              )
            }}
          >
            <Field label="Items expire by the attribute">
              {(id) => <TextInput id={id} value={ttl} onValue={setTtl} required />}
            </Field>
            <button type="submit">Turn expiry on</button>
          </form>
        )}
        <Check
          checked={table.DeletionProtectionEnabled === true}
          label="Protected from deletion"
          onValue={(isProtected) =>
            void change(
              'UpdateTable',
              { TableName: name, DeletionProtectionEnabled: isProtected },
              isProtected ? 'Protected' : 'No longer protected',
            )
          }
        />
      </section>
      <section aria-labelledby="tags">
        <h2 id="tags">Tags</h2>
        {more.value?.tags.length === 0 && <p class="muted">None.</p>}
        <ul class="tags">
          {more.value?.tags.map(({ Key, Value }) => (
            <li key={Key} class="row-line">
              <Badge>{`${Key} = ${Value}`}</Badge>
              {!Key.startsWith('seriatim:') && (
                <button
                  type="button"
                  class="icon"
                  aria-label={`Remove the tag ${Key}`}
                  onClick={() =>
                    void change(
                      'UntagResource',
                      { ResourceArn: table.TableArn, TagKeys: [Key] },
                      'Tag removed',
                    )
                  }
                >
                  ✕
                </button>
              )}
            </li>
          ))}
        </ul>
        <form
          class="inline"
          onSubmit={(event) => {
            event.preventDefault()
            void change(
              'TagResource',
              { ResourceArn: table.TableArn, Tags: [{ Key: tag.key, Value: tag.value }] },
              'Tag set',
            )
            setTag({ key: '', value: '' })
          }}
        >
          <Field label="Tag">
            {(id) => (
              <TextInput id={id} value={tag.key} onValue={(key) => setTag({ ...tag, key })} required />
            )}
          </Field>
          <Field label="Its value">
            {(id) => <TextInput id={id} value={tag.value} onValue={(value) => setTag({ ...tag, value })} />}
          </Field>
          <button type="submit">Set tag</button>
        </form>
      </section>
      <section aria-labelledby="deletion">
        <h2 id="deletion">Delete</h2>
        <button
          type="button"
          class="danger"
          disabled={table.DeletionProtectionEnabled === true}
          onClick={() => void drop()}
        >
          Delete table
        </button>
      </section>
      {isAdding && (
        <AddIndex
          table={table}
          onClose={() => setAdding(false)}
          onAdded={() => {
            setAdding(false)
            say('Index is being created')
            setError(undefined)
            onChanged()
          }}
        />
      )}
    </>
  )
}

function Fact({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function IndexCard({
  index,
  isGlobal,
  onDelete,
}: {
  readonly index: IndexDescription
  readonly isGlobal: boolean
  readonly onDelete: () => Promise<void>
}) {
  const sortKey = keyParts(index.KeySchema, 'RANGE')
  return (
    <li class="card row-line">
      <strong>{index.IndexName}</strong>
      <span class="mono">{keyParts(index.KeySchema, 'HASH').join(', ')}</span>
      {sortKey.length > 0 && (
        <span>
          sorted by <span class="mono">{sortKey.join(', ')}</span>
        </span>
      )}
      <Badge>{isGlobal ? 'global' : 'local'}</Badge>
      <Badge>{(index.Projection?.ProjectionType ?? '').toLowerCase().replace('_', ' ')}</Badge>
      {index.IndexStatus !== undefined && index.IndexStatus !== 'ACTIVE' && (
        <Badge kind="warn">{index.IndexStatus.toLowerCase()}</Badge>
      )}
      <span class="muted grow">{index.ItemCount !== undefined && `${countText(index.ItemCount)} items`}</span>
      {isGlobal && (
        <button type="button" class="small danger" onClick={() => void onDelete()}>
          Delete {index.IndexName}
        </button>
      )}
    </li>
  )
}

function AddIndex({
  table,
  onClose,
  onAdded,
}: {
  readonly table: TableDescription
  readonly onClose: () => void
  readonly onAdded: () => void
}) {
  const [index, setIndex] = useState<IndexDraft>(emptyIndex)
  const known = new Map(
    table.AttributeDefinitions.map(({ AttributeName, AttributeType }) => [AttributeName, AttributeType]),
  )
  const [error, setError] = useState<unknown>(undefined)
  const [isBusy, setBusy] = useState(false)
  /** What was refused stays to be mended. */
  const add = async (): Promise<void> => {
    if (isBusy) return
    setBusy(true)
    try {
      await call('UpdateTable', {
        TableName: table.TableName,
        AttributeDefinitions: definitionsOf(typesWith(known, [index])),
        GlobalSecondaryIndexUpdates: [{ Create: indexInput(index, '') }],
      })
      onAdded()
    } catch (failure) {
      setError(failure)
      setBusy(false)
    }
  }
  return (
    <Dialog title={`New index of ${table.TableName}`} onClose={onClose} wide>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void add()
        }}
      >
        <Problem error={error} />
        <IndexFields
          index={index}
          known={known}
          isGlobalOnly
          onChange={(next) => setIndex({ ...index, ...next })}
        />
        <div class="actions">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" aria-disabled={isBusy}>
            Create index
          </button>
        </div>
      </form>
    </Dialog>
  )
}
