// Ledger tables as a client meets them: history, digests, proofs, redaction, and what is refused.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeBlockEntry, decodeBlockHeader } from '../../src/verify/block.js'
import { utf8 } from '../../src/verify/bytes.js'
import { verifyBlock, verifyConsistency, verifyProof } from '../../src/verify/proof.js'
import {
  type DigestAnswer,
  Key,
  LEDGER_TAG,
  ledgerTable,
  openLedger,
  own,
  type RevisionAnswer,
  type RevisionsAnswer,
} from './support.js'

interface BlockAnswer {
  readonly Block: {
    readonly TransactionId: string
    readonly Header: string
    readonly Entries: readonly { readonly Entry: string; readonly Data?: string }[]
  }
  readonly Proof?: string
}

test('ledger: every version of an item is in its history, past a delete too, and each is proven by a digest', async (t) => {
  const { dynamodb, ask } = await openLedger(t)
  await dynamodb.createTable(ledgerTable('Cars'))
  for (const owner of ['ann', 'bob']) await own(dynamodb, 'Cars', 'v1', owner)
  await dynamodb.deleteItem({ TableName: 'Cars', Key: Key('v1') })
  await own(dynamodb, 'Cars', 'v1', 'cleo')
  const digest = await ask<DigestAnswer>('GetDigest', {})
  const { Revisions } = await ask<RevisionsAnswer>('ListRevisions', { TableName: 'Cars', Key: Key('v1') })
  assert.deepEqual(
    Revisions.map(({ Metadata, Data }) => [Metadata.Version, Metadata.Event, Data?.owner?.S]),
    [
      [0, 'INSERT', 'ann'],
      [1, 'MODIFY', 'bob'],
      [2, 'REMOVE', undefined],
      [3, 'INSERT', 'cleo'],
    ],
  )
  const previous: (string | null)[] = []
  for (const Version of [0, 1, 2, 3]) {
    const { Proof } = await ask<{ readonly Proof: string }>('GetRevision', {
      TableName: 'Cars',
      Key: Key('v1'),
      Version,
      DigestSize: digest.Size,
    })
    const { entry, item } = await verifyProof(Proof, { key: digest.Key })
    assert.ok(entry?.kind === 'revision')
    assert.equal(entry.version, Version)
    assert.deepEqual(item?.['owner'], Revisions[Version]?.Data?.owner)
    previous.push(entry.previous)
  }
  assert.deepEqual(previous, [null, ...Revisions.slice(0, 3).map(({ Hash }) => Hash)])
})

test('ledger: a transaction is one block, and its id leads to it and to its revisions', async (t) => {
  const { dynamodb, ask } = await openLedger(t, { nodes: 3 })
  await dynamodb.createTable(ledgerTable('Cars'))
  await dynamodb.createTable(ledgerTable('Plain', { Tags: [] }))
  const Put = (TableName: string, vin: string) => ({ Put: { TableName, Item: Key(vin) } })
  const vins = Array.from({ length: 12 }, (_, at) => `v${at}`)
  await dynamodb.transactWriteItems({
    TransactItems: [...vins.map((vin) => Put('Cars', vin)), Put('Plain', 'p')],
  })
  const { Revisions } = await ask<RevisionsAnswer>('ListRevisions', { TableName: 'Cars', Key: Key('v7') })
  const { TransactionId } = Revisions[0]!.Metadata
  const { Block } = await ask<BlockAnswer>('GetBlock', { TransactionId })
  assert.equal(Block.TransactionId, TransactionId)
  const entries = Block.Entries.map(({ Entry }) => decodeBlockEntry(utf8(Entry)))
  assert.deepEqual(
    entries.map(({ kind }) => kind),
    ['info', ...vins.map(() => 'revision')],
  )
  const of = await ask<RevisionsAnswer>('ListRevisions', { TransactionId })
  assert.equal(of.Revisions.length, 12)
  const digest = await ask<DigestAnswer>('GetDigest', {})
  // The creation of the table, and this.
  assert.equal(digest.Size, 2)
})

test('ledger: a block has a proof of its own, and is what its header says', async (t) => {
  const { dynamodb, ask, url } = await openLedger(t)
  await dynamodb.createTable(ledgerTable('Cars'))
  await own(dynamodb, 'Cars', 'v1', 'ann')
  const digest = await ask<DigestAnswer>('GetDigest', {})
  const { Block, Proof } = await ask<BlockAnswer>('GetBlock', { SequenceNumber: 1, DigestSize: 2 })
  const proven = await verifyProof(Proof!, { key: digest.Key })
  assert.deepEqual(proven.header, decodeBlockHeader(utf8(Block.Header)))
  const file = new Uint8Array(await (await fetch(`${url}/ledger/block/001`)).arrayBuffer())
  assert.equal(verifyBlock(utf8(Block.Header), file).length, 2)
})

test('ledger: a later digest is shown to begin with an earlier one', async (t) => {
  const { dynamodb, ask } = await openLedger(t)
  await dynamodb.createTable(ledgerTable('Cars'))
  const digests: DigestAnswer[] = [await ask<DigestAnswer>('GetDigest', {})]
  for (let at = 0; at < 9; at++) {
    await own(dynamodb, 'Cars', `v${at % 3}`, `owner ${at}`)
    digests.push(await ask<DigestAnswer>('GetDigest', {}))
  }
  for (const earlier of digests) {
    const later = await ask<DigestAnswer>('GetDigest', { OldSize: earlier.Size })
    await verifyConsistency(earlier.Checkpoint, later.Checkpoint, later.ConsistencyProof!, { key: later.Key })
  }
})

test('ledger: history by time has what was current at some time of the range, and by version just those', async (t) => {
  const { dynamodb, ask, clock } = await openLedger(t)
  await dynamodb.createTable(ledgerTable('Cars'))
  const times: string[] = []
  for (const owner of ['a', 'b', 'c', 'd', 'e']) {
    clock.advance(60_000)
    times.push(new Date(clock.nowMicros() / 1000).toISOString())
    await own(dynamodb, 'Cars', 'v1', owner)
  }
  const owners = async (range: object): Promise<string> => {
    const { Revisions } = await ask<RevisionsAnswer>('ListRevisions', {
      TableName: 'Cars',
      Key: Key('v1'),
      ...range,
    })
    return Revisions.map(({ Data }) => Data!.owner!.S).join('')
  }
  const shifted = (at: number, ms: number): string => new Date(Date.parse(times[at]!) + ms).toISOString()
  assert.equal(await owners({}), 'abcde')
  assert.equal(await owners({ From: times[1], To: times[3] }), 'bcd')
  assert.equal(await owners({ From: shifted(1, -1), To: shifted(3, -1) }), 'abc')
  assert.equal(await owners({ From: shifted(4, 1000) }), 'e')
  assert.equal(await owners({ To: shifted(0, -1) }), '')
  assert.equal(await owners({ FromVersion: 1, ToVersion: 2 }), 'bc')
})

test('ledger: a page of history goes on where it ended, for the item and the key that it was given to alone', async (t) => {
  const { dynamodb, ask } = await openLedger(t)
  await dynamodb.createTable(ledgerTable('Cars'))
  for (let at = 0; at < 7; at++) await own(dynamodb, 'Cars', 'v1', `o${at}`)
  await own(dynamodb, 'Cars', 'v2', 'o')
  const item = { TableName: 'Cars', Key: Key('v1') }
  const seen: number[] = []
  let token: string | undefined
  do {
    const page: RevisionsAnswer = await ask('ListRevisions', {
      ...item,
      Limit: 3,
      ...(token && { NextToken: token }),
    })
    seen.push(...page.Revisions.map(({ Metadata }) => Metadata.Version))
    token = page.NextToken
  } while (token !== undefined)
  assert.deepEqual(seen, [0, 1, 2, 3, 4, 5, 6])
  const { NextToken } = await ask<RevisionsAnswer>('ListRevisions', { ...item, Limit: 3 })
  await assert.rejects(
    ask('ListRevisions', { ...item, NextToken: `${NextToken!.slice(0, -1)}_` }),
    /NextToken/,
  )
  await assert.rejects(
    ask('ListRevisions', { TableName: 'Cars', Key: Key('v2'), NextToken }),
    /NextToken does not match request/,
  )
  // Each operation has tokens of its own.
  const Statement = 'SELECT * FROM "Cars"'
  await assert.rejects(dynamodb.executeStatement({ Statement, NextToken }), {
    name: 'ValidationException',
    message: /NextToken/,
  })
  await own(dynamodb, 'Cars', 'v2', 'eve')
  const rows = await dynamodb.executeStatement({ Statement, Limit: 1 })
  assert.ok(rows.NextToken !== undefined)
  await assert.rejects(ask('ListRevisions', { ...item, NextToken: rows.NextToken }), /NextToken/)
})

test('ledger: redaction takes the data of an older version, leaves its proof whole, and is a block itself', async (t) => {
  const { dynamodb, ask } = await openLedger(t)
  await dynamodb.createTable(ledgerTable('Cars'))
  for (const owner of ['ann', 'bob']) await own(dynamodb, 'Cars', 'v1', owner)
  const item = { TableName: 'Cars', Key: Key('v1') }
  const before = await ask<DigestAnswer>('GetDigest', {})
  await assert.rejects(ask('RedactRevision', { ...item, Version: 1 }), /Version 1 is the current one/)
  await assert.rejects(
    ask('RedactRevision', { ...item, Version: 2 }),
    /ResourceNotFoundException.*no version 2/,
  )
  const { BlockAddress } = await ask<Pick<RevisionAnswer, 'BlockAddress'>>('RedactRevision', {
    ...item,
    Version: 0,
    Reason: 'asked for by ann',
  })
  assert.equal(BlockAddress.SequenceNumber, before.Size)
  await assert.rejects(ask('RedactRevision', { ...item, Version: 0 }), /was redacted before/)
  const after = await ask<DigestAnswer>('GetDigest', { OldSize: before.Size })
  assert.equal(after.Size, before.Size + 1)
  await verifyConsistency(before.Checkpoint, after.Checkpoint, after.ConsistencyProof!, { key: after.Key })
  const { Revision, Proof } = await ask<{ readonly Revision: RevisionAnswer; readonly Proof: string }>(
    'GetRevision',
    {
      ...item,
      Version: 0,
      DigestSize: after.Size,
    },
  )
  assert.equal(Revision.Redacted, true)
  assert.equal(Revision.Data, undefined)
  assert.equal((await verifyProof(Proof, { key: after.Key })).item, undefined)
  const { Block } = await ask<BlockAnswer>('GetBlock', { SequenceNumber: before.Size })
  const redaction = decodeBlockEntry(utf8(Block.Entries[0]!.Entry))
  assert.ok(redaction.kind === 'redaction')
  assert.deepEqual([redaction.version, redaction.block, redaction.reason], [0, 1, 'asked for by ann'])
})

test('ledger: a table that was dropped leaves a block, and stays readable by its id; one of the same name is another', async (t) => {
  const { dynamodb, ask } = await openLedger(t)
  const { TableDescription } = await dynamodb.createTable(ledgerTable('Cars'))
  await own(dynamodb, 'Cars', 'v1', 'ann')
  await dynamodb.deleteTable({ TableName: 'Cars' })
  await dynamodb.createTable(ledgerTable('Cars'))
  await own(dynamodb, 'Cars', 'v1', 'bob')
  const owners = async (of: object): Promise<readonly (string | undefined)[]> => {
    const { Revisions } = await ask<RevisionsAnswer>('ListRevisions', { ...of, Key: Key('v1') })
    return Revisions.map(({ Data }) => Data?.owner?.S)
  }
  assert.deepEqual(await owners({ TableId: TableDescription!.TableId }), ['ann'])
  assert.deepEqual(await owners({ TableName: 'Cars' }), ['bob'])
  const { Size } = await ask<DigestAnswer>('GetDigest', {})
  const events: string[] = []
  for (let SequenceNumber = 0; SequenceNumber < Size; SequenceNumber++) {
    const { Block } = await ask<BlockAnswer>('GetBlock', { SequenceNumber })
    const entry = decodeBlockEntry(utf8(Block.Entries[0]!.Entry))
    events.push(entry.kind === 'table' ? entry.event : entry.kind)
  }
  assert.deepEqual(events.toSorted(), ['CREATE', 'CREATE', 'DELETE', 'info', 'info'])
  assert.ok(events.indexOf('DELETE') > events.indexOf('info'))
  // Nothing of it is current any more.
  await ask('RedactRevision', { TableId: TableDescription!.TableId, Key: Key('v1'), Version: 0 })
})

test('ledger: what its time to live deletes is a revision with that cause', async (t) => {
  const { dynamodb, ask, clock, store } = await openLedger(t)
  await dynamodb.createTable(ledgerTable('Cars'))
  await dynamodb.updateTimeToLive({
    TableName: 'Cars',
    TimeToLiveSpecification: { AttributeName: 'until', Enabled: true },
  })
  const seconds = Math.floor(clock.nowMicros() / 1e6) + 10
  await dynamodb.putItem({ TableName: 'Cars', Item: { ...Key('v1'), until: { N: String(seconds) } } })
  clock.advance(3_600_000)
  await store.idle()
  const { Revisions } = await ask<RevisionsAnswer>('ListRevisions', { TableName: 'Cars', Key: Key('v1') })
  assert.deepEqual(
    Revisions.map(({ Metadata }) => [Metadata.Event, Metadata.Cause]),
    [
      ['INSERT', 'request'],
      ['REMOVE', 'expiry'],
    ],
  )
})

test('ledger: a table is a ledger from its creation, by its tag or its name, and stays one', async (t) => {
  const { dynamodb, ask } = await openLedger(t, { ledger: 'audit-*' })
  const { TableDescription } = await dynamodb.createTable(ledgerTable('audit-cars', { Tags: [] }))
  const ResourceArn = TableDescription!.TableArn!
  assert.deepEqual((await dynamodb.listTagsOfResource({ ResourceArn })).Tags, [LEDGER_TAG])
  await dynamodb.tagResource({ ResourceArn, Tags: [LEDGER_TAG, { Key: 'team', Value: 'x' }] })
  await assert.rejects(
    dynamodb.tagResource({ ResourceArn, Tags: [{ ...LEDGER_TAG, Value: 'false' }] }),
    /is a ledger, and stays one/,
  )
  await assert.rejects(
    dynamodb.untagResource({ ResourceArn, TagKeys: [LEDGER_TAG.Key] }),
    /is a ledger, and stays one/,
  )
  const plain = await dynamodb.createTable(ledgerTable('plain', { Tags: [] }))
  await assert.rejects(
    dynamodb.tagResource({ ResourceArn: plain.TableDescription!.TableArn!, Tags: [LEDGER_TAG] }),
    /cannot become a ledger/,
  )
  await assert.rejects(
    dynamodb.createTable(ledgerTable('x-1', { Tags: [{ ...LEDGER_TAG, Value: 'yes' }] })),
    /true/,
  )
  await assert.rejects(
    ask('ListRevisions', { TableName: 'plain', Key: Key('v') }),
    /Table plain is not a ledger/,
  )
  await own(dynamodb, 'audit-cars', 'v1', 'ann')
  assert.equal((await ask<DigestAnswer>('GetDigest', {})).Size, 2)
})

test('ledger: without a ledger table there is no ledger, and requests say so', async (t) => {
  const { ask, url } = await openLedger(t)
  await assert.rejects(ask('GetDigest', {}), /ResourceNotFoundException.*No table of this store is a ledger/)
  assert.equal((await fetch(`${url}/ledger/checkpoint`)).status, 404)
})

test('ledger: what is not there, or beyond the digest, is refused by name', async (t) => {
  const { dynamodb, ask } = await openLedger(t)
  await dynamodb.createTable(ledgerTable('Cars'))
  await own(dynamodb, 'Cars', 'v1', 'ann')
  const item = { TableName: 'Cars', Key: Key('v1') }
  await assert.rejects(ask('GetRevision', { ...item, Version: 1 }), /versions 0 to 0, and not 1/)
  await assert.rejects(ask('GetRevision', { TableName: 'Cars', Key: Key('no') }), /has no revisions/)
  await assert.rejects(
    ask('GetRevision', { ...item, DigestSize: 99 }),
    /DigestSize 99 is beyond the 2 blocks/,
  )
  await assert.rejects(
    ask('GetRevision', { ...item, DigestSize: 1 }),
    /digest of 1 blocks does not have block 1/,
  )
  await assert.rejects(ask('GetBlock', { SequenceNumber: 2 }), /none with number 2/)
  await assert.rejects(ask('GetBlock', { TransactionId: 's2' }), /No block is of transaction s2/)
  await assert.rejects(ask('GetBlock', {}), /Exactly one of SequenceNumber and TransactionId/)
  await assert.rejects(ask('ListRevisions', { ...item, From: 'yesterday' }), /From is a time such as/)
  await assert.rejects(ask('ListRevisions', { Key: Key('v1') }), /Exactly one of TableName and TableId/)
  await assert.rejects(ask('GetDigest', { OldSize: 3 }), /OldSize 3 is beyond the 2 blocks/)
})

test('ledger: numbers count without their fractions, as in all requests', async (t) => {
  const { dynamodb, ask } = await openLedger(t)
  await dynamodb.createTable(ledgerTable('Cars'))
  await own(dynamodb, 'Cars', 'v1', 'ann')
  const item = { TableName: 'Cars', Key: Key('v1') }
  for (const [operation, input, fraction] of [
    ['GetRevision', { ...item, Version: 0 }, { ...item, Version: 0.9 }],
    ['GetRevision', { ...item, DigestSize: 2 }, { ...item, DigestSize: 2.5 }],
    ['GetBlock', { SequenceNumber: 1, DigestSize: 2 }, { SequenceNumber: 1.5, DigestSize: 2.1 }],
    ['GetDigest', { OldSize: 1 }, { OldSize: 1.999 }],
    ['ListRevisions', { ...item, FromVersion: 0, Limit: 1 }, { ...item, FromVersion: 0.5, Limit: 1.5 }],
  ] as const)
    assert.deepEqual(await ask(operation, fraction), await ask(operation, input), operation)
  await assert.rejects(ask('RedactRevision', { ...item, Version: 0.5 }), /Version 0 is the current one/)
})

test('ledger: a stream on a ledger table shows what its view type shows', async (t) => {
  const { dynamodb, store } = await openLedger(t)
  const stream = { StreamEnabled: true, StreamViewType: 'KEYS_ONLY' } as const
  await dynamodb.createTable(ledgerTable('Cars', { StreamSpecification: stream }))
  await own(dynamodb, 'Cars', 'v1', 'ann')
  for await (const change of store.changes('Cars', { from: 'start' })) {
    assert.deepEqual([change.keys, change.new, change.old], [{ vin: 'v1' }, undefined, undefined])
    break
  }
})

test('ledger: in this process it has plain values', async (t) => {
  const { dynamodb, store } = await openLedger(t)
  await dynamodb.createTable(ledgerTable('Cars'))
  for (const owner of ['ann', 'bob', 'cleo']) await own(dynamodb, 'Cars', 'v1', owner)
  const owners: unknown[] = []
  for await (const { version, item } of store.ledger.history('Cars', { vin: 'v1' }, { fromVersion: 1 }))
    owners.push([version, item?.['owner']])
  assert.deepEqual(owners, [
    [1, 'bob'],
    [2, 'cleo'],
  ])
  const { key, size } = await store.ledger.digest()
  const proven = await verifyProof(await store.ledger.prove('Cars', { vin: 'v1' }, { version: 0 }), { key })
  assert.deepEqual([proven.checkpoint.size, proven.item?.['owner']], [size, { S: 'ann' }])
  assert.equal((await store.ledger.redact('Cars', { vin: 'v1' }, { version: 1 })).block, size)
  const { entries } = await store.ledger.block(size)
  assert.match(entries[0]!.entry, /"kind":"redaction"/)
})

test('ledger: nothing is restored under a name that makes a table a ledger, because a ledger begins empty', async (t) => {
  const { dynamodb } = await openLedger(t, { ledger: 'audit-*' })
  await dynamodb.createTable(ledgerTable('plain', { Tags: [] }))
  await own(dynamodb, 'plain', 'v1', 'ann')
  const { BackupDetails } = await dynamodb.createBackup({ TableName: 'plain', BackupName: 'first' })
  const { BackupArn } = BackupDetails!
  await assert.rejects(
    dynamodb.restoreTableFromBackup({ TargetTableName: 'audit-1', BackupArn }),
    /A table named audit-1 is a ledger in this store, and a ledger begins empty/,
  )
  await dynamodb.restoreTableFromBackup({ TargetTableName: 'plain-2', BackupArn })
})

test('ledger: files are served as C2SP asks for: text and bytes, tiles for good, checkpoints not', async (t) => {
  const { dynamodb, ask, url } = await openLedger(t)
  await dynamodb.createTable(ledgerTable('Cars'))
  await own(dynamodb, 'Cars', 'v1', 'ann')
  await ask('GetDigest', {})
  const forGood = 'public, max-age=31536000, immutable'
  for (const [path, type, cache] of [
    ['checkpoint', 'text/plain; charset=utf-8', 'no-cache'],
    ['tile/0/000.p/2', 'application/octet-stream', forGood],
    ['tile/entries/000.p/2', 'application/octet-stream', forGood],
  ]) {
    const { status, headers } = await fetch(`${url}/ledger/${path}`)
    assert.deepEqual([status, headers.get('content-type'), headers.get('cache-control')], [200, type, cache])
  }
  // None that is empty, or wider than the tree, or written in another way.
  for (const path of [
    'tile/0/000.p/0',
    'tile/0/000.p/3',
    'tile/0/001.p/1',
    'tile/0/000.p/02',
    'tile/00/000.p/2',
    'tile/1/000.p/1',
  ])
    assert.equal((await fetch(`${url}/ledger/${path}`)).status, 404, path)
})
