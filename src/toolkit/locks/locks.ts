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

export interface AcquireOptions {
  /** How long to wait: 0 fails at once if anyone is before us; Infinity never does. 60,000 unless told otherwise. */
  readonly waitMs?: number
  /** Without a heartbeat for so long the lock is taken for dead. 30,000 unless told otherwise; from 100 to an hour. */
  readonly leaseMs?: number
  /** Locks of one name in different namespaces have nothing to do with each other. */
  readonly namespace?: string
  /** Beside other shared ones, never beside an exclusive one. */
  readonly shared?: boolean
  /**
   * Up to so many holders at once (a semaphore); 1 unless told otherwise. All who ask for a name should give the same: the
   * smallest of those inside and the one that asks counts. Fences of holders beside each other say nothing about who
   * came last: use `stillHeld`.
   */
  readonly limit?: number
  /** For those who look at the lock (`inspect`), at most 4,096 bytes; any value that an item can hold. */
  readonly data?: unknown
  /**
   * Called when only `expiringMs` are left of the lease, because heartbeats are not confirmed (or not sent, if they are
   * manual): finish or stop. Once, and again only after another heartbeat was confirmed.
   */
  readonly onExpiring?: (lock: Lock) => void
  /** A quarter of the lease unless told otherwise. */
  readonly expiringMs?: number
  /** Ends the waiting. */
  readonly signal?: AbortSignal
  /** `manual`: call `lock.heartbeat()` yourself once the lock is held. While waiting, heartbeats are sent anyway. */
  readonly heartbeat?: 'automatic' | 'manual'
  /** Who we are, for people who look at the queue. */
  readonly label?: string
}

export interface LocksOptions extends AcquireOptions {
  readonly table: string
  /** Own names for the attributes, to keep locks in a table that is there already: `{ pk: 'PK', sk: 'SK', expiresAt: 'ttl' }`. */
  readonly attributes?: Partial<LockAttributes>
  readonly onEvent?: (event: LockEvent) => void
  /** Release everything at these signals of the process, then let them have their usual effect. */
  readonly releaseOn?: readonly NodeJS.Signals[]
  /** Between two looks of the waiter that is next, where the endpoint does not wake; 100 unless told otherwise. */
  readonly pollMs?: number
  /** And at most, far behind: 2,000. */
  readonly pollMaxMs?: number
  /** By how much the wall clocks of two machines may differ. Only for locks that nobody ever waits for; 4 hours. */
  readonly skewMs?: number
  /** The answer to one request is waited for so long, at most a quarter of a lease; 5,000 unless told otherwise. */
  readonly requestMs?: number
  /** Waits under way at once on a Seriatim store, each of which takes a socket of the client; 8 unless told otherwise. */
  readonly wakesMax?: number
  /** Clock, timers and randomness; the real ones unless told otherwise. */
  readonly runtime?: Runtime
}

export interface Locks {
  /** Creates the table, or verifies it, and has expired rows removed where the endpoint can. */
  setup(): Promise<void>
  /**
   * Resolves when all of these names are ours.
   * @throws LockTimeout after `waitMs`; the reason of `signal`
   */
  acquire(name: string | readonly string[], options?: AcquireOptions): Promise<Lock>
  /** Resolves to undefined where `acquire` throws LockTimeout; does not wait unless told to. */
  tryAcquire(name: string | readonly string[], options?: AcquireOptions): Promise<Lock | undefined>
  /** Releases when the function ends. Rejects with LockLost if the lock was lost before that. */
  withLock<Result>(
    name: string | readonly string[],
    fn: (lock: Lock) => Promise<Result> | Result,
    options?: AcquireOptions,
  ): Promise<Result>
  /** Who holds it, who waits. */
  inspect(name: string, options?: { readonly namespace?: string }): Promise<LockReport>
  /** All locks of the table with anyone in their queue. */
  list(): Promise<readonly LockReport[]>
  /**
   * Removes those inside from the queue; the next enters. They learn of it with their next heartbeat: until then only the
   * fence protects.
   */
  break(name: string, options?: { readonly namespace?: string }): Promise<readonly bigint[]>
  /** Removes dead rows of the whole table. Watches them for up to a lease first. */
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
 * Locks in one table of any DynamoDB endpoint. Options given here are the defaults of every acquire.
 *
 * @example
 *   const invoices = locks(client, { table: 'Locks' })
 *   await invoices.setup()
 *   await using lock = await invoices.acquire('invoice-42', { waitMs: 60_000 })
 *   lock.fence // 1n
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
