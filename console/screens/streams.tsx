// Streams, followed live: each change as it is committed, with what changed.
import { useEffect, useRef, useState } from 'preact/hooks'
import { Badge, Empty, Problem, Select } from '../parts/basics.js'
import { dateText } from '../parts/format.js'
import { useLoad } from '../parts/load.js'
import { go } from '../parts/route.js'
import type { Item } from '../values/attribute.js'
import { Diff } from '../parts/diff.js'
import { call, type CallOptions, NoAnswer } from '../wire/client.js'

interface StreamEntry {
  readonly StreamArn: string
  readonly TableName: string
  readonly StreamLabel: string
}

interface StreamRecord {
  readonly eventID: string
  readonly eventName: 'INSERT' | 'MODIFY' | 'REMOVE'
  readonly dynamodb: {
    readonly Keys: Item
    readonly OldImage?: Item
    readonly NewImage?: Item
    readonly SequenceNumber: string
    readonly ApproximateCreationDateTime?: number
  }
}

interface Shard {
  readonly ShardId: string
  readonly SequenceNumberRange?: { readonly EndingSequenceNumber?: string }
}

const RECORDS_MAX = 500
const POLL_MS = 500
const SHARDS_MAX = 64
const SHARD_PAGES_MAX = 100

/** All of them, the oldest first. The newest stand on the last page. */
async function shardsOf(StreamArn: string, options: CallOptions): Promise<readonly Shard[]> {
  const shards: Shard[] = []
  let last: string | undefined
  for (let page = 0; page < SHARD_PAGES_MAX; page++) {
    const { StreamDescription: told } = await call<{
      readonly StreamDescription: {
        readonly Shards: readonly Shard[]
        readonly LastEvaluatedShardId?: string
      }
    }>('DescribeStream', { StreamArn, ...(last !== undefined && { ExclusiveStartShardId: last }) }, options)
    shards.push(...told.Shards)
    last = told.LastEvaluatedShardId
    if (last === undefined) break
  }
  return shards
}

export function StreamsScreen({ path }: { readonly path: readonly string[] }) {
  const streams = useLoad(
    async (signal) =>
      (await call<{ readonly Streams: readonly StreamEntry[] }>('ListStreams', {}, { signal, isQuiet: true }))
        .Streams,
    [],
  )
  const names = [...new Set((streams.value ?? []).map(({ TableName }) => TableName))]
  const name = path[1] ?? names[0]
  const stream = (streams.value ?? []).filter(({ TableName }) => TableName === name).at(-1)
  return (
    <div class="screen">
      <div class="screen-head">
        <h1>Streams</h1>
        {names.length > 0 && (
          <Select
            aria-label="Table"
            value={name ?? ''}
            options={names.map((each) => [each, each] as const)}
            onValue={(next) => go('streams', next)}
          />
        )}
      </div>
      <Problem error={streams.error} onRetry={streams.reload} />
      {streams.value !== undefined && names.length === 0 && (
        <Empty title="No table has a stream">
          <p>Turn one on in the settings of a table: every change then appears here as it is committed.</p>
        </Empty>
      )}
      {stream !== undefined && <Followed key={stream.StreamArn} stream={stream} />}
    </div>
  )
}

function Followed({ stream }: { readonly stream: StreamEntry }) {
  const [records, setRecords] = useState<readonly StreamRecord[]>([])
  const [from, setFrom] = useState<'LATEST' | 'TRIM_HORIZON'>('LATEST')
  const [isLive, setLive] = useState(true)
  const [error, setError] = useState<unknown>(undefined)
  const [open, setOpen] = useState<string | undefined>(undefined)
  const iterators = useRef(new Map<string, string | undefined>())

  useEffect(() => {
    iterators.current = new Map()
    setRecords([])
  }, [from])
  useEffect(() => {
    if (!isLive) return undefined
    const abort = new AbortController()
    const options = { signal: abort.signal, isQuiet: true }
    const place = iterators.current
    let timer: ReturnType<typeof setTimeout> | undefined
    const look = async (): Promise<void> => {
      const shards = await shardsOf(stream.StreamArn, options)
      const isFirst = place.size === 0
      for (const { ShardId, SequenceNumberRange } of shards.slice(-SHARDS_MAX)) {
        if (place.has(ShardId)) continue
        if (isFirst && from === 'LATEST' && SequenceNumberRange?.EndingSequenceNumber !== undefined) {
          // Known, so that the next look does not take it for one that has come since.
          place.set(ShardId, undefined)
          continue
        }
        // A shard that has come since is read from its beginning.
        const { ShardIterator } = await call<{ readonly ShardIterator: string }>(
          'GetShardIterator',
          { StreamArn: stream.StreamArn, ShardId, ShardIteratorType: isFirst ? from : 'TRIM_HORIZON' },
          options,
        )
        place.set(ShardId, ShardIterator)
      }
      for (const [shard, iterator] of place) {
        if (iterator === undefined) continue
        const { Records, NextShardIterator } = await call<{
          readonly Records: readonly StreamRecord[]
          readonly NextShardIterator?: string
        }>('GetRecords', { ShardIterator: iterator, Limit: 200 }, options)
        place.set(shard, NextShardIterator)
        if (Records.length > 0)
          setRecords((last) => {
            // After an iterator that expired the oldest ones may come again.
            const known = new Set(last.map(({ eventID }) => eventID))
            const added = Records.filter(({ eventID }) => !known.has(eventID))
            return [...added.toReversed(), ...last].slice(0, RECORDS_MAX)
          })
      }
    }
    const again = (): void => {
      void look()
        .then(
          () => setError(undefined),
          (failure: unknown) => {
            if (abort.signal.aborted) return
            setError(failure)
            // An iterator that has expired, or is of a server that was restarted. Where no answer came, the places are as they were.
            if (!(failure instanceof NoAnswer)) place.clear()
          },
        )
        .then(() => {
          if (!abort.signal.aborted) timer = setTimeout(again, POLL_MS)
        })
    }
    again()
    return () => {
      abort.abort()
      clearTimeout(timer)
    }
  }, [stream.StreamArn, from, isLive])

  return (
    <>
      <div class="toolbar">
        <button type="button" aria-pressed={isLive} onClick={() => setLive(!isLive)}>
          {isLive ? 'Pause' : 'Follow'}
        </button>
        <Select
          aria-label="From where"
          value={from}
          options={[
            ['LATEST', 'from now on'],
            ['TRIM_HORIZON', 'from the oldest that is kept'],
          ]}
          onValue={setFrom}
        />
        <span class="muted grow" role="status">
          {isLive && <span class="live" aria-hidden="true" />}{' '}
          {records.length === 0 ? 'waiting for changes' : `${records.length} changes, the newest first`}
        </span>
      </div>
      <Problem error={error} />
      {records.length === 0 ? (
        <Empty title="No changes yet">
          <p>Write to {stream.TableName}, and the change appears here.</p>
        </Empty>
      ) : (
        <ul class="cards">
          {records.map((record) => (
            <li key={record.eventID} class="card">
              <div class="row-line">
                <Badge
                  kind={
                    record.eventName === 'INSERT' ? 'good' : record.eventName === 'REMOVE' ? 'bad' : 'info'
                  }
                >
                  {record.eventName.toLowerCase()}
                </Badge>
                <button
                  type="button"
                  class="link mono clip grow"
                  aria-expanded={open === record.eventID}
                  onClick={() => setOpen(open === record.eventID ? undefined : record.eventID)}
                >
                  {JSON.stringify(record.dynamodb.Keys)}
                </button>
                <span class="muted">
                  {dateText((record.dynamodb.ApproximateCreationDateTime ?? 0) * 1000)}
                </span>
              </div>
              {open === record.eventID && (
                <Diff
                  before={record.dynamodb.OldImage}
                  after={
                    record.dynamodb.NewImage ??
                    (record.eventName === 'REMOVE' ? undefined : record.dynamodb.Keys)
                  }
                />
              )}
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
