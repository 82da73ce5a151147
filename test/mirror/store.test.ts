// The ledger of a real store, copied and checked over HTTP: what the store makes is what the verifier wants.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { run } from '../../src/cli/run.js'
import { ledgerAt, loadAuthFile, open } from '../../src/index.js'
import { verifyConsistency, verifyProof } from '../../src/verify/index.js'
import { testWorld } from '../cli/test-world.js'
import { testFolder } from '../support/folder.js'

const table = (TableName: string) => ({
  TableName,
  BillingMode: 'PAY_PER_REQUEST' as const,
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' as const }],
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' as const }],
  Tags: [{ Key: 'seriatim:ledger', Value: 'true' }],
})

test('ledger: a store of several nodes is exported, grows, restarts, drops a table and redacts, and always verifies', async () => {
  const folder = testFolder()
  const options = { path: join(folder, 'data'), nodes: 3 }
  const copy = join(folder, 'copy')
  let store = await open(options)
  await store.call('CreateTable', table('Cars'))
  await store.call('CreateTable', table('Boats'))
  const { key, checkpoint: first, size: firstSize } = await store.ledger.digest()
  let server = await store.listen({ port: 0 })
  const check = async (): Promise<string> => {
    const office = ledgerAt(server.url, { key })
    await office.export(copy)
    await office.watch(join(folder, 'last')).check()
    const { world, out, errors } = testWorld()
    assert.equal(await run(['ledger', 'verify', copy, '--key', key], world), 0, errors.join('\n'))
    return out[0]!
  }
  const t = store.transactor()
  for (let at = 0; at < 20; at++)
    await t.transact((tx) => {
      tx.put('Cars', { id: `c${at % 7}`, at, shape: new Set(['b', 'a']), deep: { z: 1, a: [null, true] } })
      tx.put('Boats', { id: `b${at % 3}`, at })
    })
  assert.match(await check(), /40 revisions of 10 items, 0 redactions$/)
  const proof = await store.ledger.prove('Cars', { id: 'c3' }, { version: 0 })
  const { item } = await verifyProof(proof, { key })
  assert.deepEqual(item?.['at'], { N: '3' })
  await store.call('DeleteItem', { TableName: 'Cars', Key: { id: { S: 'c1' } } })
  await store.ledger.redact('Cars', { id: 'c3' }, { version: 0 })
  assert.match(await check(), /41 revisions of 10 items, 1 redactions$/)
  await server.stop()
  await store.close()
  store = await open(options)
  server = await store.listen({ port: 0 })
  await store.call('PutItem', { TableName: 'Cars', Item: { id: { S: 'c1' }, again: { BOOL: true } } })
  await store.call('DeleteTable', { TableName: 'Boats' })
  assert.match(await check(), /42 revisions of 10 items, 1 redactions$/)
  const { checkpoint, consistency } = await store.ledger.digest({ oldSize: firstSize })
  await verifyConsistency(first, checkpoint, consistency!, { key })
  await server.stop()
  await store.close()
})

test('ledger: a server with keys is exported with a signature, and not without', async () => {
  const folder = testFolder()
  writeFileSync(
    join(folder, 'keys.json'),
    JSON.stringify({
      keys: [{ accessKeyId: 'AUDITOR', secretAccessKey: 'secret', tables: ['*'], access: ['read'] }],
    }),
  )
  const store = await open({ memory: true })
  await store.call('CreateTable', table('Cars'))
  await store.call('PutItem', { TableName: 'Cars', Item: { id: { S: 'c1' } } })
  const { key } = await store.ledger.digest()
  const { auth } = await loadAuthFile(join(folder, 'keys.json'))
  const server = await store.listen({ port: 0, auth })
  const exporting = async (copy: string): Promise<{ code: number; errors: string }> => {
    const { world, errors } = testWorld()
    const args = ['ledger', 'export', join(folder, copy), '--endpoint', server.url, '--key', key]
    return { code: await run(args, world), errors: errors.join('\n') }
  }
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = process.env
  try {
    Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'AUDITOR', AWS_SECRET_ACCESS_KEY: 'secret' })
    assert.deepEqual(await exporting('good'), { code: 0, errors: '' })
    process.env['AWS_SECRET_ACCESS_KEY'] = 'wrong'
    assert.equal((await exporting('bad')).code, 1)
  } finally {
    for (const [name, value] of Object.entries({ AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY }))
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    await server.stop()
    await store.close()
  }
})
