// Hermitage's schedules (github.com/ept/hermitage) as units of work. Each says whether the level has prevented the anomaly
// or let it happen; the items are 1 => 10 and 2 => 20, as there.
import type { IsolationLevel, Transactor, UnitHandle } from '../../../src/toolkit/unit/transactor.js'
import { Conflict } from '../../../src/toolkit/endpoint/errors.js'

export const TABLE = 'Test'

export type Verdict = 'prevented' | 'possible'

export interface Schedule {
  /** As in the literature. */
  readonly name: string
  readonly about: string
  run(stage: Stage): Promise<Verdict>
}

type Row = Record<string, unknown>

/** Units on the items of the schedule, at one level. */
export class Stage {
  readonly #t: Transactor
  readonly #isolation: IsolationLevel

  constructor(t: Transactor, isolation: IsolationLevel) {
    this.#t = t
    this.#isolation = isolation
  }

  async begin(): Promise<Player> {
    return new Player(await this.#t.begin({ isolation: this.#isolation }))
  }

  /** What is committed in the end, by another unit. */
  async after(): Promise<ReadonlyMap<number, number>> {
    const rows = await this.#t.transact((tx) => tx.scan(TABLE))
    return new Map(rows.map(({ id, value }) => [id as number, value as number]))
  }
}

/** One of the units of a schedule. */
export class Player {
  readonly #unit: UnitHandle

  constructor(unit: UnitHandle) {
    this.#unit = unit
  }

  async value(id: number): Promise<number | undefined> {
    return (await this.#unit.get(TABLE, { id }))?.['value'] as number | undefined
  }

  /** Ids and values whose value is one of these; all without any. */
  async where(...wanted: readonly number[]): Promise<ReadonlyMap<number, number>> {
    const names = { '#v': 'value' }
    const values = Object.fromEntries(wanted.map((value, at) => [`:v${at}`, value]))
    const filter = `#v IN (${Object.keys(values).join(', ')})`
    const rows: Row[] = await this.#unit.scan(TABLE, wanted.length === 0 ? {} : { filter, names, values })
    return new Map(rows.map(({ id, value }) => [id as number, value as number]))
  }

  set(id: number, value: number): void {
    this.#unit.update(TABLE, { id }, { set: { value } })
  }

  /** Reads and writes, as `value = value + n` does. */
  plus(id: number, n: number): void {
    this.#unit.update(
      TABLE,
      { id },
      { expression: 'SET #v = #v + :n', names: { '#v': 'value' }, values: { ':n': n } },
    )
  }

  insert(id: number, value: number): void {
    this.#unit.put(TABLE, { id, value })
  }

  remove(id: number): void {
    this.#unit.delete(TABLE, { id })
  }

  /** False for a conflict, which a caller would answer by trying again. */
  async commit(): Promise<boolean> {
    try {
      await this.#unit.commit()
      return true
    } catch (error) {
      if (error instanceof Conflict) return false
      throw error
    }
  }

  abort(): Promise<void> {
    return this.#unit.rollback()
  }
}

const prevented = (is: boolean): Verdict => (is ? 'prevented' : 'possible')

export const SCHEDULES: readonly Schedule[] = [
  {
    name: 'G0',
    about: 'dirty writes: writes of two units interleave',
    async run(stage) {
      const [t1, t2] = [await stage.begin(), await stage.begin()]
      t1.set(1, 11)
      t2.set(1, 12)
      t1.set(2, 21)
      await t1.commit()
      t2.set(2, 22)
      await t2.commit()
      const after = await stage.after()
      const written = [...after.values()].toSorted((a, b) => a - b).join(' ')
      return prevented(written === '11 21' || written === '12 22')
    },
  },
  {
    name: 'G1a',
    about: 'aborted reads: what is read was never committed',
    async run(stage) {
      const [t1, t2] = [await stage.begin(), await stage.begin()]
      t1.set(1, 101)
      const first = await t2.value(1)
      await t1.abort()
      const second = await t2.value(1)
      await t2.commit()
      return prevented(first === 10 && second === 10)
    },
  },
  {
    name: 'G1b',
    about: 'intermediate reads: what is read was not the last write of its unit',
    async run(stage) {
      const [t1, t2] = [await stage.begin(), await stage.begin()]
      t1.set(1, 101)
      const first = await t2.value(1)
      t1.set(1, 11)
      await t1.commit()
      const second = await t2.value(1)
      await t2.commit()
      return prevented(first !== 101 && second !== 101)
    },
  },
  {
    name: 'G1c',
    about: 'circular information flow: two units read what the other has written',
    async run(stage) {
      const [t1, t2] = [await stage.begin(), await stage.begin()]
      t1.set(1, 11)
      t2.set(2, 22)
      const one = await t1.value(2)
      const two = await t2.value(1)
      await t1.commit()
      await t2.commit()
      return prevented(!(one === 22 && two === 11))
    },
  },
  {
    name: 'OTV',
    about: 'observed transaction vanishes: a unit is seen, and then not',
    async run(stage) {
      const [t1, t2, t3] = [await stage.begin(), await stage.begin(), await stage.begin()]
      t1.set(1, 11)
      t1.set(2, 19)
      t2.set(1, 12)
      await t1.commit()
      const seen = [await t3.value(1)]
      t2.set(2, 18)
      seen.push(await t3.value(2))
      await t2.commit()
      const then = [await t3.value(2), await t3.value(1)]
      await t3.commit()
      // Of two values that one unit wrote, never one with and one without it.
      const consistent = new Set(['10 20', '11 19', '12 18'])
      return prevented(consistent.has(seen.join(' ')) && consistent.has(then.toReversed().join(' ')))
    },
  },
  {
    name: 'PMP',
    about: 'predicate-many-preceders: a second look at a predicate finds what another has inserted',
    async run(stage) {
      const [t1, t2] = [await stage.begin(), await stage.begin()]
      const first = await t1.where(30)
      t2.insert(3, 30)
      await t2.commit()
      const second = await t1.where(30, 33, 36)
      await t1.commit()
      return prevented(first.size === 0 && second.size === 0)
    },
  },
  {
    name: 'PMP write',
    about: 'the same where the predicate is that of a write',
    async run(stage) {
      const [t1, t2] = [await stage.begin(), await stage.begin()]
      for (const id of (await t1.where()).keys()) t1.plus(id, 10)
      for (const id of (await t2.where(20)).keys()) t2.remove(id)
      await t1.commit()
      return prevented(!(await t2.commit()))
    },
  },
  {
    name: 'P4',
    about: 'lost update: two read, both write, and the second overwrites the first',
    async run(stage) {
      const [t1, t2] = [await stage.begin(), await stage.begin()]
      const [one, two] = [await t1.value(1), await t2.value(1)]
      t1.set(1, one! + 1)
      t2.set(1, two! + 1)
      await t1.commit()
      return prevented(!(await t2.commit()))
    },
  },
  {
    name: 'G-single',
    about: 'read skew: one item from before another unit, one from after it',
    async run(stage) {
      const [t1, t2] = [await stage.begin(), await stage.begin()]
      const first = await t1.value(1)
      await t2.value(1)
      await t2.value(2)
      t2.set(1, 12)
      t2.set(2, 18)
      await t2.commit()
      const second = await t1.value(2)
      await t1.commit()
      return prevented(first === 10 && second === 20)
    },
  },
  {
    name: 'G-single predicate',
    about: 'read skew between two predicates',
    async run(stage) {
      const [t1, t2] = [await stage.begin(), await stage.begin()]
      await t1.where(5, 10, 15, 20)
      for (const id of (await t2.where(10)).keys()) t2.set(id, 12)
      await t2.commit()
      const second = await t1.where(3, 6, 9, 12)
      await t1.commit()
      return prevented(second.size === 0)
    },
  },
  {
    name: 'G-single write',
    about: 'read skew where the second predicate is that of a write',
    async run(stage) {
      const [t1, t2] = [await stage.begin(), await stage.begin()]
      await t1.value(1)
      await t2.where()
      t2.set(1, 12)
      t2.set(2, 18)
      await t2.commit()
      for (const id of (await t1.where(20)).keys()) t1.remove(id)
      return prevented(!(await t1.commit()))
    },
  },
  {
    name: 'G2-item',
    about: 'write skew: each reads what the other writes',
    async run(stage) {
      const [t1, t2] = [await stage.begin(), await stage.begin()]
      for (const unit of [t1, t2]) for (const id of [1, 2]) await unit.value(id)
      t1.set(1, 11)
      t2.set(2, 21)
      await t1.commit()
      return prevented(!(await t2.commit()))
    },
  },
  {
    name: 'G2',
    about: 'write skew on a predicate: each inserts what the other looked for',
    async run(stage) {
      const [t1, t2] = [await stage.begin(), await stage.begin()]
      for (const unit of [t1, t2]) await unit.where(30, 42)
      t1.insert(3, 30)
      t2.insert(4, 42)
      await t1.commit()
      return prevented(!(await t2.commit()))
    },
  },
  {
    name: 'G2 two edges',
    about: 'a cycle of two anti-dependencies, seen by a third unit',
    async run(stage) {
      const t1 = await stage.begin()
      await t1.where()
      const t2 = await stage.begin()
      t2.plus(2, 5)
      await t2.commit()
      const t3 = await stage.begin()
      await t3.where()
      await t3.commit()
      t1.set(1, 0)
      return prevented(!(await t1.commit()))
    },
  },
  {
    name: 'Fekete three',
    about: 'two writers that are serializable without a third, which only reads',
    async run(stage) {
      const t2 = await stage.begin()
      const [x, y] = [await t2.value(1), await t2.value(2)]
      const t1 = await stage.begin()
      t1.set(2, (await t1.value(2))! + 20)
      await t1.commit()
      const t3 = await stage.begin()
      const seen = [await t3.value(1), await t3.value(2)]
      await t3.commit()
      // A withdrawal of 11 with a fee of 1 if it overdraws, decided on x and y as they were.
      t2.set(1, x! - (x! + y! < 31 ? 12 : 11))
      const committed = await t2.commit()
      return prevented(!(committed && seen[1] === 40))
    },
  },
]
