// Exports and imports of one store: what is known of them, and the work behind the requests for them.
//
//   request --> record, durable --> answered IN_PROGRESS
//                  \--> a place among those at work --> export-job.ts or import-job.ts --> ended, durable
//
// One that was under way when its process ended is FAILED: nothing of it is in use (a table that was being loaded goes with
// the start, router/tables/catalog/catalog.ts), and the request can be made again.
import { messageOf } from '../../model/message-of.js'
import { BucketError, type Bucket, type Buckets } from '../../buckets/buckets.js'
import { DynamoError } from '../../model/errors.js'
import type { TableBackups } from '../backups/table-backups.js'
import type { Principal } from '../request/access.js'
import { dataFileKey, exportKeys, ManifestError } from '../../transfer/manifest.js'
import type { Runtime } from '../../runtime/runtime.js'
import type { StorageNode } from '../../storage/contract/storage-node.js'
import { transferLimits } from '../../transfer/transfer.js'
import { pause, persistently } from '../tables/catalog/persistent-change.js'
import {
  decodeTransfer,
  ENDED_PREFIX,
  encodeTransfer,
  endedEntries,
  RUNNING_PREFIX,
  type ExportRecord,
  type TransferRecord,
} from './transfer-record.js'

export interface TransfersParts {
  readonly runtime: Runtime
  /** Where records of them are kept. */
  readonly home: StorageNode
  /** For exports of the past. */
  readonly backups: () => Promise<TableBackups>
  /** Absent: there is no bucket. */
  readonly buckets?: Buckets | undefined
  readonly onError: (error: unknown) => void
}

const DAY_MICROS = 86_400 * 1_000_000
export const transferJobLimits = {
  /** At work at the same time; further ones wait, and are IN_PROGRESS as well. */
  atWorkMax: 2,
  /** Under way for one store, as on Amazon. */
  exportsMax: 300,
  importsMax: 50,
  keptMicros: 90 * DAY_MICROS,
  /** Of those that have ended; of more the oldest go. */
  keptMax: 1000,
  /** The same of their records together: one of an import may have many names of columns. */
  keptBytesMax: 16 * 1024 * 1024,
  /** For so long a token names what it was first used for. */
  tokenMicros: 8 * 3600 * 1_000_000,
} as const

/** The store is being closed: what is under way ends, and is told as failed by the next start. */
export class Stopped extends Error {
  override readonly name = 'Stopped'
}

export class Transfers {
  readonly #parts: TransfersParts
  readonly #records = new Map<string, TransferRecord>()
  /** As they are stored. */
  readonly #bytes = new WeakMap<TransferRecord, number>()
  readonly #waiting: (() => void)[] = []
  readonly #atWork = new Set<Promise<void>>()
  #working = 0
  readonly #closing = new AbortController()

  private constructor(parts: TransfersParts) {
    this.#parts = parts
  }

  static async open(parts: TransfersParts): Promise<Transfers> {
    const transfers = new Transfers(parts)
    for (const entry of await parts.home.readMeta(ENDED_PREFIX)) transfers.#keep(decodeTransfer(entry))
    for (const entry of await parts.home.readMeta(RUNNING_PREFIX))
      await transfers.#cutOff(decodeTransfer(entry))
    return transfers
  }

  /** The newest first. */
  all<Kind extends TransferRecord['kind']>(kind: Kind): readonly Extract<TransferRecord, { kind: Kind }>[] {
    const found = [...this.#records.values()].filter((record) => record.kind === kind)
    return found.toSorted((one, other) => (one.id < other.id ? 1 : -1)) as never
  }

  find<Kind extends TransferRecord['kind']>(
    kind: Kind,
    id: string,
  ): Extract<TransferRecord, { kind: Kind }> | undefined {
    const record = this.#records.get(id)
    return record?.kind === kind ? (record as never) : undefined
  }

  /** What that token was last used for by that access key, if it still counts. */
  ofToken<Kind extends TransferRecord['kind']>(
    kind: Kind,
    token: string,
    { id }: Principal,
  ): Extract<TransferRecord, { kind: Kind }> | undefined {
    const since = this.#parts.runtime.clock.nowMicros() - transferJobLimits.tokenMicros
    return this.all(kind).find(
      ({ clientToken, keyId = '', startMicros, status }) =>
        clientToken === token && keyId === id && (status === 'IN_PROGRESS' || startMicros > since),
    )
  }

  /** Ids as Amazon has them: the milliseconds, and something that no other has. */
  newId(): string {
    const { runtime } = this.#parts
    const milliseconds = String(Math.floor(runtime.clock.nowMicros() / 1000)).padStart(14, '0')
    for (;;) {
      const id = `${milliseconds}-${Buffer.from(runtime.randomBytes(4)).toString('hex')}`
      if (!this.#records.has(id)) return id
    }
  }

  refuseIfTooMany(kind: TransferRecord['kind']): void {
    const running = this.all(kind).filter(({ status }) => status === 'IN_PROGRESS')
    const most = kind === 'export' ? transferJobLimits.exportsMax : transferJobLimits.importsMax
    if (running.length >= most)
      throw new DynamoError('LimitExceededException', `There are already ${most} ${kind}s in progress.`)
  }

  backups(): Promise<TableBackups> {
    return this.#parts.backups()
  }

  async bucket(name: string): Promise<Bucket> {
    const { buckets } = this.#parts
    if (buckets !== undefined) return buckets.bucket(name)
    throw new BucketError(
      'NoSuchBucket',
      `The specified bucket does not exist: ${name}. This store was opened without a folder of buckets (--buckets).`,
    )
  }

  /** Remembers it, and lets the work begin. */
  async begin<Record extends TransferRecord>(record: Record, work: () => Promise<Record>): Promise<void> {
    this.#records.set(record.id, record)
    try {
      await this.#parts.home.writeMeta([encodeTransfer(record)])
    } catch (error) {
      this.#records.delete(record.id)
      throw error
    }
    this.workOff(record, work)
  }

  /**
   * The work of a record that is durable begins when there is a place for it. `work` resolves to the record as it ends, which it
   * may have made durable with something else (`ended`).
   */
  workOff<Record extends TransferRecord>(record: Record, work: () => Promise<Record>): void {
    this.#records.set(record.id, record)
    const working = this.#run(record, work).finally(() => this.#atWork.delete(working))
    this.#atWork.add(working)
  }

  /** A record that has become durable with something else. */
  ended(record: TransferRecord): void {
    this.#records.set(record.id, record)
  }

  /** Between two pieces of work: throws if the store is being closed. */
  checkpoint(): void {
    if (this.#closing.signal.aborted) throw new Stopped('The store is being closed.')
  }

  /** Resolves at that moment of the store's clock; throws if the store is being closed. */
  async until(micros: number): Promise<void> {
    const { signal } = this.#closing
    for (let leftMicros; (leftMicros = micros - this.nowMicros) > 0 && !signal.aborted;)
      await pause(this.#parts.runtime, signal, Math.ceil(leftMicros / 1000))
    this.checkpoint()
  }

  get nowMicros(): number {
    return this.#parts.runtime.clock.nowMicros()
  }

  /** Resolves when everything that was begun has ended. */
  async idle(): Promise<void> {
    while (this.#atWork.size > 0) await Promise.all(this.#atWork)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    for (const proceed of this.#waiting.splice(0)) proceed()
    await this.idle()
  }

  async #run<Record extends TransferRecord>(record: Record, work: () => Promise<Record>): Promise<void> {
    if (this.#working >= transferJobLimits.atWorkMax)
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#working++
    try {
      this.checkpoint()
      await this.#end(await work())
    } catch (error) {
      await this.#fail(record, error)
    } finally {
      this.#working--
      this.#waiting.shift()?.()
    }
  }

  async #end(record: TransferRecord): Promise<void> {
    if (this.#records.get(record.id) === record) return
    await this.#parts.home.writeMeta(endedEntries(record))
    this.#records.set(record.id, record)
    await this.#forgetOld()
  }

  /** The record of one that has failed so, which was told where it is a defect; undefined if the store is being closed. */
  failed<Record extends TransferRecord>(record: Record, error: unknown): Record | undefined {
    if (error instanceof Stopped) return undefined
    const failure = failureOf(error)
    if (failure.code === INTERNAL) this.#parts.onError(error)
    const endMicros = Math.max(this.nowMicros, record.startMicros)
    return { ...record, status: 'FAILED', endMicros, failure }
  }

  async #fail(record: TransferRecord, error: unknown): Promise<void> {
    const failed = this.failed(record, error)
    if (failed === undefined) return
    if (record.kind === 'export') await this.#removeObjects(record).catch(() => undefined)
    await this.persistently(() => this.#end(failed))
  }

  /** What has to be remembered waits for room on the disk. If the store is closed meanwhile, the next start finds it IN_PROGRESS. */
  persistently(change: () => Promise<unknown>): Promise<boolean> {
    const { runtime, onError } = this.#parts
    return persistently(change, { runtime, closing: this.#closing.signal, onError })
  }

  async #cutOff(record: TransferRecord): Promise<void> {
    const failed: TransferRecord = {
      ...record,
      status: 'FAILED',
      endMicros: this.nowMicros,
      failure: {
        code: INTERNAL,
        message: `The ${record.kind} was cut off because the process that worked on it ended. Nothing of it is in use; it can be requested again.`,
      },
    }
    if (record.kind === 'export') await this.#removeObjects(record).catch(this.#parts.onError)
    await this.#parts.home.writeMeta(endedEntries(failed))
    this.#keep(failed)
  }

  /** Without its manifest an export is none. */
  async #removeObjects(record: ExportRecord): Promise<void> {
    const bucket = await this.bucket(record.bucket)
    const keyed = { prefix: record.prefix, exportId: record.id, window: record.window }
    const { home } = exportKeys(keyed)
    for (const { key } of await bucket.list(`${home}/`, transferLimits.objectsMax)) await bucket.remove(key)
    // Those of an incremental export stand among others: they are found by their names, which follow from the export.
    for (let place = 0; place < transferLimits.objectsMax; place++) {
      const key = dataFileKey(keyed, record.format, place)
      if ((await bucket.list(key, 1)).length === 0) break
      await bucket.remove(key)
    }
  }

  #keep(record: TransferRecord): void {
    this.#records.set(record.id, record)
  }

  #bytesOf(record: TransferRecord): number {
    let bytes = this.#bytes.get(record)
    if (bytes === undefined) {
      bytes = encodeTransfer(record).value?.length ?? 0
      this.#bytes.set(record, bytes)
    }
    return bytes
  }

  async #forgetOld(): Promise<void> {
    const ended = [...this.#records.values()]
      .filter(({ status }) => status !== 'IN_PROGRESS')
      .toSorted((one, other) => (one.id < other.id ? 1 : -1))
    const before = this.nowMicros - transferJobLimits.keptMicros
    const { keptMax, keptBytesMax } = transferJobLimits
    let bytes = 0
    const old = ended.filter((record, at) => {
      bytes += this.#bytesOf(record)
      return at >= keptMax || (at > 0 && bytes > keptBytesMax) || record.startMicros < before
    })
    if (old.length === 0) return
    await this.#parts.home.writeMeta(old.map(({ id }) => ({ name: ENDED_PREFIX + id })))
    for (const { id } of old) this.#records.delete(id)
  }
}

const INTERNAL = 'InternalServerError'

const CODES = {
  NoSuchBucket: 'S3NoSuchBucket',
  NoSuchKey: 'S3NoSuchKey',
  InvalidKey: 'S3InvalidKey',
  AccessDenied: 'S3AccessDenied',
  TooManyObjects: 'S3TooManyObjects',
} as const

function failureOf(error: unknown): { readonly code: string; readonly message: string } {
  const message = messageOf(error)
  if (error instanceof BucketError) return { code: CODES[error.code], message }
  if (error instanceof ManifestError) return { code: 'InvalidManifest', message }
  return { code: INTERNAL, message }
}
