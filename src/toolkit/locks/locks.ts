// FIFO locks with fencing, on any DynamoDB endpoint.
//
//   acquire --> draw a ticket --> row in the queue --> first? --> compare-and-set of the lock row --> inside
//                                    | heartbeats           wait: woken, or polling
//   release --> delete the row                              dead rows before us: removed in order
//
//   rules.ts decides, from rows.ts's rows and observations.ts's sights; acquire.ts and lease.ts act; docs/adr/0012-locks.md
//   says why it is safe. May import: model, expression, runtime.
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { realRuntime } from '../../runtime/real-runtime.js'
import type { Runtime } from '../../runtime/runtime.js'
import { clientEndpoint, type Endpoint } from '../endpoint/endpoint.js'
import { LockTimeout } from '../endpoint/errors.js'
import { Acquisition } from './acquire.js'
import {
  breakLock,
  inspectLock,
  listLocks,
  type LockReport,
  setUpTable,
  sweepTable,
} from './administration.js'
import type { ClientParts } from './client-parts.js'
import type { LockEvent } from './events.js'
import { HeldLock, type Lock, shownData } from './lock.js'
import { LockClock } from './lock-clock.js'
import { Observations } from './observations.js'
import { lockAttributes, type LockAttributes, withOwnAttributes } from './own-attributes.js'
import { releaseOnSignals } from './process-signals.js'
import type { LockName } from './rows.js'
import { Waiting } from './waiting.js'

/** How a lock is acquired. Options of `locks()` are the defaults of every acquire. */
export interface AcquireOptions {
  /**
   * How long to wait, in milliseconds; 60,000 by default. 0 fails at once if another client is ahead; Infinity waits for ever.
   */
  readonly waitMs?: number
  /** A client without a heartbeat for so many milliseconds is considered dead; 30,000 by default, 100 to 3,600,000. */
  readonly leaseMs?: number
  /** Locks of one name in different namespaces are independent; an empty text by default. */
  readonly namespace?: string
  /** Whether other shared holders may stand beside it, but never an exclusive one; false by default. */
  readonly shared?: boolean
  /**
   * Up to so many holders at once, as a semaphore; 1 by default, at most 1,000. All clients should ask for the same limit of
   * one name: the smallest of those inside and of the next applies. Fences do not order holders that are inside together: use
   * `stillHeld`.
   */
  readonly limit?: number
  /** What other clients read of this one with `inspect`: any value that an item can hold, at most 4,096 bytes. */
  readonly data?: unknown
  /**
   * Called when only `expiringMs` are left of the lease, because no heartbeat was confirmed: finish the work, or stop. It is
   * called once, and again only after another heartbeat was confirmed.
   */
  readonly onExpiring?: (lock: Lock) => void
  /** When `onExpiring` is called, in milliseconds before the end of the lease; a quarter of the lease by default. */
  readonly expiringMs?: number
  /** Ends the waiting. */
  readonly signal?: AbortSignal
  /** `manual`: the program calls `lock.heartbeat()` once the lock is held. `automatic` by default, and always while waiting. */
  readonly heartbeat?: 'automatic' | 'manual'
  /** A name of this client, for people who look at the queue. */
  readonly label?: string
}

/** Options of a lock client. */
export interface LocksOptions extends AcquireOptions {
  /** The lock table. `setup()` creates it. */
  readonly table: string
  /** Other attribute names, to keep locks in an existing table: `{ pk: 'PK', sk: 'SK', expiresAt: 'ttl' }`. */
  readonly attributes?: Partial<LockAttributes>
  /** Called for events of this client, for metrics and logs. */
  readonly onEvent?: (event: LockEvent) => void
  /** Releases all locks at these signals of the process, before the signals have their usual effect. */
  readonly releaseOn?: readonly NodeJS.Signals[]
  /** The pause between two queries of the next waiter, in milliseconds; 100 by default. Not on Seriatim, which wakes it. */
  readonly pollMs?: number
  /** The longest such pause, far behind in the queue, in milliseconds; 2,000 by default. */
  readonly pollMaxMs?: number
  /** By how much the wall clocks of two machines may differ, in milliseconds; 4 hours by default. It matters only for locks without waiters. */
  readonly skewMs?: number
  /** The wait for the answer to one request, in milliseconds, at most a quarter of a lease; 5,000 by default. */
  readonly requestMs?: number
  /** Waits in progress at once on a Seriatim store, each of which takes a socket of the client; 8 by default. */
  readonly wakesMax?: number
  /** Clock, timers and randomness, for tests; the real ones by default. */
  readonly runtime?: Runtime
}

/** A lock client: FIFO locks with fences, in one table. */
export interface Locks {
  /** Creates the lock table or verifies it, and enables time to live where the endpoint has it. */
  setup(): Promise<void>
  /**
   * Resolves when this client holds the lock of all these names; at most 100.
   * @throws LockTimeout after `waitMs`, or the reason of `signal`
   */
  acquire(name: string | readonly string[], options?: AcquireOptions): Promise<Lock>
  /** Like `acquire`, but resolves to undefined instead of rejecting with `LockTimeout`. `waitMs` is 0 by default. */
  tryAcquire(name: string | readonly string[], options?: AcquireOptions): Promise<Lock | undefined>
  /**
   * Acquires the lock, runs the function, and releases the lock. Rejects with `LockLost` if the lock was lost before the
   * function ended.
   *
   * @example
   *   const fence = await invoices.withLock('invoice-8', (held) => held.fence)
   *   console.log(fence > 0n) // true
   */
  withLock<Result>(
    name: string | readonly string[],
    fn: (lock: Lock) => Promise<Result> | Result,
    options?: AcquireOptions,
  ): Promise<Result>
  /** Reads the holders and waiters of one lock. */
  inspect(name: string, options?: { readonly namespace?: string }): Promise<LockReport>
  /** Reads all locks of the table that have a holder or a waiter. */
  list(): Promise<readonly LockReport[]>
  /**
   * Removes the holders, so that the next client enters, and resolves to their fences. A removed holder learns of it with its
   * next heartbeat: until then only the fence protects.
   */
  break(name: string, options?: { readonly namespace?: string }): Promise<readonly bigint[]>
  /** Removes the rows of dead clients from the whole table, after watching them for up to a lease. */
  sweep(): Promise<{ readonly removed: number }>
}

const DEFAULTS = {
  waitMs: 60_000,
  leaseMs: 30_000,
  pollMs: 100,
  pollMaxMs: 2_000,
  skewMs: 4 * 3_600_000,
  requestMs: 5_000,
  // A wait takes a connection: those of one client must leave enough for heartbeats and releases.
  wakesMax: 8,
}
const LEASE_MS = { min: 100, max: 3_600_000 }
const NAME_BYTES_MAX = 2048
const NAMESPACE_CHARACTERS_MAX = 300
/** Of one acquire. */
const NAMES_MAX = 100
/** Every waiter reads the rows of all who are inside. */
const LIMIT_MAX = 1000

/**
 * A lock client on one table of any DynamoDB endpoint. Its options are the defaults of every acquire.
 *
 * @example
 *   const printers = locks(client, { table: 'Printers' })
 *   await printers.setup()
 *   await using held = await printers.acquire('printer-1', { waitMs: 60_000 })
 *   console.log(held.fence) // 1n
 */
export function locks(client: DynamoDBClient | Endpoint, options: LocksOptions): Locks {
  return new LockClient('send' in client ? clientEndpoint(client) : client, options)
}

class LockClient implements Locks {
  readonly #options: LocksOptions
  readonly #parts: ClientParts
  readonly #held = new Set<HeldLock>()

  constructor(endpoint: Endpoint, options: LocksOptions) {
    const runtime = options.runtime ?? realRuntime()
    const clock = new LockClock(runtime.clock)
    const random = (): number => Buffer.from(runtime.randomBytes(4)).readUInt32BE(0) / 2 ** 32
    const { table, pollMs = DEFAULTS.pollMs, pollMaxMs = DEFAULTS.pollMaxMs } = options
    const attributes = lockAttributes(options.attributes)
    const calls = { endpoint: withOwnAttributes(endpoint, attributes), clock, random }
    const { requestMs = DEFAULTS.requestMs, wakesMax = DEFAULTS.wakesMax } = options
    if (!(requestMs > 0)) throw new RangeError(`requestMs must be above 0, not ${requestMs}`)
    this.#options = options
    this.#parts = {
      ...calls,
      table,
      attributes,
      observations: new Observations(clock, options.skewMs ?? DEFAULTS.skewMs),
      waiting: new Waiting(calls, { table, pollMs, pollMaxMs, wakesMax }),
      requestMs,
      newOwner: () => Buffer.from(runtime.randomBytes(16)).toString('hex'),
      emit: ({ names, ticket }, event) =>
        options.onEvent?.({
          ...event,
          names: names.map(({ name }) => name),
          namespace: names[0]!.namespace,
          ticket,
        }),
    }
    if (options.releaseOn !== undefined) {
      releaseOnSignals(options.releaseOn, async () => {
        await Promise.allSettled([...this.#held].map((lock) => lock.release()))
      })
    }
  }

  setup(): Promise<void> {
    return setUpTable(this.#parts)
  }

  async acquire(name: string | readonly string[], options: AcquireOptions = {}): Promise<Lock> {
    const wanted = { ...this.#options, ...options }
    const { waitMs = DEFAULTS.waitMs, leaseMs = DEFAULTS.leaseMs, namespace = '', shared = false } = wanted
    const { heartbeat = 'automatic', label, signal, limit = 1, data, onExpiring } = wanted
    const { expiringMs = leaseMs / 4 } = wanted
    if (!(waitMs >= 0)) throw new RangeError(`waitMs must be 0 or more, or Infinity, not ${waitMs}`)
    if (!(leaseMs >= LEASE_MS.min && leaseMs <= LEASE_MS.max))
      throw new RangeError(`leaseMs must be from ${LEASE_MS.min} to ${LEASE_MS.max}, not ${leaseMs}`)
    if (!(Number.isSafeInteger(limit) && limit >= 1 && limit <= LIMIT_MAX))
      throw new RangeError(`limit is a whole number from 1 to ${LIMIT_MAX}, not ${limit}`)
    if (shared && limit !== 1)
      throw new TypeError('a shared lock has no limit: leave out `shared` or `limit`')
    if (!(expiringMs >= 0 && expiringMs < leaseMs))
      throw new RangeError(`expiringMs must be from 0 to less than leaseMs (${leaseMs}), not ${expiringMs}`)
    const acquisition = new Acquisition(this.#parts, {
      names: lockNames(namespace, typeof name === 'string' ? [name] : name),
      waitMs,
      leaseMs,
      shared,
      limit,
      ...(label !== undefined && { label }),
      ...(data !== undefined && { data: shownData(data) }),
      ...(signal !== undefined && { signal }),
    })
    const { lease, waitedMs, requests } = await acquisition.run()
    if (heartbeat === 'manual') lease.beatByHand()
    const lock = new HeldLock(this.#parts, lease, (released) => this.#held.delete(released))
    this.#held.add(lock)
    if (onExpiring !== undefined) lease.onExpiring(expiringMs, () => onExpiring(lock))
    this.#parts.emit(lease.ticket, { type: 'acquired', waitedMs, requests })
    return lock
  }

  async tryAcquire(
    name: string | readonly string[],
    options: AcquireOptions = {},
  ): Promise<Lock | undefined> {
    try {
      return await this.acquire(name, { waitMs: 0, ...options })
    } catch (error) {
      if (error instanceof LockTimeout) return undefined
      throw error
    }
  }

  async withLock<Result>(
    name: string | readonly string[],
    fn: (lock: Lock) => Promise<Result> | Result,
    options: AcquireOptions = {},
  ): Promise<Result> {
    await using lock = await this.acquire(name, options)
    const result = await fn(lock)
    // What was done may have been done beside another: the caller must know.
    lock.signal.throwIfAborted()
    return result
  }

  inspect(name: string, { namespace = this.#options.namespace ?? '' } = {}): Promise<LockReport> {
    return inspectLock(this.#parts, { name, namespace })
  }

  list(): Promise<readonly LockReport[]> {
    return listLocks(this.#parts)
  }

  break(name: string, { namespace = this.#options.namespace ?? '' } = {}): Promise<readonly bigint[]> {
    return breakLock(this.#parts, { name, namespace })
  }

  sweep(): Promise<{ readonly removed: number }> {
    return sweepTable(this.#parts)
  }
}

/** Sorted and without doubles: the order in which they are entered. */
function lockNames(namespace: string, names: readonly string[]): readonly LockName[] {
  if (namespace.length > NAMESPACE_CHARACTERS_MAX)
    throw new RangeError(`a namespace has at most ${NAMESPACE_CHARACTERS_MAX} characters`)
  if (names.length === 0 || names.length > NAMES_MAX)
    throw new RangeError(`an acquire takes 1 to ${NAMES_MAX} names, not ${names.length}`)
  for (const name of names) {
    const bytes = Buffer.byteLength(name)
    if (bytes === 0 || bytes > NAME_BYTES_MAX)
      throw new RangeError(`the name of a lock has 1 to ${NAME_BYTES_MAX} bytes, not ${bytes}`)
  }
  return [...new Set(names)].toSorted().map((name) => ({ namespace, name }))
}
