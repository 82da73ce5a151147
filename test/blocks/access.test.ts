// Who may read the ledger: the tables that a block touches decide.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Key, key, openKeyed, tableOf } from '../access/keys.js'
import { LEDGER_TAG } from './support.js'

test('ledger: a block, and the history of an item, is for keys that may read its tables; redaction needs admin', async (t) => {
  const { as, url } = await openKeyed(t, [
    key('OWNER', ['read', 'write', 'admin']),
    key('READER', ['read']),
    key('WRITER', ['read', 'write']),
    key('OTHER', ['read', 'write', 'admin'], ['other*']),
  ])
  for (const name of ['guarded', 'other'])
    await as('OWNER').call('CreateTable', { ...tableOf(name), Tags: [LEDGER_TAG] })
  const item = { TableName: 'guarded', Key: Key('1') }
  for (const n of ['1', '2'])
    await as('OWNER').call('PutItem', { TableName: 'guarded', Item: { ...Key('1'), n: { N: n } } })
  const { Revision } = await as('READER').call('GetRevision', { ...item, Version: 0 })
  const { BlockAddress } = Revision as { BlockAddress: { SequenceNumber: number } }
  const { SequenceNumber } = BlockAddress
  const path = { Path: `block/00${SequenceNumber}` }
  assert.equal(await as('READER').outcome('GetBlock', { SequenceNumber }), 'answered')
  assert.equal(await as('READER').outcome('GetLedgerFile', path), 'answered')
  assert.equal(await as('OTHER').outcome('GetBlock', { SequenceNumber }), 'AccessDeniedException')
  assert.equal(await as('OTHER').outcome('GetLedgerFile', path), 'AccessDeniedException')
  assert.equal(await as('OTHER').outcome('ListRevisions', item), 'AccessDeniedException')
  const { TableId } = Revision as { TableId: string }
  assert.equal(
    await as('OTHER').outcome('ListRevisions', { TableId, Key: Key('1') }),
    'ResourceNotFoundException',
  )
  // Hashes tell nothing of a table.
  assert.equal(await as('OTHER').outcome('GetDigest', {}), 'answered')
  assert.equal(await as('OTHER').outcome('GetLedgerFile', { Path: 'tile/0/000.p/3' }), 'answered')
  assert.equal(await as('WRITER').outcome('RedactRevision', { ...item, Version: 0 }), 'AccessDeniedException')
  assert.equal(await as('OWNER').outcome('RedactRevision', { ...item, Version: 0 }), 'answered')
  // Without a signature nothing is served.
  assert.equal((await fetch(`${url}/ledger/checkpoint`)).status, 400)
})
