// The network between the processes: calls as messages that are delayed, dropped, repeated and overtaken, over links that
// are cut for a while.
//
//   caller --request--> [delay | drop | repeat | cut] --> callee: services[service][method](...args)
//          <--answer--- [delay | drop | repeat | cut] <--
//   caller: no answer for a while --> an error of the caller's choice
//
// What is sent is plain data, and neither side may change it afterwards: in some worlds it is frozen. Knows nothing of
// what the processes do.
import { rates } from './faults.js'
import type { Life, OpenCall, SimProcess, Surroundings } from './process.js'

export interface NetworkOptions {
  /** Told of errors that no caller could expect. */
  readonly onBroken: (what: string) => void
  /** What the interfaces say may happen; anything else is a defect. */
  readonly isExpected: (error: Error) => boolean
  /** What a caller is told when nobody has answered. */
  readonly unanswered: (what: string) => Error
  /** Whether what is sent is frozen. */
  readonly sends: 'frozen' | 'as it is'
}

export interface MessageOptions {
  /** Absent: the caller keeps the time itself. */
  readonly timeoutMs?: number
  /** A message from a client, which a network of connections delivers at most once. */
  readonly once?: boolean
}

export interface CallRequest {
  readonly service: string
  readonly method: string
  readonly args: readonly unknown[]
}

type Method = (...args: readonly unknown[]) => unknown

/** The way of one method from one process to another, with its names made once. */
interface Route {
  readonly from: SimProcess
  readonly to: SimProcess
  readonly service: string
  readonly method: string
  readonly request: string
  readonly answer: string
  readonly points: Points
}

interface Points {
  readonly beforeSend: string
  readonly afterSend: string
  readonly beforeReceive: string
  readonly afterReceive: string
  readonly beforeAnswer: string
  readonly afterAnswer: string
  readonly beforeResult: string
  readonly afterResult: string
}

export class Network {
  readonly #around: Surroundings
  readonly #options: NetworkOptions
  readonly #cut = new Map<SimProcess, Set<SimProcess>>()
  readonly #routes = new Map<SimProcess, Map<SimProcess, Map<string, Map<string, Route>>>>()
  readonly #points = new Map<string, Points>()
  #calls = 0

  constructor(around: Surroundings, options: NetworkOptions) {
    this.#around = around
    this.#options = options
  }

  /** An object whose methods run in another process. */
  proxy<T extends object>(
    life: Life,
    to: SimProcess,
    service: string,
    methods: readonly (keyof T & string)[],
    options: MessageOptions,
  ): T {
    return Object.fromEntries(
      methods.map((method) => {
        const route = this.#routeOf(life.process, to, service, method)
        return [method, (...args: readonly unknown[]) => this.#call(life, route, args, options)]
      }),
    ) as T
  }

  call(
    life: Life,
    to: SimProcess,
    { service, method, args }: CallRequest,
    options: MessageOptions,
  ): Promise<unknown> {
    return this.#call(life, this.#routeOf(life.process, to, service, method), args, options)
  }

  /** Cuts the links between two groups for a while. */
  cut(processes: readonly SimProcess[], others: readonly SimProcess[], forMicros: number): void {
    for (const one of processes) {
      for (const other of others) {
        entry(this.#cut, one, () => new Set()).add(other)
        entry(this.#cut, other, () => new Set()).add(one)
      }
    }
    this.#around.tally.add('fault/partition')
    this.#around.scheduler.after(forMicros, 'heal', () => {
      for (const one of processes) {
        for (const other of others) {
          this.#cut.get(one)?.delete(other)
          this.#cut.get(other)?.delete(one)
        }
      }
    })
  }

  heal(): void {
    this.#cut.clear()
  }

  #call(life: Life, route: Route, args: readonly unknown[], options: MessageOptions): Promise<unknown> {
    this.#send(args)
    return new Promise((resolve, reject) => {
      if (!life.reach(route.points.beforeSend)) return
      const id = this.#calls++
      life.calls.set(id, { resolve, reject, cancelTimer: this.#timer(life, id, route, reject, options) })
      this.#transmit(route.from, route.to, route.request, options.once === true, () =>
        this.#receive(life, id, route, args, options),
      )
      life.reach(route.points.afterSend)
    })
  }

  #timer(
    life: Life,
    id: number,
    { to, method }: Route,
    reject: OpenCall['reject'],
    { timeoutMs }: MessageOptions,
  ): () => void {
    if (timeoutMs === undefined) return NO_TIMER
    return this.#around.scheduler.after(timeoutMs * 1000, 'timeout', () => {
      if (life.calls.delete(id))
        reject(this.#options.unanswered(`${to.name} did not answer ${method} in ${timeoutMs} ms`))
    })
  }

  #transmit(from: SimProcess, to: SimProcess, label: string, once: boolean, deliver: () => void): void {
    const { scheduler, random, tally } = this.#around
    if (this.#cut.get(from)?.has(to) === true) {
      tally.add('fault/cut-off')
      return
    }
    if (this.#happens('drop', rates.dropped)) return
    const copies = !once && this.#happens('repeat', rates.repeated) ? 2 : 1
    for (let copy = 0; copy < copies; copy++) {
      const delayMicros = this.#happens('delay', rates.slow)
        ? random.skewed(5_000, 1_000_000)
        : random.skewed(50, 2_000)
      scheduler.after(delayMicros, label, deliver)
    }
  }

  #happens(fault: 'drop' | 'repeat' | 'delay', rate: number): boolean {
    const { random, faults, trouble, tally } = this.#around
    const happened = trouble.on && faults.has(fault) && random.chance(rate)
    if (happened) tally.add('fault/', fault)
    return happened
  }

  #receive(caller: Life, id: number, route: Route, args: readonly unknown[], options: MessageOptions): void {
    const { to, service, method, points } = route
    const callee = to.life
    if (callee?.services === undefined || !callee.reach(points.beforeReceive)) return
    const target = callee.services[service] as Record<string, Method | undefined> | undefined
    const handler = target?.[method]
    if (handler === undefined) throw new TypeError(`${to.name} does not offer ${service}.${method}`)
    const answer = (settle: (call: OpenCall) => void): void =>
      this.#answer(callee, caller, id, route, options, settle)
    let result: unknown
    try {
      result = handler.apply(target, args as unknown[])
    } catch (error) {
      // A method may throw instead of rejecting; to a caller far away that is the same.
      result = Promise.reject(error instanceof Error ? error : new Error(String(error)))
    }
    callee.reach(points.afterReceive)
    Promise.resolve(result).then(
      (value) => answer((call) => call.resolve(this.#send(value))),
      (error: Error) => {
        if (callee.alive && !this.#options.isExpected(error))
          this.#options.onBroken(`${to.name} ${service}.${method}: ${error.stack ?? error.message}`)
        answer((call) => call.reject(error))
      },
    )
  }

  #answer(
    callee: Life,
    caller: Life,
    id: number,
    { from, to, answer, points }: Route,
    options: MessageOptions,
    settle: (call: OpenCall) => void,
  ): void {
    if (!callee.reach(points.beforeAnswer)) return
    this.#transmit(to, from, answer, options.once === true, () => {
      const call = caller.calls.get(id)
      if (call === undefined || !caller.reach(points.beforeResult)) return
      caller.calls.delete(id)
      call.cancelTimer()
      settle(call)
      caller.reach(points.afterResult)
    })
    callee.reach(points.afterAnswer)
  }

  #send<T>(value: T): T {
    return this.#options.sends === 'frozen' ? freeze(value) : value
  }

  #routeOf(from: SimProcess, to: SimProcess, service: string, method: string): Route {
    const services = entry(
      entry(this.#routes, from, () => new Map()),
      to,
      () => new Map<string, Map<string, Route>>(),
    )
    const routes = entry(services, service, () => new Map<string, Route>())
    return entry(routes, method, () => ({
      from,
      to,
      service,
      method,
      request: `${from.name} ${method} ${to.name}`,
      answer: `${to.name} answer ${method} ${from.name}`,
      points: entry(this.#points, method, () => pointsOf(method)),
    }))
  }
}

const NO_TIMER = (): void => undefined

const pointsOf = (method: string): Points => ({
  beforeSend: `before-send:${method}`,
  afterSend: `after-send:${method}`,
  beforeReceive: `before-receive:${method}`,
  afterReceive: `after-receive:${method}`,
  beforeAnswer: `before-answer:${method}`,
  afterAnswer: `after-answer:${method}`,
  beforeResult: `before-result:${method}`,
  afterResult: `after-result:${method}`,
})

function entry<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key)
  if (value === undefined) map.set(key, (value = make()))
  return value
}

/** All the way down, bytes left out: they are shared by agreement. */
function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value) || ArrayBuffer.isView(value))
    return value
  Object.freeze(value)
  if (value instanceof Map) for (const member of value.values()) freeze(member)
  else for (const member of Object.values(value)) freeze(member)
  return value
}
