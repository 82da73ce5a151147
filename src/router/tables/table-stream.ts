// StreamSpecification of CreateTable and UpdateTable: what may be asked for, and the stream that comes of it.
import { DynamoError, validationError } from '../../model/errors.js'
import { firstGeneration, streamLimits } from '../lineage/lineage.js'
import { labelAt, type StreamRecord, type StreamViewType } from '../lineage/stream-record.js'
import type { RouterContext } from '../request/context.js'
import type { CatalogDraft } from './catalog/catalog-draft.js'
import { shardCount } from './catalog/stream-keeper.js'
import { invalid } from './record/table-definition.js'
import type { TableRecord } from './record/table-record.js'
import type { StreamInput } from './record/table-shapes.js'

const SECRET_BYTES = 32

/** What can be said without the table. */
export function checkStreamSpecification(stream: StreamInput | undefined, of: 'create' | 'update'): void {
  if (stream === undefined) return
  const hasViewType = stream.StreamViewType !== undefined
  if (stream.StreamEnabled === hasViewType) return
  if (of === 'create') {
    throw invalid(
      hasViewType
        ? 'Table is being created with a stream disabled, UpdateViewType should not be specified'
        : 'Table is being created with a stream enabled, UpdateViewType is required',
    )
  }
  throw invalid(
    hasViewType
      ? 'If stream is being disabled, then UpdateViewType must not be specified'
      : 'If stream is being enabled then UpdateViewType is required',
  )
}

/** Before a change that gives a table a stream: from then on the log has what is written to it. */
export async function beginLog(
  stream: StreamInput | undefined,
  { log }: Pick<RouterContext, 'log'>,
): Promise<void> {
  if (stream?.StreamEnabled !== true) return
  if (log === undefined)
    throw validationError('Streams are not supported by this store: its nodes keep no log of commits')
  await log.begin()
}

/** The table with the stream that is asked for, or without the one that it has. */
export function withStream(
  draft: CatalogDraft,
  record: TableRecord,
  input: StreamInput | undefined,
  context: Pick<RouterContext, 'runtime' | 'log'>,
): TableRecord {
  if (input === undefined) return record
  const isEnabled = record.stream?.viewType !== undefined
  if (!input.StreamEnabled) {
    if (!isEnabled) throw validationError(`Table has no stream to disable: TableName: ${record.name}`)
    draft.endStream(record)
    return { ...record, stream: { label: record.stream.label } }
  }
  if (isEnabled) throw validationError(`Table already has an enabled stream: TableName: ${record.name}`)
  const stream = newStream(draft, record, input.StreamViewType as StreamViewType, context)
  draft.putStream(stream)
  return { ...record, stream: { label: stream.label, viewType: stream.viewType } }
}

const latestLabel = (streams: readonly ({ readonly label: string } | undefined)[]): string | undefined =>
  streams
    .flatMap((stream) => stream?.label ?? [])
    .toSorted()
    .at(-1)

function newStream(
  draft: CatalogDraft,
  record: TableRecord,
  viewType: StreamViewType,
  { runtime, log }: Pick<RouterContext, 'runtime' | 'log'>,
): StreamRecord {
  const before = draft.streamsOf(record.name)
  // Its last record is not known yet, so that the first of the next stream is not either.
  if (before.some(({ status, space }) => status === 'DISABLING' && space === record.space)) {
    throw new DynamoError(
      'ResourceInUseException',
      `Attempt to change a resource which is still in use: Table is being updated: ${record.name}`,
    )
  }
  const over = before.filter(({ status }) => status === 'DISABLED')
  for (const stream of beyond(over, streamLimits.endedOfTableMax)) draft.removeStream(stream)
  for (const stream of beyond(draft.endedStreams(), streamLimits.endedMax)) draft.removeStream(stream)
  const nowMicros = runtime.clock.nowMicros()
  return {
    tableName: record.name,
    tableId: record.id,
    space: record.space,
    keySchema: record.keySchema,
    label: labelAt(nowMicros, latestLabel([...before, record.stream])),
    viewType,
    createdAtMicros: nowMicros,
    // Nothing is under way on a table that is being created.
    status: draft.find(record.name) === undefined ? 'ENABLED' : 'ENABLING',
    secret: Buffer.from(runtime.randomBytes(SECRET_BYTES)).toString('hex'),
    // The table was in no stream: of what is read from here on, the first record of it is the first of this stream.
    generations: [firstGeneration((log?.last ?? 0) + 1, nowMicros, shardCount(record))],
  }
}

/** The first ones, which make room for one more. */
const beyond = (streams: readonly StreamRecord[], streamsMax: number): readonly StreamRecord[] =>
  streams.slice(0, Math.max(0, streams.length - streamsMax + 1))
