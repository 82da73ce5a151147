// Without its record table, or without a right on it, a unit is refused before anything is written; and what plain writers
// destroy is told.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { open, type Store } from '../../../src/store/store.js'
import type { Endpoint, ExtendedEndpoint } from '../../../src/toolkit/endpoint/endpoint.js'
import { RECORDS } from '../../../src/toolkit/intents/intents-protocol.js'
import { isWriteLost } from '../../../src/toolkit/intents/protocol/rules.js'
import { UnitNotFound, WriteLost } from '../../../src/toolkit/index.js'
import type { UnitHandle } from '../../../src/toolkit/unit/transactor.js'
import { foreign, intentsTransactor } from './endpoints.js'

const TABLE = 'Things'
const settings = { always: true } as const

describe('the record table', () => {
  let store: Store
  let writes: string[]
  before(async () => {
    store = await open({ memory: true })
    await store.call('CreateTable', {
      TableName: TABLE,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    })
  })
  after(() => store.close())

  /** Denies what it is told to on the record table, and notes what is written elsewhere. */
  const endpointWithout = (denied?: string): ExtendedEndpoint => {
    writes = []
    const call: Endpoint['call'] = (operation, input) => {
      const { TableName = '' } = input as { TableName?: string }
      if (TableName === RECORDS && operation === denied)
        return Promise.reject(
          Object.assign(new Error(`User: me is not authorized to perform: dynamodb:${operation}.`), {
            name: 'AccessDeniedException',
            $fault: 'client',
            $metadata: { httpStatusCode: 400 },
          }),
        )
      if (/^(Put|Update|Delete|Transact)/.test(operation) && TableName !== RECORDS) writes.push(operation)
      return store.call(operation, input)
    }
    return foreign({ call })
  }

  for (const [what, use] of [
    ['one conditional write', (tx) => tx.put(TABLE, { id: 'a' })],
    ['several items', (tx) => ['a', 'b'].forEach((id) => tx.put(TABLE, { id }))],
    ['a lock', async (tx) => void (await tx.get(TABLE, { id: 'a' }, { lock: true }))],
  ] as readonly [string, (tx: UnitHandle) => void | Promise<void>][])
    for (const some of [{}, settings])
      test(`without setup() a unit of ${what} is refused before anything is written${'always' in some ? ', by intents' : ''}`, async () => {
        const t = intentsTransactor(endpointWithout(), some)
        await assert.rejects(
          t.transact((tx) => use(tx as UnitHandle)),
          /seriatim-transactions, which is not there: call setup\(\) of a transactor once/,
        )
        assert.deepEqual(writes, [])
      })

  test('without setup() nothing can be resumed, and the sentence names setup()', async () => {
    await assert.rejects(intentsTransactor(endpointWithout()).resume('none'), /call setup\(\)/)
  })

  for (const operation of ['DescribeTable', 'PutItem', 'UpdateItem', 'GetItem'])
    test(`without the right to ${operation} on it a unit is refused before anything is written, and told which`, async () => {
      await intentsTransactor(endpointWithout()).setup()
      const t = intentsTransactor(endpointWithout(operation), settings)
      await assert.rejects(
        t.transact((tx) => ['a', 'b'].forEach((id) => tx.put(TABLE, { id }))),
        {
          name: 'AccessDeniedException',
          message: new RegExp(`the right dynamodb:${operation} on their record table ${RECORDS}`),
        },
      )
      await t.idle()
      assert.deepEqual(writes, [])
    })

  test('resume of an unknown id is an error of its own', async () => {
    const t = intentsTransactor(endpointWithout(), settings)
    await t.setup()
    await assert.rejects(t.resume('never heard of'), (error) => {
      assert.ok(error instanceof UnitNotFound)
      return error.id === 'never heard of'
    })
    await assert.rejects(store.transactor().resume('x'), /call setup\(\)/)
    await store.transactor().setup()
    await assert.rejects(store.transactor().resume('never heard of'), UnitNotFound)
  })

  for (const [what, destroy] of [
    ['replaced', { operation: 'PutItem', input: { TableName: TABLE, Item: { id: { S: 'x' } } } }],
    ['deleted', { operation: 'DeleteItem', input: { TableName: TABLE, Key: { id: { S: 'x' } } } }],
  ] as const)
    test(`a finishing whose item was ${what} by a plain writer meanwhile says so through onError`, async () => {
      const inner = endpointWithout()
      let isOn = false
      const endpoint = foreign({
        call: async (operation, input, options) => {
          // Between the decision and the finishing of x.
          const { UpdateExpression = '', TableName } = input as {
            UpdateExpression?: string
            TableName?: string
          }
          if (isOn && TableName === TABLE && UpdateExpression.includes('REMOVE #i')) {
            isOn = false
            await store.call(destroy.operation as 'PutItem', destroy.input as never)
          }
          return inner.call(operation, input, options)
        },
      })
      const told: unknown[] = []
      const t = intentsTransactor(endpoint, { ...settings, onError: (error) => told.push(error) })
      await t.setup()
      await t.transact((tx) => tx.put(TABLE, { id: 'x', n: 1 }))
      await t.idle()
      assert.equal(told.length, 0)
      isOn = true
      await t.transact((tx) => tx.put(TABLE, { id: 'x', n: 2 }))
      await t.idle()
      const lost = told.at(0) as WriteLost
      assert.equal(lost.name, 'WriteLost')
      assert.deepEqual(lost.detail, { table: TABLE, key: { id: 'x' } })
      assert.match(lost.message, /Things \{"id":"x"\} cannot be found: a plain writer/)
      assert.equal(told.length, 1)
    })

  test('errors name table, key and cause: a wrong operand type, by intents and on the native path', async () => {
    const byIntents = intentsTransactor(endpointWithout(), settings)
    const byTransact = intentsTransactor(endpointWithout(), { protocol: 'transact' })
    const native = store.transactor()
    for (const t of [byIntents, byTransact, native]) {
      await t.transact((tx) => tx.put(TABLE, { id: 'text', n: 'one' }))
      await t.transact((tx) => tx.put(TABLE, { id: 'other' }))
      for (const ids of [['text'], ['other', 'text']])
        await assert.rejects(
          t.transact((tx) => ids.forEach((id) => tx.update(TABLE, { id }, { add: { n: 1 } }))),
          (error: Error) => {
            assert.equal(error.name, 'ValidationException')
            assert.match(error.message, /operand|type/i)
            assert.match(error.message, /in the write of Things \{"id":"text"\}/)
            return true
          },
        )
    }
  })

  test('a transaction that is refused as a whole is told of the write that is not valid, or of those that may be meant', async () => {
    const inner = endpointWithout()
    // As DynamoDB Local does: it names no place, and no reasons.
    const message = 'An operand in the update expression has an incorrect data type'
    const endpoint = foreign({
      call: async (operation, input, options) => {
        try {
          return await inner.call(operation, input, options)
        } catch (error) {
          if (operation !== 'TransactWriteItems') throw error
          throw Object.assign(new Error(message), {
            name: 'ValidationException',
            $fault: 'client',
            $metadata: { httpStatusCode: 400 },
          })
        }
      },
    })
    const t = intentsTransactor(endpoint, { protocol: 'transact' })
    await t.setup()
    await store.call('PutItem', { TableName: TABLE, Item: { id: { S: 'text' }, n: { S: 'one' } } })
    const add = (ids: readonly string[], attribute: string) =>
      t.transact((tx) => ids.forEach((id) => tx.update(TABLE, { id }, { add: { [attribute]: 1 } })))
    await assert.rejects(add(['other', 'text', 'third'], 'n'), {
      name: 'ValidationException',
      message: `${message}, in the write of Things {"id":"text"}.`,
    })
    // What is valid here and refused there: each of them may be meant.
    await store.call('PutItem', { TableName: TABLE, Item: { id: { S: 'text' }, n: { N: '1' } } })
    const refused = foreign({
      call: (operation, input, options) =>
        operation === 'TransactWriteItems'
          ? Promise.reject(
              Object.assign(new Error(message), {
                name: 'ValidationException',
                $fault: 'client',
                $metadata: { httpStatusCode: 400 },
              }),
            )
          : inner.call(operation, input, options),
    })
    const ids = Array.from({ length: 12 }, (_, at) => `i${String(at).padStart(2, '0')}`)
    await assert.rejects(
      intentsTransactor(refused, { protocol: 'transact' }).transact((tx) =>
        ids.forEach((id) => tx.update(TABLE, { id }, { add: { n: 1 } })),
      ),
      {
        name: 'ValidationException',
        message: `${message}, in one of the writes of ${ids
          .slice(0, 10)
          .map((id) => `Things {"id":"${id}"}`)
          .join(', ')} and 2 more.`,
      },
    )
  })

  test('a table that is not there is named, by intents and on the native path', async () => {
    for (const t of [intentsTransactor(endpointWithout(), settings), store.transactor()]) {
      const named = { name: 'ResourceNotFoundException', message: /Nothing-here/ }
      await assert.rejects(
        t.transact((tx) => tx.get('Nothing-here', { id: 'a' })),
        named,
      )
      await assert.rejects(
        t.transact((tx) => tx.query('Nothing-here', { key: 'id = :i', values: { ':i': 'a' } })),
        named,
      )
      await assert.rejects(
        t.transact((tx) => tx.put('Nothing-here', { id: 'a' })),
        named,
      )
      await assert.rejects(
        t.transact((tx) => tx.delete('Nothing-here', { id: 'a' })),
        named,
      )
    }
  })
})

test('a write is lost if its item has another past than its own: none, or the one before', () => {
  const write = { id: 'me', act: 'write', before: 'old' } as const
  const item = { id: { S: 'x' } }
  const intent = {
    id: 'you',
    turn: 1,
    since: 0,
    patienceMs: 1,
    transient: true,
    redo: { act: 'keep' },
  } as const
  assert.equal(isWriteLost(write, { item, version: 'me' }), false)
  assert.equal(isWriteLost(write, { item, version: 'later' }), false)
  assert.equal(isWriteLost(write, { item, intent: { ...intent, id: 'me' } }), false)
  assert.equal(isWriteLost(write, { item, version: 'old' }), true)
  assert.equal(isWriteLost(write, { item }), true)
  assert.equal(isWriteLost(write, undefined), true)
  assert.equal(isWriteLost({ ...write, act: 'delete' }, undefined), false)
  assert.equal(isWriteLost({ ...write, act: 'delete' }, { item, intent }), false)
  assert.equal(isWriteLost({ ...write, act: 'delete' }, { item }), true)
  assert.equal(isWriteLost({ ...write, act: 'keep' }, { item }), false)
})
