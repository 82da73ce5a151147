// Units of work that query a global index with several HASH and RANGE attributes.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { open, type Store } from '../../../src/store/store.js'
import { transactor, type Transactor } from '../../../src/toolkit/index.js'
import type { Endpoint } from '../../../src/toolkit/endpoint/endpoint.js'
import { intentsTransactor, seriatim, type Place } from '../intents/endpoints.js'

const TABLE = 'Matches'
const INDEX = 'by-tournament-and-region'

async function createMatches(plain: Pick<Endpoint, 'call'>): Promise<void> {
  const types = { id: 'S', tournament: 'S', region: 'S', round: 'S', score: 'N' } as const
  await plain.call('CreateTable', {
    TableName: TABLE,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: Object.entries(types).map(([AttributeName, AttributeType]) => ({
      AttributeName,
      AttributeType,
    })),
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    GlobalSecondaryIndexes: [
      {
        IndexName: INDEX,
        KeySchema: [
          { AttributeName: 'tournament', KeyType: 'HASH' },
          { AttributeName: 'region', KeyType: 'HASH' },
          { AttributeName: 'round', KeyType: 'RANGE' },
          { AttributeName: 'score', KeyType: 'RANGE' },
        ],
        Projection: { ProjectionType: 'ALL' },
      },
    ],
  })
}

const match = (id: string, round: string, score: number, region = 'eu'): Record<string, unknown> => ({
  id,
  tournament: 't',
  region,
  round,
  score,
})

const inRegion = {
  index: INDEX,
  key: 'tournament = :t AND #r = :r',
  names: { '#r': 'region' },
  values: { ':t': 't', ':r': 'eu' },
}
const inRound = (round: string, score: number) => ({
  ...inRegion,
  key: `${inRegion.key} AND round = :o AND score >= :s`,
  values: { ...inRegion.values, ':o': round, ':s': score },
})

const ids = (rows: readonly Record<string, unknown>[]): unknown[] => rows.map(({ id }) => id)

describe('a unit that queries an index of several key attributes', () => {
  let store: Store
  let t: Transactor
  before(async () => {
    store = await open({ memory: true, nodes: 2 })
    await createMatches({ call: (operation, input) => store.call(operation, input) })
    t = transactor(store.client(), { retry: { limit: 100, backoffMs: () => 1 } })
    await t.transact((tx) => {
      tx.put(TABLE, match('a', 'final', 2))
      tx.put(TABLE, match('b', 'final', 10))
      tx.put(TABLE, match('c', 'semi', 1))
      tx.put(TABLE, match('d', 'final', 5, 'us'))
    })
  })
  after(() => store.close())

  test('sees its own writes at their places in the order of the attributes', async () => {
    const seen = await t.transact(async (tx) => {
      tx.put(TABLE, match('e', 'final', 5))
      tx.put(TABLE, match('f', 'early', 100))
      tx.delete(TABLE, { id: 'c' })
      const found = [await tx.query(TABLE, inRegion), await tx.query(TABLE, inRound('final', 5))].map(ids)
      tx.delete(TABLE, { id: 'e' })
      tx.delete(TABLE, { id: 'f' })
      tx.put(TABLE, match('c', 'semi', 1))
      return found
    })
    assert.deepEqual(seen, [
      ['f', 'a', 'e', 'b'],
      ['e', 'b'],
    ])
  })

  for (const [what, changed, isConflict] of [
    ['a row that comes into the range', match('x', 'final', 7), true],
    ['a row that does not meet the last condition', match('x', 'final', 4), false],
    ['a row of another first RANGE attribute', match('x', 'semi', 7), false],
    ['a row of another HASH attribute', match('x', 'final', 7, 'us'), false],
    ['an item that lacks a key attribute', { id: 'x', tournament: 't', region: 'eu', round: 'final' }, false],
  ] as const)
    test(`is ${isConflict ? 'tried again' : 'committed'} at serializable when there is ${what} meanwhile`, async () => {
      let attempts = 0
      await t.transact(async (tx) => {
        attempts++
        await tx.query(TABLE, inRound('final', 6))
        if (attempts === 1) await t.transact((other) => other.put(TABLE, changed))
        tx.put(TABLE, match('y', 'semi', attempts))
      })
      assert.equal(attempts, isConflict ? 2 : 1)
      await t.transact((tx) => {
        tx.delete(TABLE, { id: 'x' })
        tx.delete(TABLE, { id: 'y' })
      })
    })

  test('is told by a statement what DynamoDB tells', async () => {
    await assert.rejects(
      t.transact((tx) => tx.execute(`SELECT * FROM "${TABLE}"."${INDEX}" WHERE tournament = 't'`)),
      /PartiQL statements cannot be executed on tables with multi-attribute HASH keys or multi-attribute RANGE keys\./,
    )
  })
})

describe('a unit by intents that queries an index of several key attributes', () => {
  let place: Place
  let t: Transactor
  before(async () => {
    place = await seriatim()
    await createMatches(place.endpoint)
    t = intentsTransactor(place.endpoint)
    await t.setup()
    await t.transact((tx) => {
      tx.put(TABLE, match('a', 'final', 2))
      tx.put(TABLE, match('b', 'final', 10))
      tx.put(TABLE, match('c', 'semi', 1))
    })
  })
  after(() => place.close())

  test('reads it at read-committed, with its own writes in order, and is refused where it would be validated', async () => {
    const seen = await t.transact(
      async (tx) => {
        tx.put(TABLE, match('e', 'final', 5))
        return ids(await tx.query(TABLE, inRegion))
      },
      { isolation: 'read-committed' },
    )
    assert.deepEqual(seen, ['a', 'e', 'b', 'c'])
    await assert.rejects(
      t.transact((tx) => tx.query(TABLE, inRegion)),
      /is global and cannot be read consistently on this endpoint/,
    )
  })

  test('a value of another type in any of its attributes is refused before anything is written', async () => {
    await assert.rejects(
      t.transact((tx) => tx.put(TABLE, { ...match('z', 'final', 1), score: 'many' })),
      /Type mismatch for Index Key score Expected: N Actual: S/,
    )
  })
})
