// Watches from outside: what the table, the protected resource and the holders themselves show, against what was
// promised. It knows nothing of the rules.
//
//   entry applied --> is a holder that runs, and has not been told of a loss, still inside?     two-inside
//                 --> was a lower row there when the deciding query began?                       overtaken
//   lock row      --> does a granted number ever go back?                                        granted-went-back
//   protected write refused --> by a holder that runs and believes?                              refused-though-held
//   the end       --> did everybody who lives get the lock?  what is left in the table?           never-served, left-over
import type { Item } from '../../src/model/value.js'
import type { Lock } from '../../src/toolkit/locks/lock.js'
import { TICKET_DIGITS } from '../../src/toolkit/locks/rows.js'
import type { Scheduler } from '../scheduler.js'
import type { Witness } from './sim-endpoint.js'
import type { SimProcess } from './sim-process.js'
import type { Request } from './sim-table.js'

export interface Anomaly {
  readonly kind: string
  readonly explanation: string
}

/** Somebody who was told that a lock is his. */
export interface Believer {
  readonly process: SimProcess
  readonly lock: Lock
  readonly names: readonly string[]
  readonly shared: boolean
  readonly limit: number
  readonly fence: bigint
  /** `lock.signal` has aborted, without anyone looking at the clock. */
  told: boolean
  released: boolean
  broken: boolean
}

/** Timers that a sleep of the machine has delayed are no excuse for who looks at the signal before he acts. */
const believes = (one: Believer): boolean =>
  one.process.running &&
  !one.told &&
  !one.released &&
  !one.broken &&
  !(one.process.hasSlept && one.lock.signal.aborted)

interface RowKey {
  readonly pk: string
  readonly sk: string
}

export class Judge implements Witness {
  readonly anomalies: Anomaly[] = []
  readonly counts = new Map<string, number>()
  readonly #scheduler: Scheduler
  readonly #believers = new Set<Believer>()
  /** When each row of a queue was written, and for whom. */
  readonly #rows = new Map<
    string,
    { readonly atMicros: number; readonly key: RowKey; readonly shared: boolean; readonly limit: number }
  >()
  /** The last query of each process about each name, and when it was read. */
  readonly #queries = new Map<string, Request>()
  readonly #readAt = new WeakMap<Request, number>()
  /** For an entry: when the query on which it was decided was read. */
  readonly #decidedAt = new WeakMap<Request, number>()
  readonly #entered = new Set<string>()
  readonly #highestFence = new Map<string, { readonly fence: bigint; readonly by: string }>()
  /** Name and ticket of rows that an operator has removed. */
  readonly #broken = new Set<string>()
  operator: SimProcess | undefined

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler
  }

  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1)
  }

  blame(kind: string, explanation: string): void {
    this.anomalies.push({ kind, explanation: `at ${this.#scheduler.nowMicros / 1000} ms: ${explanation}` })
  }

  sending(process: SimProcess, request: Request): void {
    const { operation, input } = request
    if (operation === 'Query') this.#queries.set(queryKey(process, partitionOf(input)), request)
    if (!isEntry(request)) return
    const decided = this.#queries.get(queryKey(process, keyOf(input).pk))
    if (decided !== undefined) this.#decidedAt.set(request, this.#readAt.get(decided) ?? 0)
  }

  reading(_process: SimProcess, request: Request): void {
    if (!this.#readAt.has(request)) this.#readAt.set(request, this.#scheduler.nowMicros)
  }

  writing(process: SimProcess, request: Request, write: () => object): object {
    const value = write()
    if (isEntry(request)) this.#judgeEntry(process, request)
    if (process === this.operator && request.operation === 'DeleteItem')
      this.#markBroken(keyOf(request.input))
    return value
  }

  /** Every change of the table. */
  readonly changed = (key: RowKey, before: Item | undefined, after: Item | undefined): void => {
    const place = `${key.pk} ${key.sk}`
    if (isQueueRow(key)) {
      if (after === undefined) this.#rows.delete(place)
      else if (before === undefined)
        this.#rows.set(place, {
          atMicros: this.#scheduler.nowMicros,
          key,
          shared: booleanOf(after, 'shared'),
          limit: limitOf(after),
        })
    }
    for (const attribute of ['granted', 'alone', 'next', 'entries']) {
      if (numberOf(after, attribute) < numberOf(before, attribute))
        this.blame(
          'granted-went-back',
          `${attribute} of ${key.pk} from ${numberOf(before, attribute)} to ${numberOf(after, attribute)}`,
        )
    }
  }

  /** An acquire has resolved. */
  acquired(process: SimProcess, lock: Lock): Believer {
    const { names, shared, limit, fence } = lock
    const { signal } = lock
    const believer: Believer = {
      process,
      lock,
      names,
      shared,
      limit,
      fence,
      told: signal.aborted,
      released: false,
      broken: this.#isBroken(lock),
    }
    signal.addEventListener('abort', () => {
      believer.told = true
      this.count('lost')
    })
    this.count(shared ? 'acquired shared' : limit > 1 ? 'acquired beside others' : 'acquired')
    if (!believer.broken) for (const name of names) this.#judgeInside(name, believer, process)
    this.#believers.add(believer)
    return believer
  }

  left(believer: Believer): void {
    believer.released = true
    this.#believers.delete(believer)
  }

  /** A write arrives at what the lock protects, which refuses whoever was overtaken. */
  protectedWrite(believer: Believer, name: string): void {
    const { fence, process, shared, limit } = believer
    // Fences of those who may stand beside each other say nothing about who came last.
    if (limit > 1) return
    const before = this.#highestFence.get(name)
    if (before !== undefined && fence < before.fence) {
      this.count('refused by the fence')
      if (believes(believer))
        this.blame(
          'refused-though-held',
          `${process.name} (fence ${fence}) at ${name}, where ${before.by} came before with ${before.fence}`,
        )
      return
    }
    if (shared) return
    if (before?.fence === fence && before.by !== process.name)
      this.blame('same-fence', `${process.name} and ${before.by} both have ${fence} on ${name}`)
    this.#highestFence.set(name, { fence, by: process.name })
    this.count('protected write')
  }

  #judgeEntry(process: SimProcess, request: Request): void {
    const { pk } = keyOf(request.input)
    const ticket = BigInt(valueOf(request, ':ticket'))
    const shared = !(request.input['UpdateExpression'] as string).includes('alone')
    // A row that is gone was removed, or taken back by its owner: its entry is nobody's.
    const limit = this.#rows.get(queuePlace(request.input, ticket))?.limit ?? 1
    if (this.#entered.has(`${pk} ${ticket}`)) return
    this.#entered.add(`${pk} ${ticket}`)
    this.count('entry')
    this.#judgeInside(pk, { shared, limit, fence: ticket }, process)
    const decidedAt = this.#decidedAt.get(request) ?? 0
    for (const { key, atMicros, shared: rowShared } of this.#rows.values()) {
      if (key.pk !== pk || (shared && rowShared)) continue
      const other = BigInt(key.sk.slice(-TICKET_DIGITS))
      // Where several may be inside, those who are do not stand in the way.
      if (limit > 1 && this.#entered.has(`${pk} ${other}`)) continue
      if (other < ticket && atMicros < decidedAt)
        this.blame(
          'overtaken',
          `${process.name} entered ${pk} with ${ticket} while ${other} waited since ${atMicros / 1000} ms, before the query at ${decidedAt / 1000} ms`,
        )
    }
  }

  /** At most as many as the smallest limit among them; shared ones are not limited among themselves. */
  #judgeInside(
    name: string,
    { shared, limit, fence }: Pick<Believer, 'shared' | 'limit' | 'fence'>,
    process: SimProcess,
  ): void {
    const others = [...this.#believers].filter(
      (other) =>
        other.names.includes(name) && other.fence !== fence && !(shared && other.shared) && believes(other),
    )
    const room = Math.min(limit, ...others.map((other) => (other.shared || shared ? 1 : other.limit)))
    if (others.length < room || others.length === 0) {
      if (others.length > 0) this.count('entered beside another')
      return
    }
    const holding = others.map((other) => `${other.process.name} with ${other.fence}`).join(', ')
    this.blame(
      room === 1 ? 'two-inside' : 'too-many-inside',
      `${process.name} entered ${name} with ${fence} (limit ${room}) while it is held by ${holding}`,
    )
  }

  #markBroken(key: RowKey): void {
    this.#broken.add(`${key.pk} ${BigInt(key.sk.slice(-TICKET_DIGITS))}`)
    for (const believer of this.#believers) believer.broken ||= this.#isBroken(believer)
  }

  /** By an operator, perhaps before the acquire of further names was done. */
  #isBroken({ names, fence }: Pick<Believer, 'names' | 'fence'>): boolean {
    return names.some((name) => this.#broken.has(`${name} ${fence}`))
  }
}

const queryKey = (process: SimProcess, pk: string): string => `${process.name} ${pk}`
const isQueueRow = ({ sk }: RowKey): boolean => sk.includes('/queue/')

function isEntry({ operation, input }: Request): boolean {
  return operation === 'UpdateItem' && keyOf(input).sk.endsWith('/lock')
}

function keyOf(input: Request['input']): RowKey {
  const { pk, sk } = (input['Key'] ?? input['Item']) as {
    readonly pk: { S: string }
    readonly sk: { S: string }
  }
  return { pk: pk.S, sk: sk.S }
}

function partitionOf(input: Request['input']): string {
  return (input['ExpressionAttributeValues'] as Record<string, { S: string }>)[':name']!.S
}

function valueOf({ input }: Request, name: string): string {
  return (input['ExpressionAttributeValues'] as Record<string, { N: string }>)[name]!.N
}

function numberOf(item: Item | undefined, attribute: string): bigint {
  const value = item?.[attribute]
  return value !== undefined && 'N' in value ? BigInt(value.N) : 0n
}

const limitOf = (item: Item): number => Number(numberOf(item, 'limit')) || 1

const queuePlace = (input: Request['input'], ticket: bigint): string => {
  const { pk, sk } = keyOf(input)
  return `${pk} ${sk.replace(/lock$/, '')}queue/${ticket.toString().padStart(TICKET_DIGITS, '0')}`
}

function booleanOf(item: Item, attribute: string): boolean {
  const value = item[attribute]
  return value !== undefined && 'BOOL' in value && value.BOOL
}
