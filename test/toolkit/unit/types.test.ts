// With a table map, wrong use does not compile: each `@ts-expect-error` below fails the build if the line under it compiles.
import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Transactor, UnitOfWork } from '../../../src/toolkit/unit/transactor.js'

interface Shop {
  readonly Accounts: {
    readonly key: { readonly id: string }
    readonly item: {
      readonly id: string
      readonly balance: number
      readonly name?: string
      readonly tags?: ReadonlySet<string>
    }
  }
  readonly Orders: {
    readonly key: { readonly customer: string; readonly number: number }
    readonly item: { readonly customer: string; readonly number: number; readonly total: number }
  }
}

/** Never called: it only has to compile, or not to. */
export async function typed(t: Transactor<Shop>): Promise<number> {
  return t.transact(async (tx: UnitOfWork<Shop>) => {
    const account = await tx.get('Accounts', { id: 'alice' })
    const balance: number = account?.balance ?? 0
    const [first] = await tx.getAll('Orders', [{ customer: 'alice', number: 1 }])
    const total: number | undefined = first?.total
    for await (const order of tx.query('Orders', { key: 'customer = :c', values: { ':c': 'alice' } }))
      order.total.toFixed()
    tx.put('Accounts', { id: 'alice', balance: 1 })
    tx.update('Accounts', { id: 'alice' }, { add: { balance: 1 }, remove: ['tags'] })
    tx.update('Accounts', { id: 'alice' }, { expression: 'SET balance = :b', values: { ':b': 1 } })
    tx.delete('Orders', { customer: 'alice', number: 1 }, { expression: 'attribute_exists(customer)' })

    // @ts-expect-error an unknown table
    await tx.get('Customers', { id: 'alice' })
    // @ts-expect-error a key that is not the table's
    await tx.get('Accounts', { name: 'alice' })
    // @ts-expect-error half a key
    await tx.get('Orders', { customer: 'alice' })
    // @ts-expect-error a key of the wrong type
    await tx.getAll('Orders', [{ customer: 'alice', number: '1' }])
    // @ts-expect-error a put without its key
    tx.put('Accounts', { balance: 1 })
    // @ts-expect-error a put without an attribute that items have
    tx.put('Orders', { customer: 'alice', number: 1 })
    // @ts-expect-error a put with an attribute of the wrong type
    tx.put('Accounts', { id: 'alice', balance: '1' })
    // @ts-expect-error an update that sets what the items do not have
    tx.update('Accounts', { id: 'alice' }, { set: { colour: 'red' } })
    // @ts-expect-error an update that removes what the items do not have
    tx.update('Accounts', { id: 'alice' }, { remove: ['colour'] })
    // @ts-expect-error an update that sets an attribute of the key
    tx.update('Accounts', { id: 'alice' }, { set: { id: 'bob' } })
    // @ts-expect-error an update that removes an attribute of the key
    tx.update('Orders', { customer: 'alice', number: 1 }, { remove: ['number'] })
    // @ts-expect-error an update that adds to an attribute of the key
    tx.update('Orders', { customer: 'alice', number: 1 }, { add: { number: 1 } })
    // @ts-expect-error an update that adds to a string
    tx.update('Accounts', { id: 'alice' }, { add: { name: 'x' } })
    // @ts-expect-error an update that adds a string to a number
    tx.update('Accounts', { id: 'alice' }, { add: { balance: '1' } })
    tx.update('Accounts', { id: 'alice' }, { add: { tags: new Set(['a']) }, set: { name: 'x' } })
    // @ts-expect-error an expression and attributes in one update
    tx.update('Accounts', { id: 'alice' }, { expression: 'SET balance = :b', set: { balance: 1 } })
    // @ts-expect-error a check without a condition
    tx.check('Accounts', { id: 'alice' })
    // @ts-expect-error an item has no such attribute
    const colour: unknown = account?.colour
    // @ts-expect-error an unknown isolation level
    await t.transact(() => 1, { isolation: 'repeatable-read' })
    return colour === undefined ? balance + (total ?? 0) : 0
  })
}

/** Without a map any string and object will do. */
export async function untyped(t: Transactor): Promise<void> {
  await t.transact(async (tx) => {
    const item = await tx.get('Anything', { any: 'key' })
    tx.put('Anything', { any: 'key', more: item?.['more'] })
    tx.update('Anything', { any: 'key' }, { set: { a: 'b' }, add: { n: 1 }, remove: ['c'] })
  })
}

test('wrong use of a table map does not compile', () => {
  assert.equal(typeof typed, 'function')
  assert.equal(typeof untyped, 'function')
})
