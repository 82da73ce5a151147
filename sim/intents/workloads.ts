// What the clients of a simulated world do, and what must be true of it afterwards.
import type { KeySchema } from '../../src/model/table.js'
import { attribute, type Item } from '../../src/model/value.js'
import type { ItemAddress, UnitRange } from '../../src/toolkit/unit/protocol.js'
import { type Anomaly, Findings } from '../check/anomaly.js'
import { type BankRead, judgeBank } from '../check/bank.js'
import { judgeLists, type ListOperation, type ListTransaction } from '../check/elle.js'
import type { Random } from '../../src/runtime/seeded-random.js'
import type { SimStore } from './sim-store.js'
import type { SimUnit } from './sim-unit.js'

/** One unit: what it does in an attempt, and what to note when it has ended. */
export interface UnitPlan {
  run(unit: SimUnit): Promise<void>
  /** `committed`: the last attempt that was run is what was committed. */
  ended(end: UnitEnd): void
}

export interface UnitEnd {
  readonly id: string
  readonly status: 'committed' | 'aborted' | 'unknown'
  readonly invokedAt: number
  readonly completedAt: number
}

export interface Workload {
  readonly table: string
  readonly schema: KeySchema
  load(store: SimStore, random: Random): void
  next(random: Random): UnitPlan
  /** `final`: the items when everything has come to rest. */
  judge(final: readonly Item[]): readonly Anomaly[]
}

export const WORKLOADS: Readonly<Record<string, () => Workload>> = {
  lists: () => new Lists(),
  bank: () => new Bank(),
  slots: () => new Slots(),
  lamps: () => new Lamps(),
}

const text = (value: string): { readonly S: string } => ({ S: value })
const number = (value: number): { readonly N: string } => ({ N: String(value) })

/** Appends to lists and reads of lists, judged by cycles. */
class Lists implements Workload {
  readonly table = 'Lists'
  readonly schema: KeySchema = { partition: { name: 'id', type: 'S' } }
  readonly #history: ListTransaction[] = []
  #value = 0

  load(store: SimStore, random: Random): void {
    // Some were there before any transaction.
    for (let key = 0; key < LIST_KEYS; key++)
      if (random.chance(0.3)) store.load(this.table, { id: text(`k${key}`), l: { L: [] } })
  }

  next(random: Random): UnitPlan {
    const keys = random.sample(
      Array.from({ length: LIST_KEYS }, (_, at) => `k${at}`),
      random.between(1, 4),
    )
    const plans = keys.map((key) => ({
      key,
      what: random.pick(['read', 'append', 'both', 'both', 'put'] as const),
      value: ++this.#value,
    }))
    const locks = random.chance(0.1)
    let operations: ListOperation[] = []
    return {
      run: async (unit) => {
        operations = []
        const reads = plans.filter(({ what }) => what !== 'append')
        const items = await unit.get(
          reads.map(({ key }) => this.#address(key)),
          { lock: locks },
        )
        const lists = new Map(reads.map(({ key }, at) => [key, listOf(items[at])]))
        for (const { key, what, value } of plans) {
          const list = lists.get(key)
          if (list !== undefined) operations.push({ kind: 'read', key, list })
          if (what === 'read') continue
          operations.push({ kind: 'append', key, value })
          if (what === 'put')
            unit.act({
              ...this.#address(key),
              kind: 'put',
              item: { id: text(key), l: { L: [...list!, value].map(number) } },
            })
          else
            unit.act({
              ...this.#address(key),
              kind: 'update',
              expressions: {
                update: 'SET #l = list_append(if_not_exists(#l, :none), :value)',
                names: { '#l': 'l' },
                values: { ':none': { L: [] }, ':value': { L: [number(value)] } },
              },
            })
        }
      },
      ended: ({ id, status, invokedAt, completedAt }) => {
        // What was read by somebody who was told nothing may be anything.
        const seen = status === 'committed' ? operations : operations.filter(({ kind }) => kind === 'append')
        this.#history.push({ id, status, invokedAt, completedAt, operations: seen })
      },
    }
  }

  judge(final: readonly Item[]): readonly Anomaly[] {
    const lists = new Map<string, readonly number[]>()
    for (let key = 0; key < LIST_KEYS; key++) lists.set(`k${key}`, [])
    for (const item of final) lists.set(textOf(item, 'id'), listOf(item))
    return judgeLists(this.#history, lists).anomalies
  }

  #address(key: string): ItemAddress {
    return { table: this.table, key: { id: text(key) } }
  }
}

const LIST_KEYS = 7

function listOf(item: Item | undefined): number[] {
  const list = item === undefined ? undefined : attribute(item, 'l')
  return list !== undefined && 'L' in list ? list.L.map((one) => ('N' in one ? Number(one.N) : NaN)) : []
}

function textOf(item: Item, name: string): string {
  const value = attribute(item, name)
  return value !== undefined && 'S' in value ? value.S : ''
}

function numberOf(item: Item | undefined, name: string): number | undefined {
  const value = item === undefined ? undefined : attribute(item, name)
  return value !== undefined && 'N' in value ? Number(value.N) : undefined
}

/** Transfers and audits: money is neither made nor lost, and no account is overdrawn. */
class Bank implements Workload {
  readonly table = 'Accounts'
  readonly schema: KeySchema = { partition: { name: 'id', type: 'S' } }
  readonly #audits: BankRead[] = []

  load(store: SimStore): void {
    for (let account = 0; account < ACCOUNTS; account++)
      store.load(this.table, {
        id: text(`a${account}`),
        balance: number(BALANCE),
        note: text('opened by hand'),
      })
  }

  next(random: Random): UnitPlan {
    return random.chance(0.25) ? this.#audit() : this.#transfer(random)
  }

  #audit(): UnitPlan {
    let balances = new Map<string, number | undefined>()
    const accounts = Array.from({ length: ACCOUNTS }, (_, at) => `a${at}`)
    return {
      run: async (unit) => {
        const items = await unit.get(accounts.map((account) => this.#address(account)))
        balances = new Map(accounts.map((account, at) => [account, numberOf(items[at], 'balance')]))
      },
      ended: ({ id, status }) => {
        if (status === 'committed') this.#audits.push({ id, balances })
      },
    }
  }

  #transfer(random: Random): UnitPlan {
    const [from, to] = random.sample(
      Array.from({ length: ACCOUNTS }, (_, at) => `a${at}`),
      2,
    ) as [string, string]
    const amount = random.between(1, 30)
    const way = random.pick(['read', 'condition', 'check'] as const)
    return {
      run: async (unit) => {
        if (way === 'read') {
          const [giver, taker] = await unit.get([this.#address(from), this.#address(to)])
          const [has, had] = [numberOf(giver, 'balance') ?? 0, numberOf(taker, 'balance') ?? 0]
          if (has < amount) return
          unit.act({
            ...this.#address(from),
            kind: 'put',
            item: { ...giver!, balance: number(has - amount) },
          })
          unit.act({ ...this.#address(to), kind: 'put', item: { ...taker!, balance: number(had + amount) } })
          return
        }
        const add = (account: string, sum: number, least?: number): void =>
          unit.act({
            ...this.#address(account),
            kind: 'update',
            expressions: {
              update: 'ADD #b :sum',
              names: { '#b': 'balance' },
              values: { ':sum': number(sum), ...(least !== undefined && { ':least': number(least) }) },
              ...(least !== undefined && { condition: '#b >= :least' }),
            },
          })
        add(from, -amount, amount)
        add(to, amount)
        if (way === 'check') {
          const other = random.pick(['a0', 'a1', 'a2'].filter((one) => one !== from && one !== to))
          unit.act({
            ...this.#address(other),
            kind: 'check',
            expressions: {
              condition: '#b >= :zero',
              names: { '#b': 'balance' },
              values: { ':zero': number(0) },
            },
          })
        }
      },
      ended: () => undefined,
    }
  }

  judge(final: readonly Item[]): readonly Anomaly[] {
    const end = new Map(final.map((item) => [textOf(item, 'id'), numberOf(item, 'balance')]))
    return judgeBank([...this.#audits, { id: 'the end', balances: end }], ACCOUNTS * BALANCE)
  }

  #address(account: string): ItemAddress {
    return { table: this.table, key: { id: text(account) } }
  }
}

const ACCOUNTS = 5
const BALANCE = 100

/** Tokens that move from slot to slot: deleted here and inserted there. Whoever looks at all slots finds each once. */
class Slots implements Workload {
  readonly table = 'Slots'
  readonly schema: KeySchema = { partition: { name: 'board', type: 'S' }, sort: { name: 'slot', type: 'N' } }
  readonly #looks: { readonly id: string; readonly rows: readonly Item[] }[] = []

  load(store: SimStore): void {
    for (let slot = 0; slot < TOKENS; slot++) store.load(this.table, this.#item(slot, `t${slot}`))
  }

  next(random: Random): UnitPlan {
    const moves = random.chance(0.75)
    const blind = random.chance(0.3)
    const [pick, to] = [random.below(TOKENS), random.below(SLOTS)]
    let rows: Item[] = []
    return {
      run: async (unit) => {
        if (moves && blind) return this.#moveKnown(unit, random.below(SLOTS), to)
        rows = await unit.query(this.#board())
        if (!moves) return
        const taken = rows.map((row) => numberOf(row, 'slot'))
        const row = rows[pick]
        if (row === undefined || taken.includes(to)) return
        const token = textOf(row, 'token')
        unit.act({ ...this.#address(numberOf(row, 'slot')!), kind: 'delete' })
        unit.act({ ...this.#address(to), kind: 'put', item: this.#item(to, token) })
      },
      ended: ({ id, status }) => {
        if (status === 'committed' && !(moves && blind)) this.#looks.push({ id, rows })
      },
    }
  }

  /** By the two slots alone, without a query. */
  async #moveKnown(unit: SimUnit, from: number, to: number): Promise<void> {
    if (from === to) return
    const [row, other] = await unit.get([this.#address(from), this.#address(to)])
    if (row === undefined || other !== undefined) return
    unit.act({ ...this.#address(from), kind: 'delete' })
    unit.act({ ...this.#address(to), kind: 'put', item: this.#item(to, textOf(row, 'token')) })
  }

  judge(final: readonly Item[]): readonly Anomaly[] {
    const found = new Findings()
    const expected = Array.from({ length: TOKENS }, (_, at) => `t${at}`).join()
    for (const { id, rows } of [...this.#looks, { id: 'the end', rows: final }]) {
      const tokens = rows.map((row) => textOf(row, 'token')).toSorted()
      if (tokens.join() !== expected) found.add('tokens', `${id} found the tokens ${tokens.join(', ')}`)
    }
    return found.all
  }

  #board(): UnitRange {
    return {
      table: this.table,
      keyCondition: '#b = :b',
      names: { '#b': 'board' },
      values: { ':b': text('main') },
      reverse: false,
    }
  }

  #address(slot: number): ItemAddress {
    return { table: this.table, key: { board: text('main'), slot: number(slot) } }
  }

  #item(slot: number, token: string): Item {
    return { board: text('main'), slot: number(slot), token: text(token) }
  }
}

const TOKENS = 6
const SLOTS = 14

/**
 * Lamps of which two or three are on, always: whoever finds two may switch one on, whoever finds three may switch one off.
 * Two who do so at the same time write different lamps, and see each other only by what they have asked for.
 */
class Lamps implements Workload {
  readonly table = 'Lamps'
  readonly schema: KeySchema = { partition: { name: 'room', type: 'S' }, sort: { name: 'lamp', type: 'N' } }
  readonly #looks: { readonly id: string; readonly rows: readonly Item[] }[] = []

  load(store: SimStore): void {
    for (let lamp = 0; lamp < LAMPS; lamp++)
      store.load(this.table, { ...this.#address(lamp).key, lit: number(lamp < LIT.min ? 1 : 0) })
  }

  next(random: Random): UnitPlan {
    const what = random.pick(['look', 'switch', 'switch', 'polish'] as const)
    const [off, on] = [random.below(LIT.max), random.below(LAMPS)]
    let rows: Item[] = []
    return {
      run: async (unit) => {
        // Of no interest to those who ask which are on, unless it is.
        if (what === 'polish') return this.#set(unit, on, 'polished', random.below(1_000))
        rows = await unit.query(this.#lit())
        if (what === 'look') return
        const lit = rows.map((row) => numberOf(row, 'lamp')!)
        if (lit.length >= LIT.max) this.#set(unit, lit[off]!, 'lit', 0)
        else if (!lit.includes(on)) this.#set(unit, on, 'lit', 1)
      },
      ended: ({ id, status }) => {
        if (status === 'committed' && what !== 'polish') this.#looks.push({ id, rows })
      },
    }
  }

  judge(final: readonly Item[]): readonly Anomaly[] {
    const found = new Findings()
    const atEnd = final.filter((row) => numberOf(row, 'lit') === 1)
    for (const { id, rows } of [...this.#looks, { id: 'the end', rows: atEnd }])
      if (rows.length < LIT.min || rows.length > LIT.max)
        found.add('lamps', `${id} found ${rows.length} lamps that are on`)
    return found.all
  }

  /** Without a look at the lamp itself. */
  #set(unit: SimUnit, lamp: number, name: string, value: number): void {
    unit.act({
      ...this.#address(lamp),
      kind: 'update',
      expressions: { update: 'SET #n = :n', names: { '#n': name }, values: { ':n': number(value) } },
    })
  }

  #lit(): UnitRange {
    return {
      table: this.table,
      keyCondition: '#r = :r',
      filter: '#lit = :one',
      names: { '#r': 'room', '#lit': 'lit' },
      values: { ':r': text('hall'), ':one': number(1) },
      reverse: false,
    }
  }

  #address(lamp: number): ItemAddress {
    return { table: this.table, key: { room: text('hall'), lamp: number(lamp) } }
  }
}

const LAMPS = 12
const LIT = { min: 2, max: 3 }
