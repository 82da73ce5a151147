// Four demonstrations of optimistic concurrency control, first shown on QLDB: a customer is created if nobody has the
// address yet, and another client is at work between the look and the write. Each is played twice, by calls and by statements.
import { Conflict, UnitExpired } from '../../toolkit/endpoint/errors.js'
import type { UnitOfWork } from '../../toolkit/unit/transactor.js'
import type { Plain, Scene, Stage } from './stage.js'

const WANTED = 'matt@example.org'
const SHORT_MS = 50

/** The same in two languages: calls of the toolkit, and statements of PartiQL. Each has a table of its own. */
interface Language {
  readonly name: string
  readonly table: string
  readonly byScan: (tx: UnitOfWork) => Promise<Plain[]>
  readonly byIndex: (tx: UnitOfWork) => Promise<Plain[]>
  /** Creates the customer, and then adds the id of the unit to it. */
  create(tx: UnitOfWork): Promise<void> | void
}

const LANGUAGES: readonly Language[] = [
  {
    name: 'by calls',
    table: 'Customers',
    byScan: async (tx) => tx.scan('Customers', { filter: 'email = :e', values: { ':e': WANTED } }),
    byIndex: async (tx) =>
      tx.query('Customers', { index: 'by-email', key: 'email = :e', values: { ':e': WANTED } }),
    create(tx) {
      tx.put('Customers', { id: 'new', email: WANTED })
      tx.update('Customers', { id: 'new' }, { set: { guid: tx.id } })
    },
  },
  {
    name: 'by statements',
    table: 'Buyers',
    byScan: (tx) => tx.execute('SELECT email FROM Buyers WHERE email = ?', [WANTED]),
    byIndex: (tx) => tx.execute('SELECT email FROM Buyers."by-email" WHERE email = ?', [WANTED]),
    async create(tx) {
      await tx.execute(`INSERT INTO Buyers VALUE {'id': 'new', 'email': ?}`, [WANTED])
      await tx.execute(`UPDATE Buyers SET guid = ? WHERE id = 'new'`, [tx.id])
    },
  },
]

const scene = (title: string, play: (stage: Stage, language: Language) => Promise<void>): Scene => ({
  title,
  async play(stage) {
    for (const language of LANGUAGES) {
      stage.say(`${language.name}:`)
      await play(stage, language)
    }
  },
})

export const customerScenes: readonly Scene[] = [
  scene(
    'Two clients create the same customer, found by a scan of the whole table',
    async (stage, language) => {
      const { table } = language
      await stage.table(table)
      const lookedFor = language.byScan
      const first = await create(stage, { language, lookedFor, other: { id: 'c1', email: WANTED } })
      stage.say(`attempts: ${first.attempts}; ${first.end}`)
      stage.check('the second attempt has seen the other customer', first, {
        attempts: 2,
        end: 'the address is taken',
      })
      stage.check('nobody is there twice', (await stage.all(table)).length, 1)

      stage.say('The same without a retry:')
      await stage.put(table, { id: 'c1', email: 'other@example.org' })
      try {
        await create(stage, { language, lookedFor, other: { id: 'c2', email: WANTED }, limit: 0 })
        stage.check('a conflict', 'committed', 'Conflict')
      } catch (error) {
        stage.say(String(error))
        stage.check('the caller gets the conflict', error instanceof Conflict, true)
      }
    },
  ),
  scene('The other client creates another customer, still without an index', async (stage, language) => {
    const { table } = language
    await stage.table(table)
    const other = { id: 'c1', email: 'other@example.org' }
    const end = await create(stage, { language, lookedFor: language.byScan, other })
    stage.say(
      `attempts: ${end.attempts}; QLDB needed two: any write to a table it had searched was a conflict`,
    )
    stage.check('only a write that matches what was looked for is one here', end, {
      attempts: 1,
      end: 'created',
    })
    stage.check('both are there', (await stage.all(table)).length, 2)
  }),
  scene('The same with an index on the address', async (stage, language) => {
    const { table, byIndex: lookedFor } = language
    await stage.table(table, 'email')
    const other = await create(stage, {
      language,
      lookedFor,
      other: { id: 'c1', email: 'other@example.org' },
    })
    stage.say(`attempts with another customer: ${other.attempts}`)
    stage.check('no conflict', other, { attempts: 1, end: 'created' })
    await stage.store.transactor().transact((tx) => tx.delete(table, { id: 'new' }))
    const same = await create(stage, { language, lookedFor, other: { id: 'c2', email: WANTED } })
    stage.say(`attempts with the same customer: ${same.attempts}`)
    stage.check('found through the index at the second', same, { attempts: 2, end: 'the address is taken' })
  }),
  scene(
    `A unit that takes longer than it may (${SHORT_MS} ms here; 30 s unless told otherwise)`,
    async (stage, language) => {
      await stage.table(language.table)
      try {
        await stage.store.transactor().transact(
          async (tx) => {
            await language.byScan(tx)
            await new Promise((resolve) => setTimeout(resolve, 2 * SHORT_MS))
            await language.create(tx)
          },
          { timeoutMs: SHORT_MS },
        )
        stage.check('it has expired', 'committed', 'UnitExpired')
      } catch (error) {
        stage.say(String(error))
        stage.check('it has expired', error instanceof UnitExpired, true)
      }
      stage.check('nothing was written', await stage.all(language.table), [])
    },
  ),
]

interface Creation {
  readonly language: Language
  readonly lookedFor: (tx: UnitOfWork) => Promise<Plain[]>
  /** What the other client writes between the look and the write, at the first attempt. */
  readonly other: Plain
  readonly limit?: number
}

async function create(
  { store }: Stage,
  { language, lookedFor, other, limit = 4 }: Creation,
): Promise<{ readonly attempts: number; readonly end: string }> {
  let attempts = 0
  const end = await store.transactor().transact(
    async (tx) => {
      attempts++
      const found = await lookedFor(tx)
      if (found.length > 0) return 'the address is taken'
      if (attempts === 1) await store.transactor().transact((client) => client.put(language.table, other))
      await language.create(tx)
      return 'created'
    },
    { retry: { limit } },
  )
  return { attempts, end }
}
