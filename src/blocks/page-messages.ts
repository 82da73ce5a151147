// What the store and the thread that makes blocks send each other: few large buffers, which change hands and are not copied.
import type { CommitRecord } from '../commit-log/commit-record.js'
import { decodeLogFrame, recordsOfFrame } from '../commit-log/files/log-frame.js'
import { PackedRecords } from '../commit-log/files/packed-records.js'
import type { KeyBytes } from '../model/brand.js'
import { HASH_BYTES } from '../verify/merkle.js'
import type { LedgerTable } from './maker.js'
import type { MadePage, PageJob } from './page.js'

export type ToThread = JobMessage | HeadsMessage

interface JobMessage extends Pick<PageJob, 'strand' | 'size' | 'pieceBytes'> {
  readonly kind: 'job'
  readonly prev: Uint8Array
  readonly salts: Uint8Array
  readonly tables: readonly LedgerTable[]
  /** A frame, as files of the log of commits have them. */
  readonly records: Uint8Array
}

interface HeadsMessage {
  readonly kind: 'heads'
  /** As the shelf has them. */
  readonly heads: readonly (Uint8Array | undefined)[]
}

export type FromThread = MadeMessage | WantedMessage | FailedMessage

interface WantedMessage {
  readonly kind: 'wanted'
  readonly documents: readonly string[]
}

interface FailedMessage {
  readonly kind: 'failed'
  readonly reason: string
}

interface MadeMessage {
  readonly kind: 'made'
  readonly keys: readonly string[]
  readonly lengths: Uint32Array
  readonly values: Uint8Array
  readonly leaves: Uint8Array
}

type Sent<Message> = readonly [Message, readonly ArrayBuffer[]]

const NOWHERE = { first: 0, position: { upTo: 0, number: 0 }, offset: 0 }
const NO_SEGMENT = { file: '', first: 0, seed: 0 }

export function encodeJob(job: PageJob): Sent<JobMessage> {
  const { strand, size, prev, pieceBytes, salts, tables } = job
  const records = packed(job.records)
  return [
    { kind: 'job', strand, size, prev: prev.slice(), pieceBytes, salts: salts.slice(), tables, records },
    [bufferOf(records)],
  ]
}

export function decodeJob({ records, ...job }: JobMessage): PageJob {
  const bytes = Buffer.from(records.buffer, records.byteOffset, records.byteLength)
  const frame = decodeLogFrame(bytes, 0, NO_SEGMENT)
  if (frame === undefined) throw new Error('the records of a page have changed on their way')
  return { ...job, records: recordsOfFrame(bytes, frame) }
}

/** Their numbers are not needed. */
function packed(records: readonly CommitRecord[]): Uint8Array {
  const packed = PackedRecords.of(records.map((record, number) => ({ ...record, number })))
  return packed.frame(NOWHERE, NO_SEGMENT).bytes
}

/** Copied: parts of pages of the index are not. */
export const encodeHeads = (heads: readonly (Uint8Array | undefined)[]): Sent<HeadsMessage> => [
  { kind: 'heads', heads: heads.map((head) => head?.slice()) },
  [],
]

export function encodeMade({ entries, leaves }: MadePage): Sent<MadeMessage> {
  const lengths = Uint32Array.from(entries, ({ value }) => value?.byteLength ?? 0)
  const values = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0))
  let at = 0
  for (const { value } of entries) {
    if (value === undefined) continue
    values.set(value, at)
    at += value.byteLength
  }
  const hashes = new Uint8Array(leaves.length * HASH_BYTES)
  for (const [nth, leaf] of leaves.entries()) hashes.set(leaf, nth * HASH_BYTES)
  return [
    { kind: 'made', keys: entries.map(({ key }) => key), lengths, values, leaves: hashes },
    [bufferOf(values), bufferOf(hashes)],
  ]
}

export function decodeMade({ keys, lengths, values, leaves }: MadeMessage): MadePage {
  let at = 0
  return {
    entries: keys.map((key, nth) => ({
      key: key as KeyBytes,
      value: values.subarray(at, (at += lengths[nth] as number)),
    })),
    leaves: Array.from({ length: leaves.byteLength / HASH_BYTES }, (_, nth) =>
      leaves.slice(nth * HASH_BYTES, (nth + 1) * HASH_BYTES),
    ),
  }
}

const bufferOf = ({ buffer }: Uint8Array): ArrayBuffer => buffer as ArrayBuffer
