// Streams, followed live: each change as it is committed, with what changed.
import { useEffect, useRef, useState } from 'preact/hooks'
import { Badge, Empty, Problem, Select } from '../parts/basics.js'
import { dateText } from '../parts/format.js'
import { useLoad } from '../parts/load.js'
import { go } from '../parts/route.js'
import type { Item } from '../values/attribute.js'
import { Diff } from '../parts/diff.js'
import { call, type CallOptions, NoAnswer } from '../wire/client.js'
import { isOfFleet } from '../wire/fleet.js'

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
  const fleet = useLoad(isOfFleet, [])
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
      {streams.value !== undefined &&
        fleet.value !== undefined &&
        names.length === 0 &&
        (fleet.value ? (
          <Empty title="This server has no streams">
            <p>It is one of a fleet. Stores in a folder or in memory have streams.</p>
          </Empty>
        ) : (
          <Empty title="No table has a stream">
            <p>Turn one on in the settings of a table: every change then appears here as it is committed.</p>
          </Empty>
        ))}
      {stream !== undefined && <Followed key={stream.StreamArn} stream={stream} />}
    </div>
  )
}

interface Places {
  /** By shard; undefined: nothing more comes of it. */
  readonly iterators: Map<string, string | undefined>
  /** The sequence number of the last record of each shard that is known; undefined: none was read yet. */
  readonly last: Map<string, string | undefined>
}

const nowhere = (): Places => ({ iterators: new Map(), last: new Map() })
const isClosed = (range: Shard['SequenceNumberRange']): boolean => range?.EndingSequenceNumber !== undefined

function Followed({ stream }: { readonly stream: StreamEntry }) {
  const [records, setRecords] = useState<readonly StreamRecord[]>([])
  const [from, setFrom] = useState<'LATEST' | 'TRIM_HORIZON'>('LATEST')
  const [isLive, setLive] = useState(true)
  const [error, setError] = useState<unknown>(undefined)
  const [open, setOpen] = useState<string | undefined>(undefined)
  const places = useRef(nowhere())

  useEffect(() => {
    places.current = nowhere()
    setRecords([])
  }, [from])
  useEffect(() => {
    if (!isLive) return undefined
    const abort = new AbortController()
    const options = { signal: abort.signal, isQuiet: true }
    const { iterators, last } = places.current
    let timer: ReturnType<typeof setTimeout> | undefined
    const look = async (): Promise<void> => {
      const shards = await shardsOf(stream.StreamArn, options)
      const isFirst = last.size === 0
      for (const { ShardId, SequenceNumberRange } of shards.slice(-SHARDS_MAX)) {
        if (iterators.has(ShardId)) continue
        const sequence = last.get(ShardId)
        const isKnown = isFirst || last.has(ShardId)
        last.set(ShardId, sequence)
        if (isKnown && sequence === undefined && from === 'LATEST' && isClosed(SequenceNumberRange)) {
          // Known, so that the next look does not take it for one that has come since.
          iterators.set(ShardId, undefined)
          continue
        }
        // A shard that has come since is read from its beginning.
        const start = isKnown ? from : 'TRIM_HORIZON'
        const { ShardIterator } = await call<{ readonly ShardIterator: string }>(
          'GetShardIterator',
          {
            StreamArn: stream.StreamArn,
            ShardId,
            ...(sequence === undefined
              ? { ShardIteratorType: start }
              : { ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', SequenceNumber: sequence }),
          },
          options,
        )
        iterators.set(ShardId, ShardIterator)
      }
      for (const [shard, iterator] of iterators) {
        if (iterator === undefined) continue
        const { Records, NextShardIterator } = await call<{
          readonly Records: readonly StreamRecord[]
          readonly NextShardIterator?: string
        }>('GetRecords', { ShardIterator: iterator, Limit: 200 }, options)
        iterators.set(shard, NextShardIterator)
        const sequence = Records.at(-1)?.dynamodb.SequenceNumber
        if (sequence !== undefined) last.set(shard, sequence)
        if (Records.length > 0)
          setRecords((before) => {
            // After an iterator that expired the oldest ones may come again.
            const known = new Set(before.map(({ eventID }) => eventID))
            const added = Records.filter(({ eventID }) => !known.has(eventID))
            return [...added.toReversed(), ...before].slice(0, RECORDS_MAX)
          })
      }
    }
    let isLost = false
    const again = (): void => {
      void look()
        .then(
          () => {
            isLost = false
            setError(undefined)
          },
          (failure: unknown) => {
            if (abort.signal.aborted) return
            setError(failure)
            // Where no answer came, the places are as they were.
            if (failure instanceof NoAnswer) return
            // An iterator has expired: on from the last record of each shard. If that is gone, too, from anew.
            iterators.clear()
            if (isLost) last.clear()
            isLost = true
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
              {open === record.eventID && <Change record={record} />}
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

/** A stream of keys only, or of images of one kind, does not tell what an attribute was or became. */
function Change({ record: { eventName, dynamodb } }: { readonly record: StreamRecord }) {
  const { OldImage, NewImage, Keys } = dynamodb
  const isPartial =
    (eventName !== 'INSERT' && OldImage === undefined) || (eventName !== 'REMOVE' && NewImage === undefined)
  const known = OldImage ?? NewImage ?? Keys
  return isPartial ? (
    <Diff
      before={eventName === 'REMOVE' ? known : OldImage}
      after={eventName === 'REMOVE' ? undefined : (NewImage ?? (OldImage ? undefined : known))}
      isPartial
    />
  ) : (
    <Diff before={OldImage} after={NewImage} />
  )
}
