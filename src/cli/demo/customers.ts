// Four demonstrations of optimistic concurrency control, first shown on QLDB: a customer is created if nobody has the
// address yet, and another client is at work between the look and the write.
import { Conflict, UnitExpired } from '../../toolkit/endpoint/errors.js'
import type { UnitOfWork } from '../../toolkit/unit/transactor.js'
import type { Plain, Scene, Stage } from './stage.js'

const WANTED = 'matt@example.org'
const SHORT_MS = 50

export const customerScenes: readonly Scene[] = [
  {
    title: 'Two clients create the same customer, found by a scan of the whole table',
    async play(stage) {
      await stage.table('Customers')
      const first = await create(stage, { lookedFor: byScan, other: { id: 'c1', email: WANTED } })
      stage.say(`attempts: ${first.attempts}; ${first.end}`)
      stage.check('the second attempt has seen the other customer', first, {
        attempts: 2,
        end: 'the address is taken',
      })
      stage.check('nobody is there twice', (await stage.all('Customers')).length, 1)

      stage.say('The same without a retry:')
      await stage.put('Customers', { id: 'c1', email: 'other@example.org' })
      try {
        await create(stage, { lookedFor: byScan, other: { id: 'c2', email: WANTED }, limit: 0 })
        stage.check('a conflict', 'committed', 'Conflict')
      } catch (error) {
        stage.say(String(error))
        stage.check('the caller gets the conflict', error instanceof Conflict, true)
      }
    },
  },
  {
    title: 'The other client creates another customer, still without an index',
    async play(stage) {
      await stage.table('Customers')
      const end = await create(stage, { lookedFor: byScan, other: { id: 'c1', email: 'other@example.org' } })
      stage.say(
        `attempts: ${end.attempts}; QLDB needed two: any write to a table it had searched was a conflict`,
      )
      stage.check('only a write that matches what was looked for is one here', end, {
        attempts: 1,
        end: 'created',
      })
      stage.check('both are there', (await stage.all('Customers')).length, 2)
    },
  },
  {
    title: 'The same with an index on the address',
    async play(stage) {
      await stage.table('Customers', 'email')
      const other = await create(stage, {
        lookedFor: byIndex,
        other: { id: 'c1', email: 'other@example.org' },
      })
      stage.say(`attempts with another customer: ${other.attempts}`)
      stage.check('no conflict', other, { attempts: 1, end: 'created' })
      await stage.put('Customers', { id: 'new', email: 'moved@example.org' })
      const same = await create(stage, { lookedFor: byIndex, other: { id: 'c2', email: WANTED } })
      stage.say(`attempts with the same customer: ${same.attempts}`)
      stage.check('found through the index at the second', same, { attempts: 2, end: 'the address is taken' })
    },
  },
  {
    title: `A unit that takes longer than it may (${SHORT_MS} ms here; 30 s unless told otherwise)`,
    async play(stage) {
      await stage.table('Customers')
      try {
        await stage.store.transactor().transact(
          async (tx) => {
            await byScan(tx)
            await new Promise((resolve) => setTimeout(resolve, 2 * SHORT_MS))
            tx.put('Customers', { id: 'late', email: WANTED })
          },
          { timeoutMs: SHORT_MS },
        )
        stage.check('it has expired', 'committed', 'UnitExpired')
      } catch (error) {
        stage.say(String(error))
        stage.check('it has expired', error instanceof UnitExpired, true)
      }
      stage.check('nothing was written', await stage.all('Customers'), [])
    },
  },
]

interface Creation {
  readonly lookedFor: (tx: UnitOfWork) => Promise<Plain[]>
  /** What the other client writes between the look and the write, at the first attempt. */
  readonly other: Plain
  readonly limit?: number
}

async function create(
  { store }: Stage,
  { lookedFor, other, limit = 4 }: Creation,
): Promise<{ readonly attempts: number; readonly end: string }> {
  let attempts = 0
  const end = await store.transactor().transact(
    async (tx) => {
      attempts++
      const found = await lookedFor(tx)
      if (found.length > 0) return 'the address is taken'
      if (attempts === 1) await store.transactor().transact((client) => client.put('Customers', other))
      tx.put('Customers', { id: 'new', email: WANTED })
      tx.update('Customers', { id: 'new' }, { set: { guid: tx.id } })
      return 'created'
    },
    { retry: { limit } },
  )
  return { attempts, end }
}

const byScan = async (tx: UnitOfWork): Promise<Plain[]> =>
  tx.scan('Customers', { filter: 'email = :e', values: { ':e': WANTED } })

const byIndex = async (tx: UnitOfWork): Promise<Plain[]> =>
  tx.query('Customers', { index: 'by-email', key: 'email = :e', values: { ':e': WANTED } })
