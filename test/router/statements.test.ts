import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { AttributeValue, Item } from '../../src/model/value.js'
import { createTable, openTestStore, type Answer, type TestStore } from './many-support.js'

const S = (text: string): { S: string } => ({ S: text })
const N = (text: string): { N: string } => ({ N: text })

/** Five items in partition `a`, `s0` to `s4`, and one in `b`. */
const items: readonly Item[] = [
  ...Array.from({ length: 5 }, (_, i) => ({
    pk: S('a'),
    sk: S(`s${i}`),
    l: S(`l${i}`),
    g: S(`g${i % 2}`),
    n: N(String(i)),
    m: { M: { x: N(String(i)), arr: { L: [S('p'), S('q')] } } },
    big: S('x'.repeat(5000)),
  })),
  { pk: S('b'), sk: S('s0'), n: N('9'), tag: S('only b') },
]

for (const nodeCount of [1, 3]) {
  describe(`ExecuteStatement over ${nodeCount} node${nodeCount > 1 ? 's' : ''}`, () => {
    let store: TestStore
    before(async () => {
      store = await openTestStore(nodeCount)
      await createTable(store, 'Things', 'pk:S sk:S', {
        lsi: { key: 'pk:S l:S', projection: 'KEYS_ONLY' },
        gsi: { key: 'g:S', projection: 'n' },
        gall: { key: 'g:S n:N', projection: 'ALL' },
      })
      await createTable(store, 'Bare', 'id:S')
      await store.putAll('Things', items)
    })
    after(() => store[Symbol.asyncDispose]())

    const run = (Statement: string, further: object = {}): Promise<Answer> =>
      store.call('ExecuteStatement', { Statement, ...further })
    const refusal = (Statement: string, further: object = {}): Promise<string> =>
      store.refusal('ExecuteStatement', { Statement, ...further })
    const sortKeys = ({ Items }: Answer): string[] =>
      (Items ?? []).map((item) => `${(item['pk'] as { S: string }).S}/${(item['sk'] as { S: string }).S}`)
    const rows = async (where: string, further: object = {}): Promise<string[]> =>
      sortKeys(await run(`SELECT pk, sk FROM Things WHERE ${where}`, further))
    const walk = async (where: string, limit: number): Promise<string[][]> => {
      const pages: string[][] = []
      let NextToken: unknown
      do {
        const page = await run(`SELECT pk, sk FROM Things WHERE ${where}`, {
          Limit: limit,
          ...(NextToken !== undefined && { NextToken }),
        })
        pages.push(sortKeys(page))
        NextToken = page['NextToken']
      } while (NextToken !== undefined && pages.length < 50)
      return pages
    }
    test('PartiQL: what is wrong with a statement itself is told before its table is looked for', async () => {
      const Parameters = [{ BOOL: true }]
      assert.match(
        await refusal(`SELECT * FROM Nowhere WHERE pk = 'a' AND n < ?`, { Parameters }),
        /^ValidationException: Incorrect operand type for operator or function; operator or function: </,
      )
      assert.match(await refusal(`SELECT * FROM Nowhere WHERE pk = 'a'`), /^ResourceNotFoundException/)
    })

    const all = ['a/s0', 'a/s1', 'a/s2', 'a/s3', 'a/s4']

    test('PartiQL: SELECT by the whole key answers one item, and nothing if there is none', async () => {
      assert.deepEqual(await run(`SELECT * FROM "Things" WHERE pk = 'b' AND sk = 's0'`), {
        Items: [items[5]],
      })
      assert.deepEqual(
        await run(`SELECT * FROM Things WHERE pk = ? AND sk = ?`, { Parameters: [S('b'), S('no')] }),
        {
          Items: [],
        },
      )
    })

    test('PartiQL: SELECT reads a partition, parts of it, several partitions, or everything', async () => {
      assert.deepEqual(await rows(`pk = 'a'`), all)
      assert.deepEqual(await rows(`pk = 'a' AND sk > 's1' AND sk < 's4'`), ['a/s2', 'a/s3'])
      assert.deepEqual(await rows(`pk = 'a' AND sk BETWEEN 's1' AND 's2'`), ['a/s1', 'a/s2'])
      assert.deepEqual(await rows(`pk = 'a' AND begins_with(sk, 's')`), all)
      assert.deepEqual(await rows(`pk = 'a' AND sk IN ['s3', 's1']`), ['a/s3', 'a/s1'])
      assert.deepEqual(await rows(`pk IN ['b', 'a'] AND sk = 's0'`), ['b/s0', 'a/s0'])
      assert.deepEqual(await rows(`(pk = 'a' AND sk = 's0') OR pk = 'b'`), ['a/s0', 'b/s0'])
      assert.deepEqual(await rows(`pk = 'a' AND sk = 's0' AND sk = 's1'`), [])
      assert.deepEqual(await rows(`pk = 'a' AND pk = 'b'`), [])
      assert.deepEqual((await rows(`n > 3`)).toSorted(), ['a/s4', 'b/s0'])
      assert.deepEqual((await rows(`pk = 'b' OR n = 2`)).toSorted(), ['a/s2', 'b/s0'])
    })

    test('PartiQL: a negated condition on the sort key is a filter, in an alternative too', async () => {
      assert.deepEqual(await rows(`pk = 'a' AND NOT sk = 's0'`), all.slice(1))
      assert.deepEqual(await rows(`pk = 'a' AND sk <> 's0' OR pk = 'a' AND sk = 's0'`), all)
      assert.deepEqual(await rows(`pk = 'a' OR pk = 'a' AND NOT sk = 's1'`), all)
    })

    test('PartiQL: a filter keeps rows without the attribute where it is negated, and drops them where it differs', async () => {
      assert.deepEqual(await rows(`pk IN ['a', 'b'] AND NOT tag = 'x'`), [...all, 'b/s0'])
      assert.deepEqual(await rows(`pk IN ['a', 'b'] AND tag <> 'x'`), ['b/s0'])
      assert.deepEqual(await rows(`pk IN ['a', 'b'] AND tag IS MISSING AND n >= 3`), ['a/s3', 'a/s4'])
      assert.deepEqual(await rows(`pk IN ['a', 'b'] AND tag IS NOT MISSING`), ['b/s0'])
    })

    test('PartiQL: columns are called after the last name of their paths', async () => {
      const answer = await run(`SELECT m.x, m.arr[1], nope FROM Things WHERE pk = 'a' AND sk = 's3'`)
      assert.deepEqual(answer.Items, [{ x: N('3'), 'arr[1]': S('q') }])
    })

    test('PartiQL: ORDER BY the sort key, and by the partition key of several partitions', async () => {
      assert.deepEqual(await rows(`pk = 'a' ORDER BY sk DESC`), all.toReversed())
      assert.deepEqual(await rows(`pk = 'a' ORDER BY sk`), all)
      assert.deepEqual(await rows(`pk = 'a' ORDER BY pk`), all.toReversed())
      assert.deepEqual(await rows(`pk IN ['a', 'b'] ORDER BY pk DESC, sk ASC`), ['b/s0', ...all])
      assert.match(await refusal(`SELECT * FROM Things ORDER BY sk`), /Must have WHERE clause/)
      assert.match(
        await refusal(`SELECT * FROM Things WHERE n = 1 ORDER BY sk`),
        /at least one non-optional hash key/,
      )
      assert.match(
        await refusal(`SELECT * FROM Things WHERE pk IN ['a', 'b'] ORDER BY sk`),
        /Must have hash key in ORDER BY/,
      )
      assert.match(
        await refusal(`SELECT * FROM Things WHERE pk = 'a' ORDER BY n`),
        /Attribute n in ORDER BY clause must be part of the primary key/,
      )
    })

    test('PartiQL: Limit counts rows that were looked at, over all reads of a statement', async () => {
      const pages = await walk(`pk = 'a' AND n >= 3`, 2)
      assert.deepEqual(pages, [[], ['a/s3'], ['a/s4']])
      assert.deepEqual((await walk(`pk IN ['a', 'b']`, 2)).flat(), [...all, 'b/s0'])
      assert.deepEqual((await walk(`pk = 'a' ORDER BY sk DESC`, 2)).flat(), all.toReversed())
      assert.deepEqual((await walk(`n >= 0`, 1)).flat().toSorted(), [...all, 'b/s0'])
      assert.equal((await run(`SELECT * FROM Things WHERE pk = 'a' AND sk = 's0'`))['NextToken'], undefined)
    })

    test('PartiQL: NextToken goes with its statement, its parameters and its index, and cannot be made up', async () => {
      const text = `SELECT pk, sk FROM Things WHERE pk = ?`
      const { NextToken } = await run(text, { Limit: 1, Parameters: [S('a')] })
      assert.equal(typeof NextToken, 'string')
      const MISMATCH = 'ValidationException: NextToken does not match request'
      assert.equal(await refusal(text, { Parameters: [S('b')], NextToken }), MISMATCH)
      assert.equal(await refusal(`${text} `, { Parameters: [S('a')], NextToken }), MISMATCH)
      assert.equal(
        await refusal(`SELECT * FROM Things.gall WHERE g = ?`, { Parameters: [S('a')], NextToken }),
        MISMATCH,
      )
      const INVALID = 'ValidationException: Invalid NextToken'
      const forged = `${(NextToken as string).slice(0, -1)}${(NextToken as string).endsWith('A') ? 'B' : 'A'}`
      for (const token of ['x', forged, `t.${Buffer.from('{}').toString('base64url')}.${'A'.repeat(22)}`])
        assert.equal(await refusal(text, { Parameters: [S('a')], NextToken: token }), INVALID)
      // A page may be of another size, and read otherwise.
      const next = await run(text, { Parameters: [S('a')], NextToken, Limit: 9, ConsistentRead: true })
      assert.deepEqual(sortKeys(next), all.slice(1))
    })

    test('PartiQL: a NextToken of the longest keys, of control characters, can be sent back', async () => {
      const name = `Long${nodeCount}`
      await createTable(store, name, 'pk:S sk:S', { gsi: { key: 'g:S r:S', projection: 'ALL' } })
      const control = (length: number, first: number): { S: string } =>
        S(Array.from({ length }, (_, at) => String.fromCharCode(first + ((at * 7) % 19))).join(''))
      const item = (first: number): Item => ({
        pk: control(2048, first),
        sk: control(1024, first),
        g: control(2048, 1),
        r: control(1024, first),
      })
      await store.putAll(name, [item(1), item(2), item(3)])
      const found: unknown[] = []
      let NextToken: unknown
      do {
        const page = await run(`SELECT pk FROM ${name}.gsi WHERE g = ?`, {
          Parameters: [control(2048, 1)],
          Limit: 1,
          ...(NextToken !== undefined && { NextToken }),
        })
        found.push(...(page.Items ?? []))
        NextToken = page['NextToken']
      } while (NextToken !== undefined)
      assert.deepEqual(
        found,
        [1, 2, 3].map((first) => ({ pk: control(2048, first) })),
      )
    })

    test('PartiQL: reads of an index see what it holds', async () => {
      assert.deepEqual((await run(`SELECT * FROM Things.gsi WHERE g = 'g1' AND n = 1`)).Items, [
        { pk: S('a'), sk: S('s1'), g: S('g1'), n: N('1') },
      ])
      assert.deepEqual(sortKeys(await run(`SELECT pk, sk FROM "Things"."gall" WHERE g = 'g0' AND n > 0`)), [
        'a/s2',
        'a/s4',
      ])
      assert.deepEqual(sortKeys(await run(`SELECT pk, sk FROM Things.gsi WHERE pk = 'a' AND sk = 's1'`)), [
        'a/s1',
      ])
      const reached = await run(`SELECT m.x FROM Things.lsi WHERE pk = 'a' AND l = 'l2'`, {
        ReturnConsumedCapacity: 'INDEXES',
      })
      assert.deepEqual(reached.Items, [{ x: N('2') }])
      assert.deepEqual(reached.ConsumedCapacity, {
        TableName: 'Things',
        CapacityUnits: 1.5,
        Table: { CapacityUnits: 1 },
        LocalSecondaryIndexes: { lsi: { CapacityUnits: 0.5 } },
      })
      const INVALID = 'ValidationException: One or more parameter values were invalid: '
      assert.equal(
        await refusal(`SELECT m FROM Things.gsi WHERE g = 'g1'`),
        `${INVALID}Global secondary index gsi does not project [m]`,
      )
      assert.equal(
        await refusal(`SELECT pk FROM Things.gsi WHERE g = 'g1' AND (zz = 1 OR aa = 2 OR mm = 3)`),
        `${INVALID}Secondary index gsi does not project one or more filter attributes: [zz, aa, mm]`,
      )
      assert.deepEqual((await run(`SELECT pk FROM Things.gsi WHERE m = 1`)).Items, [])
      assert.match(
        await refusal(`SELECT * FROM Things.nope`),
        /: The table does not have the specified index$/,
      )
      assert.match(
        await refusal(`SELECT * FROM Things.gsi`, { ConsistentRead: true }),
        /Strongly consistent read is not supported on Global Secondary Indexes/,
      )
    })

    test('PartiQL: keys of wrong types and alternatives that overlap are refused', async () => {
      const OVERLAP = /Overlapping conditions with range keys are not supported in where clause/
      for (const where of [
        `pk IN ['a', 'a']`,
        `pk = 'a' AND (sk > 's0' OR sk < 's5')`,
        `pk = 'a' AND (sk = 's1' OR n = 1)`,
        `pk = 'a' AND n = 1 OR pk = 'a' AND sk = 's2'`,
      ])
        assert.match(await refusal(`SELECT * FROM Things WHERE ${where}`), OVERLAP, where)
      const TYPE = /Key attribute's data type should match its data type in table's schema: Key /
      assert.match(await refusal(`SELECT * FROM Things WHERE pk = 1 OR pk = 'a'`), TYPE)
      assert.match(await refusal(`SELECT * FROM Things WHERE pk = 'a' AND sk IN ['s0', 2]`), TYPE)
      assert.deepEqual(await rows(`pk > 1`), [])
      const many = (count: number): string => Array.from({ length: count }, (_, i) => `'k${i}'`).join(', ')
      assert.match(
        await refusal(`SELECT * FROM Things WHERE pk IN [${many(51)}]`),
        /Too many decomposed read operations/,
      )
      assert.deepEqual(await rows(`pk IN [${many(50)}]`), [])
      assert.match(
        await refusal(`SELECT * FROM Things WHERE n IN [${many(101)}]`),
        /The IN operator is provided with too many operands; number of operands: 101/,
      )
    })

    test('PartiQL: INSERT never replaces, and wants a key', async () => {
      assert.deepEqual(
        await run(`INSERT INTO Bare VALUE {'id': 'i', 'v': ?, 's': <<1, 2>>}`, { Parameters: [N('1')] }),
        {
          Items: [],
        },
      )
      assert.equal(
        await refusal(`INSERT INTO Bare VALUE {'id': 'i', 'v': 2}`),
        'DuplicateItemException: Duplicate primary key exists in table',
      )
      assert.deepEqual((await run(`SELECT * FROM Bare WHERE id = 'i'`)).Items, [
        { id: S('i'), v: N('1'), s: { NS: ['1', '2'] } },
      ])
      assert.match(
        await refusal(`INSERT INTO Bare VALUE {'v': 1}`),
        /Key attribute should be present in the item: Key id/,
      )
      assert.match(
        await refusal(`INSERT INTO Bare VALUE {'id': 1}`),
        /Key attribute's data type should match/,
      )
    })

    test('PartiQL: UPDATE needs its item, DELETE does not, and what else they ask is a condition', async () => {
      await run(`INSERT INTO Bare VALUE {'id': 'u', 'v': 1, 'l': [1, 2, 3]}`)
      const FAILED = 'ConditionalCheckFailedException: The conditional request failed'
      assert.equal(await refusal(`UPDATE Bare SET v = 2 WHERE id = 'nobody'`), FAILED)
      assert.equal(
        await refusal(`UPDATE Bare SET v = 2 WHERE id = 'nobody' AND attribute_not_exists(id)`),
        FAILED,
      )
      assert.equal(await refusal(`UPDATE Bare SET v = 2 WHERE id = 'u' AND v = 7`), FAILED)
      assert.equal(await refusal(`DELETE FROM Bare WHERE id = 'u' AND v = 7`), FAILED)
      assert.deepEqual(await run(`DELETE FROM Bare WHERE id = 'nobody' AND v = 7`), { Items: [] })
      const modified = await run(
        `UPDATE Bare SET v = v + 1 SET l[2] = 9 REMOVE l[0] WHERE id = 'u' AND v = 1 RETURNING MODIFIED NEW *`,
      )
      assert.deepEqual(modified.Items, [{ v: N('2'), l: { L: [N('2')] } }])
      assert.deepEqual(
        (await run(`UPDATE Bare REMOVE nope WHERE id = 'u' RETURNING MODIFIED OLD *`)).Items,
        [],
      )
      assert.deepEqual((await run(`DELETE FROM Bare WHERE id = 'u' RETURNING ALL OLD *`)).Items, [
        { id: S('u'), v: N('2'), l: { L: [N('2'), N('9')] } },
      ])
      assert.deepEqual((await run(`DELETE FROM Bare WHERE id = 'u' RETURNING ALL OLD *`)).Items, [])
      const KEY = /Where clause does not contain a mandatory equality on all key attributes/
      for (const text of [
        `UPDATE Things SET v = 1 WHERE pk = 'a'`,
        `UPDATE Things SET v = 1`,
        `DELETE FROM Bare WHERE id = 'a' OR id = 'b'`,
        `DELETE FROM Bare WHERE id IN ['a']`,
      ])
        assert.match(await refusal(text), KEY, text)
      assert.match(
        await refusal(`DELETE FROM Bare WHERE id = 'a' AND id = 'b'`),
        /Multiple conditions on same key id/,
      )
      assert.match(await refusal(`UPDATE Bare SET id = 'b' WHERE id = 'a'`), /Cannot update attribute id/)
    })

    test('PartiQL: an update that nests an item too deep is refused', async () => {
      await run(`INSERT INTO Bare VALUE {'id': 'deep', 'm': {}}`)
      const nested = (levels: number): AttributeValue =>
        levels === 0 ? S('x') : { M: { a: nested(levels - 1) } }
      const text = `UPDATE Bare SET m.deep = ? WHERE id = 'deep'`
      assert.equal(
        await refusal(text, { Parameters: [nested(31)] }),
        'ValidationException: Nesting Levels have exceeded supported limits',
      )
      assert.match(
        await refusal(text, { Parameters: [nested(40)] }),
        /limits: Attributes in the item have nested/,
      )
      assert.deepEqual(await run(text, { Parameters: [nested(30)] }), { Items: [] })
    })

    test('PartiQL: a failed condition shows the item where that is asked for', async () => {
      await run(`INSERT INTO Bare VALUE {'id': 'shown', 'v': 1}`)
      const input = { Statement: `UPDATE Bare SET v = 2 WHERE id = 'shown' AND v = 7` }
      await assert.rejects(
        store.call('ExecuteStatement', { ...input, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }),
        (error: { members?: unknown }) => {
          assert.deepEqual(error.members, { Item: { id: S('shown'), v: N('1') } })
          return true
        },
      )
    })

    test('PartiQL: capacity is that of the reads and writes that a statement becomes', async () => {
      const units = async (text: string, further: object = {}): Promise<unknown> => {
        const { ConsumedCapacity } = await run(text, { ReturnConsumedCapacity: 'TOTAL', ...further })
        return (ConsumedCapacity as { CapacityUnits: number }).CapacityUnits
      }
      assert.equal(await units(`SELECT * FROM Things WHERE pk = 'a' AND sk = 's0'`), 1)
      assert.equal(
        await units(`SELECT * FROM Things WHERE pk = 'a' AND sk = 's0'`, { ConsistentRead: true }),
        2,
      )
      assert.equal(await units(`SELECT * FROM Things WHERE pk = 'b' AND sk = 'none'`), 0.5)
      assert.equal(await units(`SELECT * FROM Things WHERE pk IN ['q', 'r', 't']`), 1.5)
      assert.equal(await units(`INSERT INTO Bare VALUE {'id': 'c'}`), 1)
    })

    test('PartiQL: parameters are looked at before the statement, as Java reads numbers', async () => {
      const input = { Statement: 'UPDATE Bare SET WHERE' }
      const CONVERTED = 'ValidationException: The parameter cannot be converted to a numeric value'
      const message = (value: object): Promise<string> =>
        store.refusal('ExecuteStatement', { ...input, Parameters: [value] })
      assert.equal(await message({ N: '1e99999999999' }), `${CONVERTED}: 1e99999999999`)
      assert.equal(await message({ L: [{ N: '1' }, { N: '1e-2147483648' }] }), `${CONVERTED}: 1e-2147483648`)
      assert.match(await message({ N: '1e2147483647' }), /Number underflow/)
      assert.equal(await message({ N: '' }), CONVERTED)
      assert.match(await message({ SS: ['a', 'a'] }), /Input collection \[a, a\] contains duplicates/)
      assert.match(
        await store.refusal('ExecuteStatement', { ...input, Parameters: [] }),
        /Value '\[\]' at 'parameters' failed to satisfy constraint: Member must have length greater than or equal to 1/,
      )
    })
  })
}
