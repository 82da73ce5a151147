// Statements in units of work: a part of the suite of transactors.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Transactor, UnitOfWork } from '../../src/toolkit/unit/transactor.js'

export interface StatementSubject {
  /** With the tables Accounts (`id`) and Orders (`customer`, `number`). */
  readonly t: Transactor
  /** One that tries again until it is through. */
  readonly patient: Transactor
}

export function testUnitStatements(subject: () => StatementSubject): void {
  const run = <Result>(fn: (tx: UnitOfWork) => Promise<Result>): Promise<Result> => subject().t.transact(fn)
  const inserted = (tx: UnitOfWork, customer: string, ...numbers: number[]): Promise<unknown> =>
    Promise.all(
      numbers.map((number) =>
        tx.execute(`INSERT INTO Orders VALUE {'customer': ?, 'number': ?, 'status': 'old'}`, [
          customer,
          number,
        ]),
      ),
    )

  test('statements: SELECT reads items, ranges and tables, and sees what the unit has written', async () => {
    await run((tx) => inserted(tx, 'pq', 1, 3, 5))
    await run(async (tx) => {
      await inserted(tx, 'pq', 4)
      await tx.execute(`UPDATE Orders SET status = 'changed' WHERE customer = 'pq' AND "number" = 3`)
      await tx.execute(`DELETE FROM Orders WHERE customer = 'pq' AND "number" = 1`)
      const shown = async (text: string, ...parameters: unknown[]): Promise<string> =>
        (await tx.execute(text, parameters))
          .map(({ number, status }) => `${String(number)} ${String(status)}`)
          .join(', ')
      const SELECT = `SELECT "number", status FROM Orders WHERE customer = ?`
      assert.equal(await shown(SELECT, 'pq'), '3 changed, 4 old, 5 old')
      assert.equal(await shown(`${SELECT} AND status = 'old' ORDER BY "number" DESC`, 'pq'), '5 old, 4 old')
      assert.equal(await shown(`${SELECT} AND "number" > 3 AND "number" < 5`, 'pq'), '4 old')
      assert.equal(await shown(`${SELECT} AND "number" IN [5, 3]`, 'pq'), '5 old, 3 changed')
      assert.equal(
        await shown(`${SELECT} AND attribute_exists(status) = true AND NOT "number" = 4`, 'pq'),
        '3 changed, 5 old',
      )
      assert.equal(await shown(`${SELECT} AND "number" = ?`, 'pq', 4), '4 old')
      assert.equal(await shown(`${SELECT} AND "number" = 1`, 'pq'), '')
      assert.deepEqual(
        await tx.execute(`SELECT * FROM Orders WHERE status = 'changed' AND customer > 'pp'`),
        [{ customer: 'pq', number: 3, status: 'changed' }],
      )
    })
  })

  test('statements: INSERT is a put if there is no item, also after what the unit has written itself', async () => {
    await run((tx) =>
      tx.execute(`INSERT INTO Accounts VALUE {'id': 'pq-once', 'tags': <<'a'>>, 'm': {'x': [1, true]}}`),
    )
    assert.deepEqual(await run((tx) => tx.execute(`SELECT * FROM Accounts WHERE id = 'pq-once'`)), [
      { id: 'pq-once', tags: new Set(['a']), m: { x: [1, true] } },
    ])
    await assert.rejects(
      run(async (tx) => {
        await tx.execute(`INSERT INTO Accounts VALUE {'id': 'pq-beside'}`)
        await tx.execute(`INSERT INTO Accounts VALUE {'id': 'pq-once'}`)
      }),
      { name: 'ConditionFailed' },
    )
    assert.deepEqual(await run((tx) => tx.execute(`SELECT * FROM Accounts WHERE id = 'pq-beside'`)), [])
    await assert.rejects(
      run(async (tx) => {
        tx.put('Accounts', { id: 'pq-own' })
        await tx.execute(`INSERT INTO Accounts VALUE {'id': 'pq-own'}`)
      }),
      { name: 'ConditionFailed' },
    )
    await run(async (tx) => {
      await tx.execute(`DELETE FROM Accounts WHERE id = 'pq-once'`)
      await tx.execute(`INSERT INTO Accounts VALUE {'id': 'pq-once', 'again': true}`)
    })
    assert.deepEqual(await run((tx) => tx.get('Accounts', { id: 'pq-once' })), { id: 'pq-once', again: true })
  })

  test('statements: UPDATE needs its item and what WHERE asks for, DELETE only the latter, where there is an item', async () => {
    await run((tx) => tx.execute(`INSERT INTO Accounts VALUE {'id': 'pq-up', 'n': 1}`))
    for (const text of [
      `UPDATE Accounts SET n = 5 WHERE id = 'pq-nobody'`,
      `UPDATE Accounts SET n = 5 WHERE id = 'pq-up' AND n = 7`,
      `UPDATE Accounts SET n = 5 WHERE id = 'pq-up' AND (n = 7 OR n = 8)`,
      `DELETE FROM Accounts WHERE id = 'pq-up' AND n = 7`,
      `UPDATE Accounts SET n = 5 WHERE id = 'pq-nobody' RETURNING ALL NEW *`,
      `EXISTS(SELECT * FROM Accounts WHERE id = 'pq-up' AND n = 7)`,
    ])
      await assert.rejects(
        run((tx) => tx.execute(text)),
        { name: 'ConditionFailed' },
        text,
      )
    await run(async (tx) => {
      await tx.execute(`DELETE FROM Accounts WHERE id = 'pq-nobody' AND n = 7`)
      await tx.execute(`UPDATE Accounts SET n = n + ? WHERE id = 'pq-up' AND (n = 1 OR n = 8)`, [4])
    })
    assert.deepEqual(await run((tx) => tx.get('Accounts', { id: 'pq-up' })), { id: 'pq-up', n: 5 })
  })

  test('statements: RETURNING answers from the image that the unit sees', async () => {
    await run((tx) => tx.execute(`INSERT INTO Accounts VALUE {'id': 'pq-ret', 'n': 1, 'keep': 'k'}`))
    await run(async (tx) => {
      const update = (returning: string): Promise<object[]> =>
        tx.execute(`UPDATE Accounts SET n = n + 1 WHERE id = 'pq-ret' RETURNING ${returning} *`)
      assert.deepEqual(await update('MODIFIED NEW'), [{ n: 2 }])
      assert.deepEqual(await update('MODIFIED OLD'), [{ n: 2 }])
      assert.deepEqual(await update('ALL OLD'), [{ id: 'pq-ret', n: 3, keep: 'k' }])
      assert.deepEqual(await update('ALL NEW'), [{ id: 'pq-ret', n: 5, keep: 'k' }])
      assert.deepEqual(await tx.execute(`DELETE FROM Accounts WHERE id = 'pq-ret' RETURNING ALL OLD *`), [
        { id: 'pq-ret', n: 5, keep: 'k' },
      ])
      assert.deepEqual(await tx.execute(`DELETE FROM Accounts WHERE id = 'pq-ret' RETURNING ALL OLD *`), [])
    })
    assert.equal(await run((tx) => tx.get('Accounts', { id: 'pq-ret' })), undefined)
  })

  test('statements: what a SELECT did not find is validated: an address is taken by one of two', async () => {
    let reading = 0
    let open: () => void = () => undefined
    const both = new Promise<void>((resolve) => (open = resolve))
    const register = (id: string): Promise<string> =>
      subject().patient.transact(async (tx) => {
        const found = await tx.execute(`SELECT id FROM Accounts WHERE email = ?`, ['pq@example.org'])
        if (++reading >= 2) open()
        await both
        if (found.length > 0) return 'taken'
        await tx.execute(`INSERT INTO Accounts VALUE {'id': ?, 'email': ?}`, [id, 'pq@example.org'])
        return 'registered'
      })
    const ends = await Promise.all([register('pq-m1'), register('pq-m2')])
    assert.deepEqual(ends.toSorted(), ['registered', 'taken'])
  })

  test('statements: a text that is none, a missing table and a statement that was not awaited are errors', async () => {
    await assert.rejects(
      run((tx) => tx.execute(`SELECT * FROM Accounts WHERE`)),
      {
        name: 'ValidationException',
        message: "Statement wasn't well formed, can't be processed: Unexpected term",
      },
    )
    await assert.rejects(
      run((tx) => tx.execute(`UPDATE Accounts SET n = 1 WHERE n = 2`)),
      {
        message: 'Where clause does not contain a mandatory equality on all key attributes',
      },
    )
    await assert.rejects(
      run((tx) => tx.execute(`SELECT * FROM Absent WHERE id = 'x'`)),
      {
        name: 'ResourceNotFoundException',
      },
    )
    let floating: unknown
    await assert.rejects(
      run(async (tx) => {
        floating = tx.execute(`SELECT * FROM Accounts WHERE email = 'nobody'`)
      }),
      { name: 'TypeError', message: /await it/ },
    )
    assert.ok(floating)
  })

  test('statements: they run at every level of isolation', async () => {
    const { t } = subject()
    for (const isolation of ['serializable', 'snapshot', 'read-committed', 'read-uncommitted'] as const) {
      await t.transact(
        (tx) => tx.execute(`INSERT INTO Accounts VALUE {'id': ?, 'n': 1}`, [`pq-${isolation}`]),
        {
          isolation,
        },
      )
      const rows = await t.transact(
        async (tx) => {
          await tx.execute(`UPDATE Accounts SET n = 2 WHERE id = ?`, [`pq-${isolation}`])
          return tx.execute(`SELECT n FROM Accounts WHERE id = ?`, [`pq-${isolation}`])
        },
        { isolation },
      )
      assert.deepEqual(rows, [{ n: 2 }])
    }
  })
}
