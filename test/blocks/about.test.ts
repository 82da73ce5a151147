// What a block says of who wrote, and by which statements; and the id of a unit of work as a way to its block.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { transactor } from '../../src/toolkit/index.js'
import { decodeBlockEntry, imageOf } from '../../src/verify/block.js'
import { fromBase64, utf8 } from '../../src/verify/bytes.js'
import { verifyBlock } from '../../src/verify/proof.js'
import { type DigestAnswer, Key, ledgerTable, openLedger, own, type LedgerStore } from './support.js'

interface BlockAnswer {
  readonly Block: {
    readonly TransactionId: string
    readonly Header: string
    readonly Entries: readonly { readonly Entry: string; readonly Data?: string }[]
  }
}

interface Info {
  readonly by?: string
  readonly unit?: string
  readonly statements?: readonly string[]
  readonly data: string | null
}

async function lastBlock({ ask }: LedgerStore): Promise<{
  readonly info: Info
  readonly parameters: unknown
  readonly number: number
}> {
  const { Size } = await ask<DigestAnswer>('GetDigest', {})
  const { Block } = await ask<BlockAnswer>('GetBlock', { SequenceNumber: Size - 1 })
  const [first] = Block.Entries
  const info = decodeBlockEntry(utf8(first!.Entry)) as unknown as Info
  const data = first!.Data === undefined ? undefined : fromBase64(first!.Data)
  return {
    info,
    parameters: data && JSON.parse(Buffer.from(imageOf(data)).toString()),
    number: Size - 1,
  }
}

const insert = async ({ dynamodb }: LedgerStore): Promise<void> =>
  void (await dynamodb.executeStatement({
    Statement: `INSERT INTO Cars VALUE {'vin': 'v1', 'owner': 'ann'} -- hers`,
  }))

test('ledger: a statement is in its block, without the data that is in it; literals and parameters are data of the block', async (t) => {
  const ledger = await openLedger(t)
  await ledger.dynamodb.createTable(ledgerTable('Cars'))
  await insert(ledger)
  const inserted = await lastBlock(ledger)
  assert.deepEqual(inserted.info.statements, [`INSERT INTO Cars VALUE {?: ?, ?: ?} `])
  assert.deepEqual(inserted.parameters, [
    { text: `INSERT INTO Cars VALUE {'vin': 'v1', 'owner': 'ann'} -- hers` },
  ])
  const Statement = `UPDATE Cars SET owner = ? WHERE vin = 'v1'`
  await ledger.dynamodb.executeTransaction({
    TransactStatements: [{ Statement, Parameters: [{ S: 'bob' }] }],
  })
  const { info, parameters } = await lastBlock(ledger)
  assert.deepEqual(info.statements, ['UPDATE Cars SET owner = ? WHERE vin = ?'])
  assert.deepEqual(parameters, [{ text: Statement, parameters: [{ S: 'bob' }] }])
})

test('ledger: parameters that a statement has no places for are not in its block', async (t) => {
  const ledger = await openLedger(t)
  await ledger.dynamodb.createTable(ledgerTable('Cars'))
  const Statement = `INSERT INTO Cars VALUE {'vin': ?}`
  const given = [{ S: 'v1' }, { S: 'x'.repeat(100_000) }]
  await ledger.dynamodb.executeStatement({ Statement, Parameters: given })
  const { parameters } = await lastBlock(ledger)
  assert.deepEqual(parameters, [{ text: Statement, parameters: [{ S: 'v1' }] }])
})

test('ledger: redaction of a revision takes the parameters of its block with it, and the block still verifies', async (t) => {
  const ledger = await openLedger(t)
  await ledger.dynamodb.createTable(ledgerTable('Cars'))
  await insert(ledger)
  const { number } = await lastBlock(ledger)
  await own(ledger.dynamodb, 'Cars', 'v1', 'bob')
  await ledger.ask('RedactRevision', { TableName: 'Cars', Key: Key('v1'), Version: 0 })
  const { Block } = await ledger.ask<BlockAnswer>('GetBlock', { SequenceNumber: number })
  assert.deepEqual(
    Block.Entries.map(({ Data }) => Data),
    [undefined, undefined],
  )
  assert.ok(!JSON.stringify(Block).includes('ann'))
  const file = await fetch(`${ledger.url}/ledger/block/${String(number).padStart(3, '0')}`)
  assert.equal(verifyBlock(utf8(Block.Header), new Uint8Array(await file.arrayBuffer())).length, 2)
})

test('ledger: the id of a unit of work leads to its block, in this process and over the wire, with its statements', async (t) => {
  const ledger = await openLedger(t, { nodes: 3 })
  const { store, dynamodb, ask } = ledger
  await dynamodb.createTable(ledgerTable('Cars'))
  const overWire = transactor(dynamodb)
  for (const [vin, units] of [
    ['v1', store.transactor()],
    ['w1', overWire],
  ] as const) {
    const id = await units.transact(async (tx) => {
      tx.put('Cars', { vin: `${vin}-a`, owner: 'ann' })
      await tx.execute(`INSERT INTO Cars VALUE {'vin': ?, 'owner': 'eve'}`, [`${vin}-b`])
      return tx.id
    })
    const { info, parameters, number } = await lastBlock(ledger)
    assert.equal(info.unit, id)
    assert.deepEqual(info.statements, ['INSERT INTO Cars VALUE {?: ?, ?: ?}'])
    assert.deepEqual(parameters, [
      { text: `INSERT INTO Cars VALUE {'vin': ?, 'owner': 'eve'}`, parameters: [{ S: `${vin}-b` }] },
    ])
    const { Block } = await ask<BlockAnswer>('GetBlock', { TransactionId: id })
    const { Revisions } = await ask<{ readonly Revisions: readonly unknown[] }>('ListRevisions', {
      TransactionId: id,
    })
    assert.equal(Revisions.length, 2)
    const again = await ask<BlockAnswer>('GetBlock', { SequenceNumber: number })
    assert.deepEqual(Block, again.Block)
  }
})

test('ledger: a unit of work sees the history of an item up to the version that it has read, and is refused if there is a newer one', async (t) => {
  const { store, dynamodb } = await openLedger(t)
  await dynamodb.createTable(ledgerTable('Cars'))
  for (const owner of ['ann', 'bob']) await own(dynamodb, 'Cars', 'v1', owner)
  for (const units of [
    store.transactor({ retry: { limit: 0 } }),
    transactor(dynamodb, { retry: { limit: 0 } }),
  ]) {
    const seen = await units.transact(async (tx) => {
      tx.put('Cars', { vin: 'v1', owner: 'own write' })
      const versions = await tx.history('Cars', { vin: 'v1' })
      return versions.map(({ version, item }) => [version, item?.['owner']])
    })
    assert.deepEqual(seen.slice(0, 2), [
      [0, 'ann'],
      [1, 'bob'],
    ])
    const before = seen.length
    let outdated: number | undefined
    const late = units.transact(async (tx) => {
      await tx.get('Cars', { vin: 'v1' })
      await own(dynamodb, 'Cars', 'v1', `meanwhile ${before}`)
      outdated = (await tx.history('Cars', { vin: 'v1' })).length
      tx.put('Cars', { vin: 'v2', owner: 'x' })
    })
    await assert.rejects(late, { name: 'Conflict' })
    assert.equal(outdated, before + 1)
    assert.deepEqual(await units.transact((tx) => tx.history('Cars', { vin: 'none' })), [])
  }
})
