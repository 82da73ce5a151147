// Alice looks at her two accounts while 100 goes from one to the other.
import type { IsolationLevel } from '../../toolkit/unit/transactor.js'
import type { Scene, Stage } from './stage.js'

export const aliceScene: Scene = {
  title: "Alice's two accounts: 500 and 500, and a transfer of 100 while she looks",
  async play(stage) {
    await stage.table('Accounts')
    const committed = await look(stage, 'read-committed')
    stage.say(
      `read-committed: she sees ${committed.join(' and ')}: each was committed, but not at the same time`,
    )
    stage.check('read skew: 100 seem to be missing', sum(committed), 900)
    const snapshot = await look(stage, 'snapshot')
    stage.say(`snapshot:       she sees ${snapshot.join(' and ')}: all as of her first read`)
    stage.check('nothing is missing', sum(snapshot), 1000)
    const after = new Map((await stage.all('Accounts')).map(({ id, balance }) => [id, balance]))
    stage.check('the transfer was not held up by her', [after.get('a1'), after.get('a2')], [600, 400])
  },
}

async function look(stage: Stage, isolation: IsolationLevel): Promise<number[]> {
  await stage.put('Accounts', { id: 'a1', balance: 500 }, { id: 'a2', balance: 500 })
  const { store } = stage
  return store.transactor().transact(
    async (alice) => {
      const first = await alice.get('Accounts', { id: 'a1' })
      await store.transactor().transact((transfer) => {
        transfer.update('Accounts', { id: 'a1' }, { add: { balance: 100 } })
        transfer.update('Accounts', { id: 'a2' }, { add: { balance: -100 } })
      })
      const second = await alice.get('Accounts', { id: 'a2' })
      return [first?.['balance'] as number, second?.['balance'] as number]
    },
    { isolation },
  )
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0)
