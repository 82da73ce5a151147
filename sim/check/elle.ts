// Judges a history of list appends, in the manner of Elle (Kingsbury and Alvaro, VLDB 2020): because every appended value
// is unique and a list remembers the order of its appends, the reads themselves say how transactions were ordered.
//
//   reads ----> version order of each key: [1, 4, 2]
//         ----> ww  the one who appended 4 -> the one who appended 2
//               wr  the one who appended 4 -> the one who read [1, 4]
//               rw  the one who read [1, 4] -> the one who appended 2
//               rt  completed -> invoked later                            (real time; judged apart)
//         ----> a cycle is an anomaly: G0 (ww), G1c (ww, wr), G-single (one rw), G2 (several rw)
//
// A serializable history may contradict real time where clocks differ (§3.2), so cycles that need an rt edge are not
// anomalies of isolation; they are listed apart.
import { type Anomaly, Findings } from './anomaly.js'
import { Graph, type Step } from './graph.js'

export type ListOperation =
  | { readonly kind: 'append'; readonly key: string; readonly value: number }
  /** `list` empty for an item that is absent. */
  | { readonly kind: 'read'; readonly key: string; readonly list: readonly number[] }

export interface ListTransaction {
  readonly id: string
  /** `unknown` ones count as committed once somebody has seen one of their values. */
  readonly status: 'committed' | 'aborted' | 'unknown'
  readonly invokedAt: number
  /** Infinity if nobody was told. */
  readonly completedAt: number
  readonly operations: readonly ListOperation[]
}

export interface ListJudgement {
  /** Not serializable, or not even that. */
  readonly anomalies: readonly Anomaly[]
  /** Serializable, but not in the order of real time. */
  readonly realtime: readonly Anomaly[]
}

type Kind = 'ww' | 'wr' | 'rw' | 'rt'

/** `final`: the lists after everything has come to rest, where they are known. */
export function judgeLists(
  history: readonly ListTransaction[],
  final?: ReadonlyMap<string, readonly number[]>,
): ListJudgement {
  return new ListJudge(history, final ?? new Map()).judge()
}

interface Read {
  readonly by: number
  readonly list: readonly number[]
}

const ALL: ReadonlySet<Kind> = new Set(['ww', 'wr', 'rw', 'rt'])
const DATA: ReadonlySet<Kind> = new Set(['ww', 'wr', 'rw'])
const WRITES: ReadonlySet<Kind> = new Set(['ww', 'wr'])
const only = (kind: Kind): ReadonlySet<Kind> => new Set([kind])
const CYCLES = [
  { name: 'G0', first: only('ww'), back: only('ww') },
  { name: 'G1c', first: only('wr'), back: WRITES },
  { name: 'G-single', first: only('rw'), back: WRITES },
  { name: 'G2', first: only('rw'), back: DATA },
] as const

class ListJudge {
  readonly #history: readonly ListTransaction[]
  readonly #final: ReadonlyMap<string, readonly number[]>
  readonly #found = new Findings()
  readonly #writers = new Map<string, Map<number, number>>()
  readonly #reads = new Map<string, Read[]>()
  readonly #graph: Graph<Kind>

  constructor(history: readonly ListTransaction[], final: ReadonlyMap<string, readonly number[]>) {
    this.#history = history
    this.#final = final
    this.#graph = new Graph(history.length)
  }

  judge(): ListJudgement {
    this.#collect()
    for (const key of new Set([...this.#writers.keys(), ...this.#reads.keys(), ...this.#final.keys()])) {
      this.#judgeKey(key)
    }
    this.#addRealTime()
    this.#judgeCycles()
    return { anomalies: this.#found.all, realtime: this.#realTimeCycles() }
  }

  #collect(): void {
    for (const [at, { id, status, operations }] of this.#history.entries()) {
      for (const operation of operations) {
        if (operation.kind === 'append') {
          const writers = entry(this.#writers, operation.key, () => new Map<number, number>())
          if (writers.has(operation.value))
            throw new RangeError(`${id} appends ${operation.value} to ${operation.key} a second time`)
          writers.set(operation.value, at)
        } else if (status === 'committed') {
          entry(this.#reads, operation.key, () => []).push({ by: at, list: operation.list })
        }
      }
    }
  }

  #judgeKey(key: string): void {
    const reads = this.#reads.get(key) ?? []
    const final = this.#final.get(key)
    const lists = [...reads.map((read) => read.list), ...(final === undefined ? [] : [final])]
    for (const { by, list } of reads) this.#judgeList(key, list, this.#name(by))
    if (final !== undefined) this.#judgeList(key, final, 'the final state')
    for (const { by, list } of reads) this.#judgeIntermediate(key, by, list)

    const order = lists.reduce((longest, list) => (list.length > longest.length ? list : longest), [])
    for (const list of lists) {
      const at = list.findIndex((value, index) => value !== order[index])
      if (at >= 0)
        this.#found.add(
          'incompatible-order',
          `${key} was read as ${text(list)} and as ${text(order)}: neither continues the other`,
        )
    }
    if (final !== undefined) this.#judgeLost(key, final)
    this.#addEdges(key, order, reads)
  }

  #judgeList(key: string, list: readonly number[], reader: string): void {
    const writers = this.#writers.get(key)
    const seen = new Set<number>()
    for (const value of list) {
      const writer = writers?.get(value)
      if (seen.has(value))
        this.#found.add('duplicate', `${reader} read ${value} twice in ${key}: ${text(list)}`)
      seen.add(value)
      if (writer === undefined) {
        this.#found.add('garbage', `${reader} read ${value} in ${key}, which nobody appended`)
      } else if (this.#history[writer]?.status === 'aborted') {
        this.#found.add(
          'G1a',
          `${reader} read ${value} in ${key}, of ${this.#name(writer)}, which was aborted`,
        )
      }
    }
  }

  /** A read that ends in the middle of what one transaction appended. */
  #judgeIntermediate(key: string, by: number, list: readonly number[]): void {
    const last = list.at(-1)
    const writer = last === undefined ? undefined : this.#writers.get(key)?.get(last)
    if (last === undefined || writer === undefined || writer === by) return
    const appended = this.#appends(writer, key)
    if (appended.at(-1) !== last)
      this.#found.add(
        'G1b',
        `${this.#name(by)} read ${text(list)} in ${key}, in the middle of what ${this.#name(writer)} appended: ${text(appended)}`,
      )
  }

  #judgeLost(key: string, final: readonly number[]): void {
    for (const [value, writer] of this.#writers.get(key) ?? []) {
      if (this.#history[writer]?.status === 'committed' && !final.includes(value))
        this.#found.add(
          'lost-append',
          `${this.#name(writer)} appended ${value} to ${key} and committed, but in the end ${key} is ${text(final)}`,
        )
    }
  }

  #addEdges(key: string, order: readonly number[], reads: readonly Read[]): void {
    const writers = this.#writers.get(key) ?? new Map<number, number>()
    const writerAt = (position: number): number | undefined => {
      const value = order[position]
      return value === undefined ? undefined : writers.get(value)
    }
    for (let at = 1; at < order.length; at++) {
      const [before, after] = [writerAt(at - 1), writerAt(at)]
      if (before !== undefined && after !== undefined)
        this.#graph.add(before, after, 'ww', `${order[at]} stands behind ${order[at - 1]} in ${key}`)
    }
    for (const { by, list } of reads) {
      // A list that is no beginning of the order says nothing of who came next.
      if (list.some((value, at) => value !== order[at])) continue
      const [writer, next] = [writerAt(list.length - 1), writerAt(list.length)]
      if (writer !== undefined) this.#graph.add(writer, by, 'wr', `${list.at(-1)} was read in ${key}`)
      if (next !== undefined)
        this.#graph.add(by, next, 'rw', `${order[list.length]} was not there yet in ${key}`)
    }
  }

  /** From each transaction to those invoked after it was completed, leaving out what follows from others. */
  #addRealTime(): void {
    const events = this.#history.flatMap((transaction, at) => [
      { at, time: transaction.invokedAt, completed: false },
      ...(transaction.completedAt === Infinity
        ? []
        : [{ at, time: transaction.completedAt, completed: true }]),
    ])
    // What happens at the same time is concurrent.
    events.sort((a, b) => a.time - b.time || Number(a.completed) - Number(b.completed))
    let frontier: number[] = []
    for (const { at, completed } of events) {
      if (completed) {
        const { invokedAt } = this.#history[at]!
        frontier = frontier.filter((earlier) => this.#history[earlier]!.completedAt >= invokedAt)
        frontier.push(at)
      } else {
        for (const earlier of frontier)
          this.#graph.add(earlier, at, 'rt', 'it was over before the other began')
      }
    }
  }

  #judgeCycles(): void {
    for (const component of this.#graph.components(DATA)) {
      const cycle = CYCLES.map(({ name, first, back }) => ({
        name,
        steps: this.#graph.cycle(component, first, back),
      })).find(({ steps }) => steps !== undefined)
      if (cycle?.steps !== undefined) this.#found.add(cycle.name, this.#explain(cycle.steps))
    }
  }

  #realTimeCycles(): readonly Anomaly[] {
    const found = new Findings()
    const broken = new Set(this.#graph.components(DATA).flat())
    for (const component of this.#graph.components(ALL)) {
      // What is broken anyway has been told.
      if (component.some((node) => broken.has(node))) continue
      const steps =
        this.#graph.cycle(component, only('rt'), DATA) ?? this.#graph.cycle(component, only('rt'), ALL)
      if (steps !== undefined) found.add('real-time', this.#explain(steps))
    }
    return found.all
  }

  #explain(steps: readonly Step<Kind>[]): string {
    return steps
      .map(
        ({ from, to, kind, why }) => `${this.#name(from)} comes before ${this.#name(to)} (${kind}: ${why})`,
      )
      .join('; ')
  }

  #appends(transaction: number, key: string): number[] {
    return this.#history[transaction]!.operations.flatMap((operation) =>
      operation.kind === 'append' && operation.key === key ? [operation.value] : [],
    )
  }

  #name(transaction: number): string {
    return this.#history[transaction]!.id
  }
}

const text = (list: readonly number[]): string =>
  `[${list.length > 12 ? `…, ${list.slice(-12).join(', ')}` : list.join(', ')}]`

function entry<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key)
  if (value === undefined) map.set(key, (value = make()))
  return value
}
