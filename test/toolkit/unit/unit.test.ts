// A unit's own writes: what its reads see before the commit, and what the commit makes of several steps on one item, are
// what the store itself does when the same steps are carried out one after the other.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { open, type Store } from '../../../src/store/store.js'
import { ConditionFailed, UnitAborted } from '../../../src/toolkit/endpoint/errors.js'
import type { Condition, Update } from '../../../src/toolkit/unit/transactor.js'
import { UnitAttempt } from '../../../src/toolkit/unit/unit.js'
import {
  marshall,
  marshallItem,
  toSdkItem,
  toSdkValue,
  unmarshallItem,
  fromSdkItem,
} from '../../../src/toolkit/values/values.js'
import { conditionExpression, updateExpression } from '../../../src/toolkit/unit/expressions.js'
import { seededRandom } from '../../suites/seeded-random.js'
import { attemptStart, PlainAttempt } from './plain-attempt.js'

type Plain = Record<string, unknown>

let store: Store
before(async () => {
  store = await open({ memory: true })
  for (const table of ['unit', 'plain'])
    await store.call('CreateTable', {
      TableName: table,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [
        { AttributeName: 'p', AttributeType: 'S' },
        { AttributeName: 's', AttributeType: 'N' },
        { AttributeName: 'g', AttributeType: 'S' },
        { AttributeName: 'n', AttributeType: 'N' },
      ],
      KeySchema: [
        { AttributeName: 'p', KeyType: 'HASH' },
        { AttributeName: 's', KeyType: 'RANGE' },
      ],
      GlobalSecondaryIndexes: [
        {
          IndexName: 'by-g',
          KeySchema: [
            { AttributeName: 'g', KeyType: 'HASH' },
            { AttributeName: 'n', KeyType: 'RANGE' },
          ],
          Projection: { ProjectionType: 'ALL' },
        },
        {
          IndexName: 'keys-by-g',
          KeySchema: [{ AttributeName: 'g', KeyType: 'HASH' }],
          Projection: { ProjectionType: 'KEYS_ONLY' },
        },
      ],
    })
})
after(() => store.close())

function newUnit(more: { readonly pageLimit?: number; readonly unitBytesMax?: number } = {}): {
  unit: UnitAttempt
  port: PlainAttempt
} {
  const port = new PlainAttempt(store)
  port.pageLimit = more.pageLimit
  const unit = new UnitAttempt({
    start: attemptStart(),
    port,
    ordersLikeSeriatim: true,
    ...(more.unitBytesMax !== undefined && { unitBytesMax: more.unitBytesMax }),
  })
  return { unit, port }
}

test('a unit sees its own put, update and delete, and nobody else does', async () => {
  const { unit } = newUnit()
  unit.put('unit', { p: 'own', s: 1, n: 1 })
  unit.update('unit', { p: 'own', s: 1 }, { add: { n: 2 }, set: { g: 'x' } })
  assert.deepEqual(await unit.get('unit', { p: 'own', s: 1 }), { p: 'own', s: 1, n: 3, g: 'x' })
  unit.delete('unit', { p: 'own', s: 1 })
  assert.equal(await unit.get('unit', { p: 'own', s: 1 }), undefined)
  const { Item } = await store.call('GetItem', {
    TableName: 'unit',
    Key: toSdkItem(marshallItem({ p: 'own', s: 1 })),
  })
  assert.equal(Item, undefined)
})

test('reads of one turn go in one request, and an item of a snapshot is read once', async () => {
  const { unit, port } = newUnit()
  await Promise.all([unit.get('unit', { p: 'a', s: 1 }), unit.get('unit', { p: 'a', s: 2 })])
  await unit.getAll('unit', [
    { p: 'a', s: 1 },
    { p: 'a', s: 2 },
  ])
  assert.equal(port.usage.requests, 1)
})

test('a blind put is read back without asking, so it is no read that could conflict', async () => {
  const { unit, port } = newUnit()
  unit.put('unit', { p: 'blind', s: 1 })
  assert.deepEqual(await unit.get('unit', { p: 'blind', s: 1 }), { p: 'blind', s: 1 })
  assert.equal(port.usage.requests, 0)
  assert.deepEqual((await unit.work()).reads, [])
})

test('updates that only add are sent as one ADD without a read', async () => {
  const { unit } = newUnit()
  unit.update('unit', { p: 'adds', s: 1 }, { add: { n: 1 } })
  unit.update('unit', { p: 'adds', s: 1 }, { add: { n: 2, tags: new Set(['a']) } })
  const { actions, reads } = await unit.work()
  assert.deepEqual(reads, [])
  assert.equal(actions.length, 1)
  assert.equal(actions[0]?.kind, 'update')
  assert.match(actions[0]?.expressions.update ?? '', /^ADD #n0 :v0, #n1 :v1$/)
  assert.deepEqual(actions[0]?.expressions.values?.[':v0'], { N: '3' })
})

test('steps that depend on each other are pinned to what they looked at', async () => {
  const { unit } = newUnit()
  const key = { p: 'pinned', s: 1 }
  await store.call('PutItem', {
    TableName: 'unit',
    Item: toSdkItem(marshallItem({ ...key, n: 5, other: 1 })),
  })
  unit.update('unit', key, { add: { n: 1 } })
  unit.update('unit', key, { expression: 'SET doubled = n + n' })
  const { actions } = await unit.work()
  assert.equal(actions[0]?.pinned, true)
  const { names = {}, values = {}, condition } = actions[0].expressions
  const looked = Object.values(names)
  assert.ok(looked.includes('n') && looked.includes('doubled') && !looked.includes('other'), String(looked))
  assert.match(condition ?? '', /attribute_exists/)
  assert.ok(Object.values(values).some((value) => 'N' in value && value.N === '12'))
})

test('the same placeholder may stand for different things in an update and its condition', async () => {
  const key = { p: 'names', s: 1 }
  const { unit, port } = newUnit()
  unit.put('unit', { ...key, a: 1, b: 2 })
  await port.commit(await unit.work())
  const second = newUnit()
  second.unit.update(
    'unit',
    key,
    { expression: 'SET #x = :v', names: { '#x': 'a' }, values: { ':v': 10 } },
    { expression: '#x = :v OR #x = :w', names: { '#x': 'b' }, values: { ':v': 2, ':w': 3 } },
  )
  second.unit.check('unit', { p: 'names', s: 2 }, { expression: 'attribute_not_exists(p)' })
  await second.port.commit(await second.unit.work())
  assert.equal((await newUnit().unit.get('unit', key))?.['a'], 10)
})

test('a write after abort or after the end fails at once with a sentence that helps', () => {
  const { unit } = newUnit()
  assert.throws(() => unit.abort('no money'), UnitAborted)
  assert.throws(() => unit.put('unit', { p: 'x', s: 1 }), /has ended: it was aborted/)
  const other = newUnit().unit
  other.end('its lambda has returned; await everything that it starts')
  assert.throws(() => other.delete('unit', { p: 'x', s: 1 }), /has ended: its lambda has returned/)
})

test('a unit that holds too much is refused with a sentence, and for await holds a page only', async () => {
  for (let s = 0; s < 40; s++)
    await store.call('PutItem', {
      TableName: 'unit',
      Item: toSdkItem(marshallItem({ p: 'large', s, fill: 'x'.repeat(1000) })),
    })
  const input = { key: 'p = :p', values: { ':p': 'large' } }
  const { unit } = newUnit({ unitBytesMax: 20_000, pageLimit: 5 })
  await assert.rejects(async () => unit.query('unit', input), /holds more than 20000 bytes/)
  const iterating = newUnit({ unitBytesMax: 20_000, pageLimit: 5 }).unit
  let rows = 0
  for await (const row of iterating.query('unit', input)) rows += row['p'] === 'large' ? 1 : 0
  assert.equal(rows, 40)
  assert.throws(() => {
    const writer = newUnit({ unitBytesMax: 5000 }).unit
    for (let s = 0; s < 40; s++) writer.put('unit', { p: 'x', s, fill: 'x'.repeat(1000) })
  }, /holds more than 5000 bytes/)
})

test('a range is read as far as its reader has come', async () => {
  for (let s = 0; s < 10; s++)
    await store.call('PutItem', { TableName: 'unit', Item: toSdkItem(marshallItem({ p: 'range', s })) })
  const { unit } = newUnit({ pageLimit: 4 })
  const input = { key: 'p = :p', values: { ':p': 'range' } }
  assert.equal((await unit.query('unit', { ...input, limit: 3 })).length, 3)
  for await (const row of unit.query('unit', { ...input, reverse: true })) if (row['s'] === 5) break
  await unit.query('unit', input)
  const never = unit.query('unit', input)
  assert.ok(never)
  const ends = unit.observed().ranges.map(({ end }) => (end === undefined ? 'all' : unmarshallItem(end)['s']))
  assert.deepEqual(ends, [2, 5, 'all'])
})

// ---- the same steps through a unit and one after the other

const VALUES: readonly unknown[] = [
  0,
  1,
  5,
  -3,
  'a',
  'b',
  new Set([1, 2]),
  new Set(['a']),
  [1, 'x'],
  { k: 1 },
]
const NAMES = ['n', 'g', 'a', 'b'] as const

interface Choice {
  (below: number): number
}

function randomValue(choose: Choice, name: string): unknown {
  // The index key attributes keep their types, so that steps are refused for other reasons only.
  if (name === 'n') return choose(6)
  if (name === 'g') return `g${choose(2)}`
  return VALUES[choose(VALUES.length)]
}

const randomName = (choose: Choice): string => NAMES[choose(NAMES.length)]!

function randomUpdate(choose: Choice): Update<Plain> {
  const name = randomName(choose)
  switch (choose(7)) {
    case 0:
      return { set: { [name]: randomValue(choose, name) } }
    case 1:
      return { add: { n: choose(5) - 2 } }
    case 2:
      return { remove: [name] }
    case 3:
      return { set: { a: randomValue(choose, 'a') }, add: { n: 1 }, remove: ['b'] }
    case 4:
      return { expression: 'SET b = if_not_exists(n, :d)', values: { ':d': 7 } }
    case 5:
      return { expression: 'SET a = :v ADD n :one', values: { ':v': choose(3), ':one': 1 } }
    default:
      return { expression: 'SET n = if_not_exists(n, :zero) + :one', values: { ':zero': 0, ':one': 1 } }
  }
}

function randomCondition(choose: Choice): Condition | undefined {
  switch (choose(10)) {
    case 0:
      return { expression: 'attribute_exists(p) OR n < :x', values: { ':x': choose(5) } }
    case 1:
      return { expression: 'attribute_not_exists(a)' }
    case 2:
      return { expression: '#n <> :v', names: { '#n': randomName(choose) }, values: { ':v': choose(4) } }
    default:
      return undefined
  }
}

type RandomStep =
  | { readonly kind: 'put'; readonly item: Plain; readonly condition?: Condition }
  | {
      readonly kind: 'update'
      readonly key: Plain
      readonly update: Update<Plain>
      readonly condition?: Condition
    }
  | { readonly kind: 'delete'; readonly key: Plain; readonly condition?: Condition }
  | { readonly kind: 'check'; readonly key: Plain; readonly condition: Condition }

function randomStep(choose: Choice): RandomStep {
  const key = { p: `p${choose(2)}`, s: choose(3) }
  const condition = randomCondition(choose)
  const rest = condition === undefined ? {} : { condition }
  switch (choose(6)) {
    case 0: {
      const item: Plain = { ...key }
      for (const name of NAMES) if (choose(2) === 0) item[name] = randomValue(choose, name)
      return { kind: 'put', item, ...rest }
    }
    case 1:
      return { kind: 'delete', key, ...rest }
    case 2:
      return { kind: 'check', key, condition: condition ?? { expression: 'attribute_not_exists(zz)' } }
    default:
      return { kind: 'update', key, update: randomUpdate(choose), ...rest }
  }
}

function throughUnit(unit: UnitAttempt, step: RandomStep): void {
  switch (step.kind) {
    case 'put':
      return unit.put('unit', step.item, step.condition)
    case 'update':
      return unit.update('unit', step.key, step.update, step.condition)
    case 'delete':
      return unit.delete('unit', step.key, step.condition)
    case 'check':
      return unit.check('unit', step.key, step.condition)
  }
}

/** The same on the other table, at once; whether the store has done it. */
async function directly(step: RandomStep): Promise<'done' | 'condition' | 'invalid'> {
  const update = step.kind === 'update' ? updateExpression(step.update) : undefined
  const condition = step.condition === undefined ? undefined : conditionExpression(step.condition)
  const prefixed = (text: string): string => text.replaceAll(/([#:])/g, '$1c')
  const names = {
    ...update?.names,
    ...Object.fromEntries(Object.entries(condition?.names ?? {}).map(([name, to]) => [prefixed(name), to])),
  }
  const values = {
    ...update?.values,
    ...Object.fromEntries(Object.entries(condition?.values ?? {}).map(([name, to]) => [prefixed(name), to])),
  }
  const common = {
    TableName: 'plain',
    ...(condition !== undefined && { ConditionExpression: prefixed(condition.text) }),
    ...(Object.keys(names).length > 0 && { ExpressionAttributeNames: names }),
    ...(Object.keys(values).length > 0 && {
      ExpressionAttributeValues: Object.fromEntries(
        Object.entries(values).map(([name, value]) => [name, toSdkValue(value)]),
      ),
    }),
  }
  try {
    if (step.kind === 'put') {
      await store.call('PutItem', { ...common, Item: toSdkItem(marshallItem(step.item)) })
      return 'done'
    }
    const Key = toSdkItem(marshallItem(step.key))
    if (step.kind === 'update')
      await store.call('UpdateItem', { ...common, Key, UpdateExpression: update!.text })
    else if (step.kind === 'delete') await store.call('DeleteItem', { ...common, Key })
    else
      await store.call('TransactWriteItems', {
        TransactItems: [
          { ConditionCheck: { ...common, Key, ConditionExpression: common.ConditionExpression } },
        ],
      })
    return 'done'
  } catch (error) {
    const { name } = error as Error
    if (name === 'ValidationException') return 'invalid'
    if (name === 'ConditionalCheckFailedException' || name === 'TransactionCanceledException')
      return 'condition'
    throw error
  }
}

async function all(table: string): Promise<Plain[]> {
  const { Items = [] } = await store.call('Scan', { TableName: table })
  return Items.map((item) => unmarshallItem(fromSdkItem(item)))
}

/** Sets have no order. */
const shown = (rows: readonly (Plain | undefined)[]): unknown =>
  rows.map((row) =>
    row === undefined
      ? undefined
      : Object.fromEntries(
          Object.entries(row)
            .toSorted(([a], [b]) => (a < b ? -1 : 1))
            .map(([name, value]) => [
              name,
              value instanceof Set ? [...value].map(String).toSorted((a, b) => (a < b ? -1 : 1)) : value,
            ]),
        ),
  )

const RANGES = [
  { key: 'p = :p', values: { ':p': 'p0' } },
  { key: 'p = :p AND s >= :s', values: { ':p': 'p1', ':s': 1 }, reverse: true },
  { key: 'p = :p', values: { ':p': 'p1', ':n': 1 }, filter: 'n > :n', limit: 2 },
  { key: 'g = :g', values: { ':g': 'g0' }, index: 'by-g', reverse: true },
  {
    key: 'g = :g AND n BETWEEN :a AND :b',
    values: { ':g': 'g1', ':a': 1, ':b': 4 },
    index: 'by-g',
    limit: 2,
  },
  { key: 'g = :g', values: { ':g': 'g1' }, index: 'keys-by-g' },
] as const

async function compareReads(unit: UnitAttempt, seed: number): Promise<void> {
  const direct = new UnitAttempt({
    start: attemptStart(),
    port: new PlainAttempt(store),
    ordersLikeSeriatim: true,
  })
  const keys = [0, 1].flatMap((p) => [0, 1, 2].map((s) => ({ p: `p${p}`, s })))
  assert.deepEqual(
    shown(await unit.getAll('unit', keys)),
    shown(await direct.getAll('plain', keys)),
    `seed ${seed}: get`,
  )
  for (const range of RANGES)
    assert.deepEqual(
      shown(await unit.query('unit', range)),
      shown(await direct.query('plain', range)),
      `seed ${seed}: ${JSON.stringify(range)}`,
    )
  const scans = [{}, { filter: 'attribute_exists(a)' }, { limit: 2 }, { index: 'by-g' }]
  for (const scan of scans)
    assert.deepEqual(
      shown(await unit.scan('unit', scan)),
      shown(await direct.scan('plain', scan)),
      `seed ${seed}: scan ${JSON.stringify(scan)}`,
    )
}

async function trial(seed: number): Promise<'committed' | 'refused'> {
  const choose = seededRandom(seed)
  for (const table of ['unit', 'plain'])
    for (const item of await all(table))
      await store.call('DeleteItem', {
        TableName: table,
        Key: { p: toSdkValue(marshall(item['p'])), s: toSdkValue(marshall(item['s'])) },
      })
  for (let count = choose(6); count > 0; count--) {
    const item: Plain = { p: `p${choose(2)}`, s: choose(3) }
    for (const name of NAMES) if (choose(2) === 0) item[name] = randomValue(choose, name)
    for (const table of ['unit', 'plain'])
      await store.call('PutItem', { TableName: table, Item: toSdkItem(marshallItem(item)) })
  }
  const before = await all('unit')
  const { unit, port } = newUnit({ pageLimit: 1 + choose(3) })
  let expected: 'done' | 'condition' | 'invalid' = 'done'
  for (let count = 1 + choose(7); count > 0 && expected === 'done'; count--) {
    const step = randomStep(choose)
    throughUnit(unit, step)
    expected = await directly(step)
    if (expected === 'done' && choose(4) === 0) await compareReads(unit, seed)
  }
  try {
    await port.commit(await unit.work())
    assert.equal(expected, 'done', `seed ${seed}: the unit was committed`)
    assert.deepEqual(shown(await all('unit')), shown(await all('plain')), `seed ${seed}`)
    return 'committed'
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error
    assert.notEqual(expected, 'done', `seed ${seed}: refused with ${String(error)}`)
    if (expected === 'condition')
      assert.ok(error instanceof ConditionFailed, `seed ${seed}: ${String(error)}`)
    assert.deepEqual(shown(await all('unit')), shown(before), `seed ${seed}: nothing is written`)
    return 'refused'
  }
}

test('random steps through a unit do what they do one after the other, and its reads see it on the way', async () => {
  const ends = { committed: 0, refused: 0 }
  const first = Number(process.env['SEED'] ?? 1)
  const trials = process.env['SEED'] === undefined ? 300 : 1
  for (let seed = first; seed < first + trials; seed++) ends[await trial(seed)]++
  if (trials > 1) assert.ok(ends.committed > 75 && ends.refused > 25, JSON.stringify(ends))
})
