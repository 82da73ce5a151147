// A log of commits in memory, with tables whose streams the test enables and ends.
import { memoryLogStorage } from '../../src/commit-log/memory-log.js'
import type { CommitRecord, LoggedChange } from '../../src/commit-log/commit-record.js'
import type { CommitLogReader } from '../../src/commit-log/commit-log.js'
import { noStream } from '../../src/changes/errors.js'
import type { ChangeSource, FollowedStream, LogFollowerPage } from '../../src/changes/stream.js'
import { spaceId, timestamp, type TxId } from '../../src/model/brand.js'
import { itemKey } from '../../src/model/key-bytes.js'
import type { KeySchema } from '../../src/model/table.js'
import type { Item } from '../../src/model/value.js'

export interface WrittenChange {
  readonly table: string
  readonly old?: Item
  readonly new?: Item
  readonly cause?: LoggedChange['cause']
}

const KEY: KeySchema = { partition: { name: 'id', type: 'S' } }
const START_MICROS = 1_900_000_000_000_000

const json = (item: Item): Uint8Array => Buffer.from(JSON.stringify(item))

export interface FollowedLogOptions {
  readonly bytesMax?: number
  readonly page?: LogFollowerPage
}

export function followedLog({ bytesMax = 1_000_000, page }: FollowedLogOptions = {}) {
  const storage = memoryLogStorage({
    knobs: { logMemoryBytesMax: bytesMax, logBlockBytesMax: Math.ceil(bytesMax / 10) },
  })
  const callbacks = new Set<() => void>()
  const subscribe = (callback: () => void): (() => void) => {
    callbacks.add(callback)
    return () => callbacks.delete(callback)
  }
  const tell = (): void => {
    for (const callback of callbacks) callback()
  }
  let reads = 0
  const log: CommitLogReader = {
    get first() {
      return storage.first
    },
    get last() {
      return storage.last
    },
    read: (request) => {
      reads++
      return storage.read(request)
    },
    numberAt: (at) => storage.numberAt(at),
    ofItem: (request) => storage.ofItem(request),
    onAppended: subscribe,
  }
  const streams = new Map<string, FollowedStream>()
  const ended = new Map<FollowedStream, number>()
  const everEnabled = new Set<string>()
  let isClosed = false
  const enable = (table: string): FollowedStream => {
    const space = spaceId(10 + 'abcdefgh'.indexOf(table.toLowerCase()[0] ?? 'a'))
    const stream = {
      table,
      label: String(storage.last),
      space,
      key: KEY,
      images: { old: true, new: true },
      arn: `arn:of:${table}`,
      first: storage.last + 1,
      isFirst: !everEnabled.has(table),
    }
    everEnabled.add(table)
    streams.set(table, stream)
    return stream
  }
  const source: ChangeSource = {
    log,
    isClosed: () => isClosed,
    streamOf: (table) => {
      const stream = streams.get(table)
      if (stream === undefined) throw noStream(table)
      return stream
    },
    lastOf: (stream) => ended.get(stream),
    onStreamsChanged: subscribe,
    inTurn: (answer) => answer,
    ...(page && { page }),
  }
  const commit = async (changes: readonly WrittenChange[], tx?: string): Promise<number> => {
    const number = storage.last + 1
    const record: CommitRecord = {
      number,
      timestamp: timestamp(START_MICROS + number * 1_000_000),
      ...(tx !== undefined && { tx: tx as TxId }),
      changes: changes.map((change) => ({
        space: streams.get(change.table)!.space,
        key: itemKey(KEY, (change.new ?? change.old)!).bytes,
        event: change.old === undefined ? 'insert' : change.new === undefined ? 'remove' : 'modify',
        operation: change.new === undefined ? 'delete' : 'put',
        cause: change.cause ?? 'request',
        ...(change.old && { old: json(change.old) }),
        ...(change.new && { new: json(change.new) }),
      })),
    }
    await storage.append([record], { upTo: number, number })
    tell()
    return number
  }
  return {
    source,
    log,
    enable,
    commit,
    put: (table: string, id: string, more: Item = {}) => commit([{ table, new: { id: { S: id }, ...more } }]),
    disable: (table: string) => {
      ended.set(streams.get(table)!, storage.last)
      streams.delete(table)
      tell()
    },
    close: () => {
      isClosed = true
      tell()
    },
    /** How often pages were read. */
    reads: () => reads,
    /** Readers that wait. */
    waiting: () => callbacks.size,
  }
}
