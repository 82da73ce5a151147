// What an UpdateExpression counts against 400 KB beside the item that comes of it, as public suites measured it in October 2026.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { limits } from '../../src/model/limits.js'
import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { open, type Store } from '../../src/store/store.js'

type Values = Readonly<Record<string, AttributeValue>>
const S = (text: string): AttributeValue => ({ S: text })
const N = (text: string): AttributeValue => ({ N: text })
const TEN = S('y'.repeat(10))
const HUNDRED = S('s'.repeat(100))
/** The update itself, and `SET b = :pad` without the padding. */
const BESIDE_PADDING = 3 + 19 + 1
const TOO_LARGE = 'Item size to update has exceeded the maximum allowed size'

interface Clause {
  readonly seed?: Values
  readonly values?: Values
  readonly charge: number
}

const CLAUSES: Readonly<Record<string, Clause>> = {
  'SET c = abcdefghij': { seed: { abcdefghij: TEN }, charge: 19 + 1 + 1 + 14 + 10 },
  'SET c = m.a.z': { seed: { m: { M: { a: { M: { z: TEN } } } } }, charge: 19 + 1 + 1 + 3 * 15 },
  'SET c = l[10]': {
    seed: { l: { L: Array.from({ length: 11 }, () => S('e')) } },
    charge: 19 + 1 + 1 + 15 + 16,
  },
  'SET l = list_append(l, :new)': {
    seed: { l: { L: [S('e')] } },
    values: { ':new': { L: [TEN] } },
    charge: 19 + 1 + 37 + 16 + (3 + 1 + 10),
  },
  'SET c = if_not_exists(c, :s), d = if_not_exists(d, :s)': {
    seed: { c: S('c'), d: S('d') },
    values: { ':s': HUNDRED },
    charge: 2 * (19 + 1 + 39 + 16 + 100),
  },
  'SET n = n + :one': {
    seed: { n: N('12345678901234567890') },
    values: { ':one': N('1') },
    charge: 19 + 1 + 34 + 16 + 2,
  },
  'SET n = n - :one': { seed: { n: N('1') }, values: { ':one': N('1') }, charge: 19 + 1 + 37 + 16 + 2 },
  'ADD ss :new': {
    seed: { ss: { SS: ['p'] } },
    values: { ':new': { SS: ['s'.repeat(500)] } },
    charge: 19 + 2 + 500,
  },
  'REMOVE m.yyyyyyyyyy': { seed: { m: { M: { yyyyyyyyyy: S('r') } } }, charge: 1 + 1 + 4 + 10 },
  'REMOVE l[10]': { seed: { l: { L: Array.from({ length: 11 }, () => S('e')) } }, charge: 1 + 1 + 4 + 2 },
  'DELETE ss :gone': {
    seed: { ss: { SS: ['p', 'q'] } },
    values: { ':gone': { SS: ['q'] } },
    charge: 1 + 2,
  },
}

describe('the size that an update counts', () => {
  let store: Store
  before(async () => {
    store = await open({ memory: true })
    await store.call('CreateTable', {
      TableName: 'Sizes',
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
    })
  })
  after(() => store.close())
  const TableName = 'Sizes'

  async function padded(clause: string, { seed, values }: Omit<Clause, 'charge'>, bytes: number) {
    await store.call('PutItem', { TableName, Item: { pk: S('k'), ...seed } })
    const rest = clause.startsWith('SET ') ? `, ${clause.slice(4)}` : ` ${clause}`
    return store.call('UpdateItem', {
      TableName,
      Key: { pk: S('k') },
      UpdateExpression: `SET b = :pad${rest}`,
      ExpressionAttributeValues: { ...values, ':pad': S('x'.repeat(bytes)) },
    })
  }

  for (const [clause, { charge, ...given }] of Object.entries(CLAUSES))
    test(`${clause} counts ${charge} bytes`, async () => {
      const most = limits.itemBytesMax - BESIDE_PADDING - charge
      await padded(clause, given, most)
      await assert.rejects(padded(clause, given, most + 1), { message: TOO_LARGE })
    })

  const whole = (bytes: number): AttributeValue =>
    S('x'.repeat(limits.itemBytesMax - 'pkk'.length - 1 + bytes))

  test('an item of 400 KB can be written by a statement or by AttributeUpdates where UpdateItem counts more than that', async () => {
    await store.call('PutItem', { TableName, Item: { pk: S('k') } })
    const update = {
      TableName,
      Key: { pk: S('k') },
      UpdateExpression: 'SET b = :b',
      ExpressionAttributeValues: { ':b': whole(0) },
    }
    await assert.rejects(store.call('UpdateItem', update), { message: TOO_LARGE })
    await store.call('ExecuteStatement', {
      Statement: `UPDATE "Sizes" SET b = ? WHERE pk = 'k'`,
      Parameters: [whole(0)],
    })
    const older = {
      TableName,
      Key: { pk: S('k') },
      AttributeUpdates: { b: { Action: 'PUT' as const, Value: whole(0) } },
    }
    await store.call('UpdateItem', older)
  })

  test('the size is told before a condition that does not hold', async () => {
    const update = {
      TableName,
      Key: { pk: S('k') },
      UpdateExpression: 'SET b = :b',
      ConditionExpression: 'attribute_exists(nothing)',
      ExpressionAttributeValues: { ':b': whole(0) },
    }
    await assert.rejects(store.call('UpdateItem', update), { message: TOO_LARGE })
  })
})
