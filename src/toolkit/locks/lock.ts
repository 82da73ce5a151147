// A lock that is held.
import type { AttributeValue as SdkValue } from '@aws-sdk/client-dynamodb'
import { valueBytes } from '../../model/item-size.js'
import { LockLost } from '../endpoint/errors.js'
import { marshall, toSdkValue } from '../values/values.js'
import { release, requestTimeoutMs } from './acquire.js'
import { insist } from './calls.js'
import type { ClientParts } from './client-parts.js'
import type { Lease } from './lease.js'
import { lockKey, queueKey, showRequest, type LockName } from './rows.js'

/** What `acquire` resolves to. Release it, or declare it with `await using`. */
export interface Lock extends AsyncDisposable {
  readonly names: readonly string[]
  readonly namespace: string
  readonly shared: boolean
  /** How many may hold it at once, this one included; 1 unless `limit` was asked for. */
  readonly limit: number
  /** The ticket under which it was granted: higher than every one granted before. Let protected writes carry it. */
  readonly fence: bigint
  /** Aborts when the lock is lost, with LockLost as its reason. Reading it looks at the clock first. */
  readonly signal: AbortSignal
  /** Whether the lease still runs; for shared and exclusive locks alike. */
  readonly held: boolean
  /** How much of the lease is left until the next heartbeat is confirmed. */
  readonly remainingMs: number
  /**
   * One heartbeat now: for `heartbeat: 'manual'`, as short-lived functions need it.
   * @throws LockLost if it is lost, or the endpoint's error if the heartbeat could not be confirmed
   */
  heartbeat(): Promise<void>
  /**
   * Other data for those who look at the lock (`inspect`): progress, the address of this process. It proves nothing.
   * @throws LockLost if the lock is lost
   */
  show(data: unknown): Promise<void>
  /** Gives it back. Any number of times; it never takes anything from another. */
  release(): Promise<void>
  /** Where its rows are, for conditions on them (`stillHeld`). */
  readonly rows: readonly LockRow[]
}

export interface LockRow {
  readonly table: string
  readonly name: string
  readonly owner: string
  /** The attribute that holds the owner. */
  readonly ownerAttribute: string
  readonly key: LockRowKey
  readonly lockKey: LockRowKey
}

/** By the names of the table's key attributes: `pk` and `sk`, or those of the option `attributes`. */
export type LockRowKey = Readonly<Record<string, string>>

export class HeldLock implements Lock {
  readonly #parts: ClientParts
  readonly #lease: Lease
  readonly #abort = new AbortController()
  readonly #sinceMs: number
  readonly #onReleased: (lock: HeldLock) => void
  #released: Promise<void> | undefined

  constructor(parts: ClientParts, lease: Lease, onReleased: (lock: HeldLock) => void) {
    this.#parts = parts
    this.#lease = lease
    this.#onReleased = onReleased
    this.#sinceMs = parts.clock.monotonicMs()
    lease.onLost((error) => {
      if (this.#released !== undefined) return
      this.#abort.abort(error)
      parts.emit(lease.ticket, { type: 'lost', error })
    })
  }

  get names(): readonly string[] {
    return this.#lease.ticket.names.map(({ name }) => name)
  }
  get namespace(): string {
    return this.#lease.ticket.names[0]!.namespace
  }
  get shared(): boolean {
    return this.#lease.ticket.shared
  }
  get limit(): number {
    return this.#lease.ticket.limit
  }
  get fence(): bigint {
    return this.#lease.ticket.ticket
  }
  get signal(): AbortSignal {
    void this.#lease.lost
    return this.#abort.signal
  }
  get held(): boolean {
    return this.#released === undefined && this.#lease.lost === undefined
  }
  get remainingMs(): number {
    return this.held ? Math.max(0, this.#lease.remainingMs()) : 0
  }
  get rows(): readonly LockRow[] {
    const { names, ticket, owner } = this.#lease.ticket
    const { table, attributes } = this.#parts
    const plain = ({ pk, sk }: ReturnType<typeof queueKey>): LockRowKey => ({
      [attributes.pk]: pk.S,
      [attributes.sk]: sk.S,
    })
    return names.map((name) => ({
      table,
      name: name.name,
      owner,
      ownerAttribute: attributes.owner,
      key: plain(queueKey(name, ticket)),
      lockKey: plain(lockKey(name)),
    }))
  }

  async heartbeat(): Promise<void> {
    this.#throwIfLost()
    const result = await this.#lease.beat()
    this.#throwIfLost()
    if (result === 'unsure') throw new Error(`the heartbeat of ${namesOf(this.#lease)} was not confirmed`)
  }

  async show(data: unknown): Promise<void> {
    this.#throwIfLost()
    const { ticket } = this.#lease
    const shown = shownData(data)
    const results = await Promise.all(
      ticket.names.map((name) =>
        insist(
          this.#parts,
          'UpdateItem',
          showRequest(this.#parts.table, name, ticket, shown),
          requestTimeoutMs(this.#parts, ticket),
        ),
      ),
    )
    // The row is gone, and with it the lock; the next heartbeat finds the same.
    if (results.some(({ outcome }) => outcome === 'refused')) await this.#lease.beat()
    this.#throwIfLost()
  }

  release(): Promise<void> {
    this.#released ??= this.#release()
    return this.#released
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // What could not be deleted expires; whoever leaves a block cannot do better, and `onEvent` is told.
    await this.release().catch(() => undefined)
  }

  async #release(): Promise<void> {
    const { ticket } = this.#lease
    this.#lease.stop()
    const heldMs = this.#parts.clock.monotonicMs() - this.#sinceMs
    try {
      await release(this.#parts, ticket)
    } catch (error) {
      this.#parts.emit(ticket, { type: 'released', heldMs, error })
      throw error
    } finally {
      this.#onReleased(this)
    }
    this.#parts.emit(ticket, { type: 'released', heldMs })
  }

  #throwIfLost(): void {
    if (this.#released !== undefined) throw new LockLost(`${namesOf(this.#lease)} was released`)
    if (this.#lease.lost !== undefined) throw this.#lease.lost
  }
}

const namesOf = (lease: Lease): string => lease.ticket.names.map((name: LockName) => name.name).join(', ')

/** A row of the queue is read by everyone who waits behind it. */
const DATA_BYTES_MAX = 4096

/** As it stands in the row. */
export function shownData(data: unknown): SdkValue {
  const value = marshall(data)
  const bytes = valueBytes(value)
  if (bytes > DATA_BYTES_MAX)
    throw new RangeError(`the data of a lock has at most ${DATA_BYTES_MAX} bytes, not ${bytes}`)
  return toSdkValue(value)
}
