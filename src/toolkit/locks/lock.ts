// A lock that is held.
import type { AttributeValue as SdkValue } from '@aws-sdk/client-dynamodb'
import { valueBytes } from '../../model/value.js'
import { LockLost } from '../endpoint/errors.js'
import { marshall, toSdkValue } from '../values/values.js'
import { release, requestTimeoutMs } from './acquire.js'
import { insist } from './calls.js'
import type { ClientParts } from './client-parts.js'
import type { Lease } from './lease.js'
import { lockKey, queueKey, showRequest, type LockName } from './rows.js'

/** A lock that is held. Release it, or declare it with `await using`. */
export interface Lock extends AsyncDisposable {
  /** The names that were locked together. */
  readonly names: readonly string[]
  /** Their namespace; an empty text by default. */
  readonly namespace: string
  /** Whether other shared holders may stand beside it. */
  readonly shared: boolean
  /** How many may hold it at once, this one included; 1 by default. */
  readonly limit: number
  /** The ticket under which it was granted, higher than every one granted before. Send it with protected writes. */
  readonly fence: bigint
  /** Aborts when the lock is lost, with `LockLost` as its reason. Reading it checks the clock first. */
  readonly signal: AbortSignal
  /** Whether the lease still runs. */
  readonly held: boolean
  /** How much of the lease is left without another heartbeat, in milliseconds. */
  readonly remainingMs: number
  /**
   * Sends one heartbeat now, for `heartbeat: 'manual'`.
   * @throws LockLost if it is lost, or the endpoint's error if the heartbeat could not be confirmed
   */
  heartbeat(): Promise<void>
  /**
   * Replaces what other clients read of this holder with `inspect` and `list`, such as its progress; at most 4,096 bytes.
   * @throws LockLost if the lock is lost
   */
  show(data: unknown): Promise<void>
  /** Releases the lock. It may be called any number of times, and never releases the lock of another client. */
  release(): Promise<void>
  /** Its rows in the lock table, one for each name, for conditions on them (`stillHeld`). */
  readonly rows: readonly LockRow[]
}

/** The row of a holder in the lock table. */
export interface LockRow {
  /** The lock table. */
  readonly table: string
  /** The name that is locked. */
  readonly name: string
  /** A random text of this holder, which is in its row as long as the lock is held. */
  readonly owner: string
  /** The attribute of the row that has the owner. */
  readonly ownerAttribute: string
  /** The key of this holder's row. */
  readonly key: LockRowKey
  /** The key of the row of the lock itself. */
  readonly lockKey: LockRowKey
}

/** A key of the lock table, by attribute name: `pk` and `sk`, or those of the option `attributes`. */
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
