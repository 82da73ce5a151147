// The network between the processes: calls as messages that are delayed, dropped, repeated and overtaken, over links that
// are cut for a while.
//
//   caller --request--> [delay | drop | repeat | cut] --> callee: services[service][method](...args)
//          <--answer--- [delay | drop | repeat | cut] <--
//   caller: no answer for a while --> OutcomeUnknown
//
// What is sent is plain data, and neither side may change it afterwards: in every fourth world it is frozen.
import { OutcomeUnknown } from '../storage/errors.js'
import { rates } from './faults.js'
import type { Life, SimProcess, Surroundings } from './process.js'

export interface CallOptions {
  readonly timeoutMs: number
  /** A message from a client, which a network of connections delivers at most once. */
  readonly once?: boolean
}

type Method = (...args: readonly unknown[]) => unknown

export class Network {
  readonly #around: Surroundings
  readonly #cut = new Set<string>()
  readonly #onBroken: (what: string) => void
  readonly #sent: <T>(value: T) => T
  #calls = 0

  /** `onBroken`: told of errors that no caller could expect. */
  constructor(around: Surroundings, onBroken: (what: string) => void, freezes: boolean) {
    this.#around = around
    this.#onBroken = onBroken
    this.#sent = freezes ? freeze : (value) => value
  }

  /** An object whose methods run in another process. */
  proxy<T extends object>(
    life: Life,
    to: SimProcess,
    service: string,
    methods: readonly (keyof T & string)[],
    options: CallOptions,
  ): T {
    return Object.fromEntries(
      methods.map((method) => [
        method,
        (...args: readonly unknown[]) => this.call(life, to, { service, method, args }, options),
      ]),
    ) as T
  }

  call(
    life: Life,
    to: SimProcess,
    request: { readonly service: string; readonly method: string; readonly args: readonly unknown[] },
    options: CallOptions,
  ): Promise<unknown> {
    this.#sent(request.args)
    return new Promise((resolve, reject) => {
      const { method } = request
      if (!life.reach(`before-send:${method}`)) return
      const id = this.#calls++
      const cancelTimer = this.#around.scheduler.after(options.timeoutMs * 1000, 'timeout', () => {
        if (life.calls.delete(id))
          reject(new OutcomeUnknown(`${to.name} did not answer ${method} in ${options.timeoutMs} ms`))
      })
      life.calls.set(id, { resolve, reject, cancelTimer })
      const label = `${life.process.name} ${method} ${to.name}`
      this.#transmit(life.process, to, label, options.once === true, () =>
        this.#receive(life, to, id, request, options),
      )
      life.reach(`after-send:${method}`)
    })
  }

  /** Cuts the links between two groups for a while. */
  cut(processes: readonly SimProcess[], others: readonly SimProcess[], forMicros: number): void {
    const links = processes.flatMap((a) => others.flatMap((b) => [linkOf(a, b), linkOf(b, a)]))
    for (const link of links) this.#cut.add(link)
    this.#around.tally.add('fault/partition')
    this.#around.scheduler.after(forMicros, 'heal', () => {
      for (const link of links) this.#cut.delete(link)
    })
  }

  heal(): void {
    this.#cut.clear()
  }

  #transmit(from: SimProcess, to: SimProcess, label: string, once: boolean, deliver: () => void): void {
    const { scheduler, random, faults, trouble, tally } = this.#around
    if (this.#cut.has(linkOf(from, to))) {
      tally.add('fault/cut-off')
      return
    }
    const happens = (fault: 'drop' | 'repeat' | 'delay', rate: number): boolean => {
      const happened = trouble.on && faults.has(fault) && random.chance(rate)
      if (happened) tally.add(`fault/${fault}`)
      return happened
    }
    if (happens('drop', rates.dropped)) return
    const copies = !once && happens('repeat', rates.repeated) ? 2 : 1
    for (let copy = 0; copy < copies; copy++) {
      const delayMicros = happens('delay', rates.slow)
        ? random.skewed(5_000, 1_000_000)
        : random.skewed(50, 2_000)
      scheduler.after(delayMicros, label, deliver)
    }
  }

  #receive(
    caller: Life,
    to: SimProcess,
    id: number,
    {
      service,
      method,
      args,
    }: { readonly service: string; readonly method: string; readonly args: readonly unknown[] },
    options: CallOptions,
  ): void {
    const callee = to.life
    if (callee?.services === undefined || !callee.reach(`before-receive:${method}`)) return
    const target = callee.services[service] as Record<string, Method | undefined> | undefined
    const handler = target?.[method]
    if (handler === undefined) throw new TypeError(`${to.name} does not offer ${service}.${method}`)
    const answer = (
      settle: (call: { resolve(value: unknown): void; reject(error: Error): void }) => void,
    ): void => {
      if (!callee.reach(`before-answer:${method}`)) return
      const label = `${to.name} answer ${method} ${caller.process.name}`
      this.#transmit(to, caller.process, label, options.once === true, () => {
        const call = caller.calls.get(id)
        if (call === undefined || !caller.reach(`before-result:${method}`)) return
        caller.calls.delete(id)
        call.cancelTimer()
        settle(call)
        caller.reach(`after-result:${method}`)
      })
      callee.reach(`after-answer:${method}`)
    }
    // A method may throw instead of rejecting; to a caller far away that is the same.
    const result = (async () => handler.apply(target, [...args]))()
    callee.reach(`after-receive:${method}`)
    result.then(
      (value) => answer((call) => call.resolve(this.#sent(value))),
      (error: Error) => {
        if (callee.alive && !isExpected(error))
          this.#onBroken(`${to.name} ${method}: ${error.stack ?? error.message}`)
        answer((call) => call.reject(error))
      },
    )
  }
}

/** What the interfaces say may happen; anything else is a defect. */
const EXPECTED = new Set(['WriteFailed', 'OutcomeUnknown', 'NoAnswer', 'TransactionConflictException'])
const EXPECTED_MESSAGES = new Set([
  'a transaction before this one is not decided',
  'a transaction of before the last start has not been decided yet',
  'the transaction is not finished here',
])
const isExpected = ({ name, message }: Error): boolean => EXPECTED.has(name) || EXPECTED_MESSAGES.has(message)

const linkOf = (from: SimProcess, to: SimProcess): string => `${from.name}>${to.name}`

const frozen = new WeakSet<object>()

/** All the way down, maps and bytes left out: they are shared by agreement. */
function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || frozen.has(value) || ArrayBuffer.isView(value))
    return value
  frozen.add(value)
  if (value instanceof Map) {
    for (const member of value.values()) freeze(member)
    return value
  }
  for (const member of Object.values(value)) freeze(member)
  return Object.freeze(value)
}
