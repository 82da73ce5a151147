// The purchase of a book, of "Distributed Transactions at Scale in Amazon DynamoDB": a customer, a product, an order.
import { ConditionFailed } from '../../toolkit/endpoint/errors.js'
import type { Scene, Stage } from './stage.js'

export const bookshopScene: Scene = {
  title: 'The bookshop: one copy, two customers at once',
  async play(stage) {
    for (const table of ['Customers', 'Products', 'Orders']) await stage.table(table)
    await stage.put('Customers', { id: 'ann' }, { id: 'ben' })
    await stage.put('Products', { id: 'book', status: 'IN_STOCK', price: 100 })
    stage.say(
      'A purchase checks the customer, marks the book as sold, and writes an order: all of it, or nothing.',
    )

    const ends = await Promise.all(
      ['ann', 'ben'].map((customer) => purchase(stage, customer, `order of ${customer}`)),
    )
    for (const end of ends) stage.say(end.told)
    stage.check('one of them has it', ends.filter(({ bought }) => bought).length, 1)
    stage.check('the book is sold', (await stage.get('Products', 'book'))?.['status'], 'SOLD')
    stage.check('there is one order', (await stage.all('Orders')).length, 1)

    const stranger = await purchase(stage, 'nobody', 'order of nobody')
    stage.say(stranger.told)
    stage.check('there is still one order', (await stage.all('Orders')).length, 1)
  },
}

async function purchase(
  { store }: Stage,
  customer: string,
  order: string,
): Promise<{ readonly bought: boolean; readonly told: string }> {
  try {
    await store.transactor().transact((tx) => {
      tx.check('Customers', { id: customer }, { expression: 'attribute_exists(id)' })
      tx.update(
        'Products',
        { id: 'book' },
        { set: { status: 'SOLD' } },
        { expression: '#s = :in', names: { '#s': 'status' }, values: { ':in': 'IN_STOCK' } },
      )
      tx.put('Orders', { id: order, customer, product: 'book', status: 'CONFIRMED', cost: 100 })
    })
    return { bought: true, told: `${customer}: bought it` }
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error
    return {
      bought: false,
      told: `${customer}: refused, for a condition on ${error.detail.table} does not hold`,
    }
  }
}
