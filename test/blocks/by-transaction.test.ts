// What the ledger has of one transaction or unit of work, by its id: on the wire, in this process and on the command line.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { run } from '../../src/cli/run.js'
import { verifyProof } from '../../src/verify/proof.js'
import { testWorld } from '../cli/test-world.js'
import { testFolder } from '../support/folder.js'
import { Key, type LedgerStore, ledgerTable, openLedger, own, type RevisionAnswer } from './support.js'

/** Block 0 is the table; 1 and 2 are single puts; 3 is a transfer of both cars in a unit of work. */
async function withTransfer(ledger: LedgerStore): Promise<string> {
  const { dynamodb, store } = ledger
  await dynamodb.createTable(ledgerTable('Cars'))
  await own(dynamodb, 'Cars', 'v1', 'ann')
  await own(dynamodb, 'Cars', 'v2', 'ann')
  return store.transactor().transact((tx) => {
    for (const vin of ['v1', 'v2']) tx.put('Cars', { vin, owner: 'bob' })
    return tx.id
  })
}

test('ledger: a revision is found, and proven, by the item and the transaction that made it', async (t) => {
  const ledger = await openLedger(t)
  const { ask, dynamodb, store } = ledger
  const unit = await withTransfer(ledger)
  await own(dynamodb, 'Cars', 'v1', 'cid')
  const item = { TableName: 'Cars', Key: Key('v1') }
  const { Revision } = await ask<{ Revision: RevisionAnswer }>('GetRevision', {
    ...item,
    TransactionId: unit,
  })
  assert.equal(Revision.Metadata.Version, 1)
  const { key } = await store.ledger.digest()
  for (const transaction of [unit, Revision.Metadata.TransactionId]) {
    const proven = await verifyProof(await store.ledger.prove('Cars', { vin: 'v1' }, { transaction }), {
      key,
    })
    assert.deepEqual(proven.item?.['owner'], { S: 'bob' })
    assert.equal(proven.header.tx, Revision.Metadata.TransactionId)
  }
  const single = await store.ledger.prove('Cars', { vin: 'v1' }, { transaction: 's1' })
  assert.equal((await verifyProof(single, { key })).header.block, 1)

  const missing = /ResourceNotFoundException: .*No revision of the item is of transaction/
  await assert.rejects(ask('GetRevision', { ...item, TransactionId: 's2' }), missing)
  await assert.rejects(ask('GetRevision', { ...item, TransactionId: 'never' }), missing)
  await assert.rejects(ask('GetRevision', { ...item, TransactionId: unit, Version: 1 }), /not both/)
})

test('ledger: the id of a single write is that of no other block, and of no unit of work', async (t) => {
  const ledger = await openLedger(t)
  const { ask, store } = ledger
  await withTransfer(ledger)
  for (const id of ['s3', 's4', 's999999999', 's-1', 's01', 'never']) {
    await assert.rejects(
      ask('GetBlock', { TransactionId: id }),
      new RegExp(`No block is of transaction ${id}`),
    )
    await assert.rejects(store.ledger.transaction(id), new RegExp(`No block is of transaction ${id}`))
  }
  assert.equal((await store.ledger.block('s2')).block, 2)
})

test('seriatim ledger: history and prove take the id of a transaction or unit of work', async (t) => {
  const ledger = await openLedger(t)
  const { url, store } = ledger
  const unit = await withTransfer(ledger)
  const command = async (
    ...args: readonly string[]
  ): Promise<{ code: number; out: string; errors: string }> => {
    const { world, out, errors } = testWorld()
    const code = await run(['ledger', ...args, '--endpoint', url], world)
    return { code, out: out.join('\n'), errors: errors.join('\n') }
  }
  const history = await command('history', '--transaction', unit)
  assert.equal(history.code, 0, history.errors)
  const revisions = history.out.split('\n').map((line) => JSON.parse(line) as RevisionAnswer)
  assert.deepEqual(
    revisions.map(({ Metadata, Data }) => [Metadata.Version, Data?.owner?.S]),
    [
      [1, 'bob'],
      [1, 'bob'],
    ],
  )
  const { key } = await store.ledger.digest()
  const file = join(testFolder(), 'proof')
  const verified = async (...args: readonly string[]): Promise<string> => {
    const proof = await command('prove', ...args)
    assert.equal(proof.code, 0, proof.errors)
    writeFileSync(file, `${proof.out}\n`)
    const { world, out, errors } = testWorld()
    assert.equal(await run(['ledger', 'verify', file, '--key', key], world), 0, errors.join('\n'))
    return out.join('\n')
  }
  assert.match(await verified('--transaction', unit), /block 3 of 4, .* has 3 entries/)
  const item = ['Cars', '{"vin":{"S":"v2"}}']
  assert.match(await verified(...item, '--transaction', unit), /block 3 of 4, .*version 1 of Cars .*"bob"/)

  for (const name of ['history', 'prove']) {
    const unknown = await command(name, '--transaction', 'never')
    assert.equal(unknown.code, 1)
    assert.match(unknown.errors, /No block is of transaction never/)
  }
  assert.match(
    (await command('prove', ...item, '--transaction', 's1')).errors,
    /No revision of the item is of transaction s1/,
  )
  for (const [args, says] of [
    [['history'], /give a table and the key of an item, or --transaction ID/],
    [['prove', 'Cars'], /give a table and the key of an item, or --transaction ID/],
    [['history', ...item, '--transaction', unit], /either an item or --transaction/],
    [
      ['history', '--transaction', unit, '--from', '2030-01-01T00:00:00Z'],
      /--from and --to are for the history of an item/,
    ],
    [['prove', ...item, '--transaction', unit, '--version', '1'], /either --version or --transaction/],
    [['prove', '--transaction', unit, '--version', '1'], /either --version or --transaction/],
    [['digest', '--transaction', unit], /--transaction/],
    [['digest', '--version', '1'], /--version/],
  ] as const) {
    const { code, errors } = await command(...args)
    assert.equal(code, 2, args.join(' '))
    assert.match(errors, says)
  }
})
