// One runtime: every step prints a line of JSON. Run by runtimes.mjs, in a folder in which the package is installed.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'

const TABLE = {
  TableName: 'Books',
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  BillingMode: 'PAY_PER_REQUEST',
}

let failed = false

async function step(name, run) {
  try {
    await run()
    console.log(JSON.stringify({ step: name }))
    return true
  } catch (error) {
    failed = true
    console.log(
      JSON.stringify({
        step: name,
        error: String(error?.stack ?? error)
          .split('\n')
          .slice(0, 4)
          .join(' '),
      }),
    )
    return false
  }
}

function expect(actual, wanted) {
  if (actual !== wanted) throw new Error(`${JSON.stringify(actual)} instead of ${JSON.stringify(wanted)}`)
}

const { open } = await import('seriatim')
const { transactor, locks } = await import('seriatim/toolkit')

for (const place of ['memory', 'disk']) {
  const folder = mkdtempSync(join(tmpdir(), 'seriatim-trial-'))
  let store
  const isOpen = await step(`${place}: open, write`, async () => {
    store = await open(place === 'memory' ? { memory: true } : { path: folder })
    await store.call('CreateTable', TABLE)
    await store.call('PutItem', { TableName: 'Books', Item: { id: { S: 'b1' } } })
  })
  if (isOpen) await inStore(place, store)
  if (isOpen && place === 'disk') await reopened(folder)
  rmSync(folder, { recursive: true, force: true })
}
process.exitCode = failed ? 1 : 0

async function inStore(place, store) {
  await step(`${place}: SDK client`, async () => {
    const { Item } = await store.client().getItem({ TableName: 'Books', Key: { id: { S: 'b1' } } })
    expect(Item?.id?.S, 'b1')
  })
  await step(`${place}: units of work`, async () => {
    await store.transactor().transact(async (tx) => {
      const book = await tx.get('Books', { id: 'b1' })
      tx.put('Books', { id: 'b2', from: book.id })
    })
    await transactor(store.client()).transact((tx) => Promise.resolve(tx.put('Books', { id: 'b3' })))
  })
  await step(`${place}: locks`, async () => {
    const client = locks(store.client(), { table: 'Locks' })
    await client.setup()
    const lock = await client.acquire('name', { waitMs: 10_000 })
    await lock.release()
  })
  await step(`${place}: HTTP`, async () => {
    const server = await store.listen({ port: 0 })
    for (const id of ['b2', 'b3']) {
      const response = await fetch(server.url, {
        method: 'POST',
        headers: {
          'content-type': 'application/x-amz-json-1.0',
          'x-amz-target': 'DynamoDB_20120810.GetItem',
        },
        body: JSON.stringify({ TableName: 'Books', Key: { id: { S: id } } }),
      })
      expect((await response.json()).Item?.id?.S, id)
    }
    await server.stop()
  })
  await step(`${place}: idle, close`, async () => {
    await store.idle()
    await store.close()
  })
}

async function reopened(folder) {
  await step('disk: reopen', async () => {
    const store = await open({ path: folder })
    const { Item } = await store.call('GetItem', { TableName: 'Books', Key: { id: { S: 'b2' } } })
    expect(Item?.id?.S, 'b2')
    await store.close()
  })
}
