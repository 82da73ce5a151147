// Two clients add 10 to a counter of 100, at once: what is lost, and each of the ways not to lose it.
import { ConditionFailed } from '../../toolkit/endpoint/errors.js'
import type { TransactOptions, UnitOfWork } from '../../toolkit/unit/transactor.js'
import { meeting, type Scene, type Stage } from './stage.js'

interface Way {
  readonly name: string
  readonly why: string
  readonly ends: number
  readonly options?: TransactOptions
  /** Adds 10; `met` makes sure that both have read before either writes. */
  add(tx: UnitOfWork, met: () => Promise<void>): Promise<void> | void
}

const WAYS: readonly Way[] = [
  {
    name: 'read, add, write at read-committed',
    why: 'the second write knows nothing of the first',
    ends: 110,
    options: { isolation: 'read-committed' },
    add: readAndWrite,
  },
  {
    name: 'an atomic update',
    why: 'the store adds; nothing was read, so nothing conflicts',
    ends: 120,
    add: (tx) => tx.update('Counters', { id: 'c' }, { add: { n: 10 } }),
  },
  {
    name: 'an explicit lock',
    why: 'who holds it is not overtaken; of two the older one gets it',
    ends: 120,
    async add(tx) {
      const { n } = (await tx.get('Counters', { id: 'c' }, { lock: true })) as { n: number }
      tx.put('Counters', { id: 'c', n: n + 10 })
    },
  },
  {
    name: 'detection, at snapshot',
    why: 'the first committer wins, the other reads again',
    ends: 120,
    options: { isolation: 'snapshot' },
    add: readAndWrite,
  },
  {
    name: 'detection, at serializable',
    why: 'what was read must be so at the commit, or it is read again',
    ends: 120,
    add: readAndWrite,
  },
  {
    name: 'compare-and-set, at read-committed',
    why: 'the condition fails for the second, whose caller tries again',
    ends: 120,
    options: { isolation: 'read-committed' },
    async add(tx, met) {
      const { n } = (await tx.get('Counters', { id: 'c' })) as { n: number }
      await met()
      tx.put('Counters', { id: 'c', n: n + 10 }, { expression: 'n = :n', values: { ':n': n } })
    },
  },
]

export const lostUpdateScene: Scene = {
  title: 'A lost update, and each of the remedies: two clients add 10 to 100',
  async play(stage) {
    await stage.table('Counters')
    for (const way of WAYS) {
      await stage.put('Counters', { id: 'c', n: 100 })
      const met = meeting(2)
      const attempts = await Promise.all([client(stage, way, met), client(stage, way, met)])
      const n = (await stage.get('Counters', 'c'))?.['n']
      const counted = attempts.toSorted((a, b) => a - b).join(' + ')
      stage.check(`${way.name}: ${String(n)}, attempts ${counted} (${way.why})`, n, way.ends)
    }
  },
}

async function readAndWrite(tx: UnitOfWork, met: () => Promise<void>): Promise<void> {
  const { n } = (await tx.get('Counters', { id: 'c' })) as { n: number }
  await met()
  tx.put('Counters', { id: 'c', n: n + 10 })
}

const TRIES_MAX = 5

async function client({ store }: Stage, way: Way, met: () => Promise<void>): Promise<number> {
  let attempts = 0
  for (let tries = 1; ; tries++) {
    try {
      await store.transactor().transact((tx) => {
        attempts++
        return way.add(tx, met)
      }, way.options)
      return attempts
    } catch (error) {
      if (!(error instanceof ConditionFailed) || tries >= TRIES_MAX) throw error
    }
  }
}
