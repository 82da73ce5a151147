// Looks at whole ranges of a world's nodes while it lives: what each node shows at that moment must be the same whichever
// way it is looked at (check/views.ts), and a page of a range is a look at every key that it could have held.
//
// It stands outside: its questions pass no network and no crash point, and it draws from a source of its own, so that a
// world is the same without it but for the time it takes.
import type { KeyBytes } from '../src/model/brand.js'
import { itemRange, keyAfter } from '../src/model/key-range.js'
import type { Item } from '../src/model/value.js'
import type { LocalNode } from '../src/storage/node/local-node.js'
import { parseRecord } from '../src/line/record.js'
import { inSpace } from '../src/line/spaces.js'
import { keyNamed } from './actions.js'
import { judgeView } from './check/views.js'
import type { Image } from './history.js'
import type { SimNode } from './machine.js'
import { type Cluster, nodeOf } from './processes.js'
import { Random } from '../src/runtime/seeded-random.js'
import type { Recorder } from './recorder.js'
import { TABLE } from './table.js'

const SOURCE = 2 * 2 ** 32
const PAUSE_MICROS = { min: 20_000, max: 2_000_000 }
/** In one world. */
const LOOKS_MAX = 40
const PAGE_ENTRIES_MAX = 60
const PAGES_MAX = 50

export class Scanner {
  readonly #cluster: Cluster
  readonly #recorder: Recorder
  readonly #random: Random
  /** Of all keys that somebody wanted to write to, those of each node, in order. */
  readonly #keys: Known[][]
  #writesKnown = 0
  readonly #names = new Set<string>()
  #looks = 0

  constructor(cluster: Cluster, recorder: Recorder, seed: number) {
    this.#cluster = cluster
    this.#recorder = recorder
    this.#random = new Random(seed + SOURCE)
    this.#keys = cluster.nodes.map(() => [])
  }

  /** As long as there is trouble. */
  start(): void {
    const { scheduler, trouble } = this.#cluster.around
    scheduler.after(this.#random.skewed(PAUSE_MICROS.min, PAUSE_MICROS.max), 'scanner', () => {
      if (!trouble.on || this.#looks++ >= LOOKS_MAX) return
      this.#look()
      this.start()
    })
  }

  /** What the nodes show at this moment. */
  judgeViews(position: number): void {
    const { nodes, table } = this.#cluster
    const { name, log } = nodes[position]!
    const known = this.#keysOf(position).map(({ bytes }) => inSpace(TABLE.space, bytes))
    for (const view of ['durable', 'decided'] as const) {
      const shown = log.view(view)
      if (shown === undefined) continue
      for (const { kind, explanation } of judgeView(`${name} (${view})`, table, shown, known))
        this.#recorder.found.add(kind, explanation)
    }
  }

  #look(): void {
    const { nodes, around, table } = this.#cluster
    const position = this.#random.below(nodes.length)
    const sim = nodes[position]!
    const { node } = sim
    if (node === undefined) return
    const ways = [
      'views',
      'pages',
      'pages',
      'text',
      'query',
      ...(table.indexes.length > 0 ? ['entries'] : []),
    ]
    const way = this.#random.pick(ways)
    around.tally.add('scan/', way)
    if (way === 'views') this.judgeViews(position)
    else if (way === 'text') this.#text(sim, node, position).catch(() => undefined)
    else if (way === 'entries') this.#entries(sim, node).catch(() => undefined)
    else this.#pages(sim, node, position, way === 'query').catch(() => undefined)
  }

  /** All pages of a range, of the whole table or of a partition. */
  async #pages(sim: SimNode, node: LocalNode, position: number, isQuery: boolean): Promise<void> {
    const keys = this.#keysOf(position)
    const reverse = this.#random.chance(0.5)
    const entriesMax = this.#random.skewed(1, PAGE_ENTRIES_MAX)
    const partition = isQuery && keys.length > 0 ? this.#random.pick(keys).partition : undefined
    const whole = partition === undefined ? { from: '' as KeyBytes } : itemRange(TABLE.key, partition)
    const inRange = (key: KeyBytes, { from, to }: Range): boolean =>
      key >= from && (to === undefined || key < to)
    let range: Range = whole
    for (let page = 0; page < PAGES_MAX; page++) {
      const invokedAt = this.#nowMicros
      const { entries, more } = await node.range({
        space: TABLE.space,
        ...range,
        reverse,
        entriesMax,
        bytesMax: Infinity,
      })
      // Whoever crashed has answered nothing.
      if (sim.node !== node) return
      const last = entries.at(-1)?.key
      const rest: Range | undefined =
        more && last !== undefined
          ? reverse
            ? { ...range, to: last }
            : { ...range, from: keyAfter(last) }
          : undefined
      const images = new Map(entries.map(({ key, record }) => [key, parseRecord(record)]))
      this.#saw(
        keys.filter(({ bytes }) => inRange(bytes, range) && (rest === undefined || !inRange(bytes, rest))),
        (bytes) => images.get(bytes),
        invokedAt,
      )
      if (rest === undefined) return
      range = rest
    }
  }

  async #text(sim: SimNode, node: LocalNode, position: number): Promise<void> {
    const keys = this.#keysOf(position)
    const invokedAt = this.#nowMicros
    const { bytes, start, end } = await node.rangeText({
      space: TABLE.space,
      from: '' as KeyBytes,
      reverse: this.#random.chance(0.5),
      entriesMax: Infinity,
      bytesMax: Infinity,
      roomBefore: this.#random.below(30),
      roomAfter: this.#random.below(30),
    })
    if (sim.node !== node) return
    const items = JSON.parse(`[${bytes.toString('utf8', start, end)}]`) as readonly Item[]
    const images = new Map(items.map((item) => [nameIn(item), item]))
    this.#saw(keys, (_, name) => images.get(name), invokedAt)
  }

  /** By an index: what it leads to is there. What it should lead to is judged with the views. */
  async #entries(sim: SimNode, node: LocalNode): Promise<void> {
    const [index] = this.#cluster.table.indexes
    const invokedAt = this.#nowMicros
    const { entries } = await node.range({
      space: index!.space,
      itemSpace: TABLE.space,
      from: '' as KeyBytes,
      reverse: this.#random.chance(0.5),
      entriesMax: this.#random.skewed(1, PAGE_ENTRIES_MAX),
      bytesMax: Infinity,
    })
    if (sim.node !== node) return
    const images = new Map(
      entries.map(({ record }) => parseRecord(record)).map((item) => [nameIn(item), item]),
    )
    const seen = Array.from(images.keys(), (name) => knownOf(name))
    this.#saw(seen, (_, name) => images.get(name), invokedAt)
  }

  #saw(keys: readonly Known[], imageOf: (key: KeyBytes, name: string) => Image, invokedAt: number): void {
    const id = `scan-${this.#looks}`
    const completedAt = this.#nowMicros
    for (const { name, bytes } of keys)
      this.#recorder.looks.push({
        kind: 'look',
        id,
        key: name,
        image: imageOf(bytes, name),
        invokedAt,
        completedAt,
      })
  }

  get #nowMicros(): number {
    return this.#cluster.around.scheduler.nowMicros
  }

  #keysOf(position: number): readonly Known[] {
    const { writes } = this.#recorder
    for (; this.#writesKnown < writes.length; this.#writesKnown++) {
      for (const { key: name } of writes[this.#writesKnown]!.actions) {
        if (this.#names.has(name)) continue
        this.#names.add(name)
        const { hash } = keyNamed(name).key
        this.#keys[nodeOf(hash, this.#keys.length)]!.push(knownOf(name))
      }
    }
    return this.#keys[position]!
  }
}

interface Range {
  readonly from: KeyBytes
  readonly to?: KeyBytes
}

interface Known {
  readonly name: string
  readonly bytes: KeyBytes
  readonly partition: Item[string]
}

const knownOf = (name: string): Known => {
  const { key, keyAttributes } = keyNamed(name)
  return { name, bytes: key.bytes, partition: keyAttributes['p']! }
}

const nameIn = (item: Item): string => (item['id'] as { readonly S: string }).S
