import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TxId } from '../../../src/model/brand.js'
import { UndurableEnds } from '../../../src/storage/transactions/undurable-ends.js'

const TX = 'tx' as TxId

interface Batch {
  readonly durable: Promise<void>
  readonly written: () => void
  readonly failed: () => void
}

function openBatch(): Batch {
  let settle: Pick<Batch, 'written' | 'failed'> | undefined
  const durable = new Promise<void>((resolve, reject) => {
    settle = { written: resolve, failed: () => reject(new Error('no sync')) }
  })
  durable.catch(() => undefined)
  return { durable, written: () => settle?.written(), failed: () => settle?.failed() }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('storage: a transaction that was seen and whose batch failed is not durable, however often it fails again', async () => {
  const undurable = new UndurableEnds()
  const first = openBatch()
  undurable.add(TX, first.durable, 'putVisible')
  first.failed()
  await turn()
  await assert.rejects(undurable.durable(TX) ?? Promise.resolve(), /no sync/)
  // Somebody finishes it once more: nothing is left to do at its items but to wait.
  const second = openBatch()
  undurable.add(TX, second.durable, 'put')
  second.failed()
  await turn()
  await assert.rejects(undurable.durable(TX) ?? Promise.resolve(), /no sync/)
  const third = openBatch()
  undurable.add(TX, third.durable, 'put')
  third.written()
  await turn()
  assert.equal(undurable.durable(TX), undefined)
})

test('storage: what nobody has seen and was taken back is forgotten: it is pending again', async () => {
  const undurable = new UndurableEnds()
  const batch = openBatch()
  undurable.add(TX, batch.durable, 'put')
  assert.equal(undurable.visible(TX), batch.durable)
  batch.failed()
  await turn()
  assert.equal(undurable.durable(TX), undefined)
})
