// Imports through the SDK, of objects that a test puts into the bucket.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { ImportTableCommandInput } from '@aws-sdk/client-dynamodb'
import { manualClock } from '../../src/runtime/manual-clock.js'
import { importInput, imported, itemsOf, putObject, transferPlace } from './support.js'

const line = (item: object): string => `${JSON.stringify({ Item: item })}\n`
const GOOD = [
  { p: { S: 'a' }, n: { N: '1' } },
  { p: { S: 'b' }, list: { L: [{ BOOL: true }, { NULL: true }] } },
]
const lines = GOOD.map(line).join('')

test('import: the table appears with its items, and the counters are those of Amazon', async (t) => {
  const place = await transferPlace(t)
  const { client, folder, store } = place
  putObject(folder, 'in/00000.json', `${lines}\n   \n`)
  putObject(folder, 'in/empty.json', '')
  const begun = (await client.importTable(importInput('Orders', { prefix: 'in/' }))).ImportTableDescription!
  assert.equal(begun.ImportStatus, 'IN_PROGRESS')
  assert.equal(begun.ProcessedItemCount, 0)
  assert.ok(!('EndTime' in begun) && !('ProcessedSizeBytes' in begun) && !('CloudWatchLogGroupArn' in begun))
  assert.equal(begun.ImportArn!.split('/import/')[0], begun.TableArn)
  const { Table } = await client.describeTable({ TableName: 'Orders' })
  assert.equal(Table!.TableStatus, 'CREATING')
  assert.equal(Table!.TableId, begun.TableId)
  await assert.rejects(client.scan({ TableName: 'Orders' }), { name: 'ResourceNotFoundException' })
  await assert.rejects(client.deleteTable({ TableName: 'Orders' }), { name: 'ResourceInUseException' })
  assert.equal((await client.listImports({ TableArn: begun.TableArn! })).ImportSummaryList!.length, 1)
  await store.idle()
  const done = (await client.describeImport({ ImportArn: begun.ImportArn! })).ImportTableDescription!
  assert.equal(done.ImportStatus, 'COMPLETED')
  assert.ok(done.EndTime! >= done.StartTime!)
  assert.equal(done.ProcessedSizeBytes, lines.length + 5)
  assert.deepEqual([done.ProcessedItemCount, done.ImportedItemCount, done.ErrorCount], [2, 2, 0])
  for (const member of [
    'ImportArn',
    'TableArn',
    'TableId',
    'ClientToken',
    'S3BucketSource',
    'StartTime',
  ] as const)
    assert.deepEqual(done[member], begun[member])
  assert.deepEqual(done.TableCreationParameters, begun.TableCreationParameters)
  assert.deepEqual(await itemsOf(client, 'Orders'), GOOD)
  const described = (await client.describeTable({ TableName: 'Orders' })).Table!
  assert.deepEqual(
    [described.TableStatus, described.ItemCount, described.TableId],
    ['ACTIVE', 2, begun.TableId],
  )
})

test('import: where tables take their time an import is in progress for as long, and its table is ACTIVE with its end', async (t) => {
  const clock = manualClock(Date.parse('2026-11-17T12:00:00Z'))
  const place = await transferPlace(t, { clock, creatingMs: 5000 })
  const { client, folder, store } = place
  putObject(folder, 'in/00000.json', lines)
  const input = importInput('Orders', { prefix: 'in/', ClientToken: 'token' })
  const { ImportArn } = (await client.importTable(input)).ImportTableDescription!
  for (let look = 0; look < 50; look++) {
    const { ImportTableDescription: told } = await client.describeImport({ ImportArn: ImportArn! })
    assert.deepEqual([told!.ImportStatus, told!.ProcessedItemCount], ['IN_PROGRESS', 0])
  }
  assert.equal((await client.importTable(input)).ImportTableDescription!.ImportArn, ImportArn)
  assert.equal((await client.describeTable({ TableName: 'Orders' })).Table!.TableStatus, 'CREATING')
  clock.advance(5000)
  await store.idle()
  const { ImportTableDescription: done } = await client.describeImport({ ImportArn: ImportArn! })
  assert.deepEqual([done!.ImportStatus, done!.ImportedItemCount], ['COMPLETED', 2])
  assert.equal((await client.describeTable({ TableName: 'Orders' })).Table!.TableStatus, 'ACTIVE')
  assert.deepEqual(await itemsOf(client, 'Orders'), GOOD)
})

test('import: gzip and zstd give what the lines give', async (t) => {
  const place = await transferPlace(t)
  const { client, folder } = place
  putObject(folder, 'gzip/a.json.gz', gzipSync(lines))
  putObject(folder, 'plain/a.json', lines)
  writeFileSync(join(folder, 'lines'), lines)
  mkdirSync(join(folder, 'zstd'))
  execFileSync('zstd', ['-q', join(folder, 'lines'), '-o', join(folder, 'zstd/a.zst')])
  for (const [prefix, InputCompressionType] of [
    ['gzip/', 'GZIP'],
    ['zstd/', 'ZSTD'],
    ['plain/', 'NONE'],
  ] as const) {
    const TableName = `Of-${InputCompressionType}`
    const done = await imported(place, importInput(TableName, { prefix, InputCompressionType }))
    assert.equal(done.ImportStatus, 'COMPLETED', done.FailureMessage)
    assert.equal(done.ProcessedSizeBytes, lines.length)
    assert.deepEqual(await itemsOf(client, TableName), GOOD)
  }
})

test('import: what is wrong is counted, what is right is in the table, and the import has failed', async (t) => {
  const place = await transferPlace(t)
  const { client, folder } = place
  putObject(folder, 'bad/0.json', lines)
  const wrong = [
    '{"NotAnItem":{"p":{"S":"x"}}}',
    '{"Item":{"c":{"N":"1"}}}',
    '{"Item":{"p":{"N":"1"}}}',
    '{"Item": ',
    '{"Item":{"p":{"S":"x"},"":{"S":"v"}}}',
  ]
  for (const [at, text] of wrong.entries()) putObject(folder, `bad/${at + 1}.json`, `${text}\n`)
  const failed = await imported(place, importInput('Bad', { prefix: 'bad/' }))
  assert.equal(failed.ImportStatus, 'FAILED')
  assert.equal(failed.FailureCode, 'ItemValidationError')
  assert.match(failed.FailureMessage!, /failed validation checks.*bad\/1\.json: a line has no Item/)
  assert.deepEqual([failed.ProcessedItemCount, failed.ImportedItemCount, failed.ErrorCount], [7, 2, 5])
  assert.deepEqual(await itemsOf(client, 'Bad'), GOOD)
})

test('import: a line that is no item ends its object, one that does not fit the table does not', async (t) => {
  const place = await transferPlace(t)
  const { client, folder } = place
  putObject(folder, 'ends/0.json', `${line(GOOD[0]!)}not JSON\n${line(GOOD[1]!)}`)
  const ended = await imported(place, importInput('Ends', { prefix: 'ends/' }))
  assert.deepEqual([ended.ProcessedItemCount, ended.ImportedItemCount, ended.ErrorCount], [2, 1, 1])
  putObject(folder, 'goes-on/0.json', `${line(GOOD[0]!)}${line({ q: { S: 'x' } })}${line(GOOD[1]!)}`)
  const wentOn = await imported(place, importInput('GoesOn', { prefix: 'goes-on/' }))
  assert.deepEqual([wentOn.ProcessedItemCount, wentOn.ImportedItemCount, wentOn.ErrorCount], [3, 2, 1])
  assert.deepEqual(await itemsOf(client, 'GoesOn'), GOOD)
})

test('import: of items with one key the last stays, each counts, and the table counts it once', async (t) => {
  const place = await transferPlace(t)
  const { client, folder } = place
  const same = ['first', 'second', 'third'].map((which) => line({ p: { S: 'dup' }, which: { S: which } }))
  putObject(folder, 'dup/0.json', same.slice(0, 2).join('') + lines)
  putObject(folder, 'dup/1.json', same[2]!)
  const done = await imported(place, importInput('Dup', { prefix: 'dup/' }))
  assert.deepEqual([done.ProcessedItemCount, done.ImportedItemCount, done.ErrorCount], [5, 5, 0])
  const items = await itemsOf(client, 'Dup')
  assert.equal(items.length, 3)
  assert.equal(items.find(({ p }) => p!.S === 'dup')!['which']!.S, 'third')
  assert.equal((await client.describeTable({ TableName: 'Dup' })).Table!.ItemCount, 3)
})

test('import: CSV has names in its first row or in a list, key types of the table, and strings', async (t) => {
  const place = await transferPlace(t)
  const { client, folder } = place
  const creation: ImportTableCommandInput['TableCreationParameters'] = {
    TableName: 'Csv',
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: [
      { AttributeName: 'p', KeyType: 'HASH' },
      { AttributeName: 'n', KeyType: 'RANGE' },
    ],
    AttributeDefinitions: [
      { AttributeName: 'p', AttributeType: 'S' },
      { AttributeName: 'n', AttributeType: 'N' },
      { AttributeName: 'by', AttributeType: 'N' },
    ],
    GlobalSecondaryIndexes: [
      {
        IndexName: 'by-by',
        KeySchema: [{ AttributeName: 'by', KeyType: 'HASH' }],
        Projection: { ProjectionType: 'ALL' },
      },
    ],
  }
  putObject(
    folder,
    'csv/a.csv',
    'p,n,by,text\r\na,1,7,"say ""hi"", twice\nor so"\r\nb,2.0,8,plain\r\nshort,1\r\n',
  )
  const done = await imported(
    place,
    importInput('Csv', { prefix: 'csv/', InputFormat: 'CSV', TableCreationParameters: creation }),
  )
  assert.equal(done.FailureCode, 'ItemValidationError')
  assert.deepEqual([done.ImportedItemCount, done.ErrorCount], [2, 1])
  assert.deepEqual(await itemsOf(client, 'Csv'), [
    { p: { S: 'a' }, n: { N: '1' }, by: { N: '7' }, text: { S: 'say "hi", twice\nor so' } },
    { p: { S: 'b' }, n: { N: '2' }, by: { N: '8' }, text: { S: 'plain' } },
  ])
  const { Items } = await client.query({
    TableName: 'Csv',
    IndexName: 'by-by',
    KeyConditionExpression: '#by = :by',
    ExpressionAttributeNames: { '#by': 'by' },
    ExpressionAttributeValues: { ':by': { N: '8' } },
  })
  assert.equal(Items!.length, 1)
  putObject(folder, 'semicolons/a.csv', 'c;d\n')
  const listed = await imported(
    place,
    importInput('Listed', {
      prefix: 'semicolons/',
      InputFormat: 'CSV',
      InputFormatOptions: { Csv: { Delimiter: ';', HeaderList: ['p', 'q'] } },
    }),
  )
  assert.equal(listed.ImportStatus, 'COMPLETED', listed.FailureMessage)
  assert.deepEqual(await itemsOf(client, 'Listed'), [{ p: { S: 'c' }, q: { S: 'd' } }])
})

test('import: a token names its import while that runs; another table with it is a conflict', async (t) => {
  const { client, folder, store } = await transferPlace(t)
  putObject(folder, 'in/0.json', lines)
  const request = { ...importInput('Orders', { prefix: 'in/' }), ClientToken: 'token-1' }
  const first = (await client.importTable(request)).ImportTableDescription!
  const again = await client.importTable({ ...request, InputFormat: 'CSV' })
  assert.equal(again.ImportTableDescription!.ImportArn, first.ImportArn)
  assert.equal(again.ImportTableDescription!.InputFormat, 'DYNAMODB_JSON')
  const other = {
    ...request,
    TableCreationParameters: { ...request.TableCreationParameters!, TableName: 'Other' },
  }
  await assert.rejects(client.importTable(other), {
    name: 'ImportConflictException',
    message: /^Duplicate request/,
  })
  await store.idle()
  await assert.rejects(client.importTable(request), {
    name: 'ResourceInUseException',
    message: 'Table already exists: Orders',
  })
})

test('import: a bucket that is not there leaves no table, a prefix without objects an empty one', async (t) => {
  const place = await transferPlace(t)
  const { client } = place
  const absent = {
    ...importInput('Nowhere'),
    S3BucketSource: { S3Bucket: 'absent-bucket' },
    ClientToken: 'same',
  }
  const failed = await imported(place, absent)
  assert.equal(failed.ImportStatus, 'FAILED')
  assert.equal(failed.FailureCode, 'S3NoSuchBucket')
  assert.deepEqual([failed.ProcessedItemCount, failed.ErrorCount], [0, 0])
  await assert.rejects(client.describeTable({ TableName: 'Nowhere' }), { name: 'ResourceNotFoundException' })
  const again = await imported(place, {
    ...absent,
    S3BucketSource: { S3Bucket: 'shop', S3KeyPrefix: 'none/' },
  })
  assert.equal(again.ImportStatus, 'COMPLETED')
  assert.notEqual(again.ImportArn, failed.ImportArn)
  assert.deepEqual(await itemsOf(client, 'Nowhere'), [])
})

test('import: links, pipes and prefixes that lead elsewhere are refused, and leave no table', async (t) => {
  const place = await transferPlace(t)
  const { client, folder, root } = place
  putObject(root, 'secret.json', lines)
  putObject(folder, 'linked/good.json', lines)
  symlinkSync(join(root, 'secret.json'), join(folder, 'linked/object.json'))
  symlinkSync(root, join(folder, 'up'))
  mkdirSync(join(folder, 'pipes'))
  execFileSync('mkfifo', [join(folder, 'pipes/pipe')])
  for (const prefix of ['linked/', 'up/', 'pipes/']) {
    const failed = await imported(place, importInput('Refused', { prefix }))
    assert.equal(failed.FailureCode, 'S3AccessDenied', prefix)
    await assert.rejects(client.describeTable({ TableName: 'Refused' }), {
      name: 'ResourceNotFoundException',
    })
  }
  for (const prefix of ['../', 'a/../../', '/etc/'])
    await assert.rejects(client.importTable(importInput('Refused', { prefix })), {
      name: 'ValidationException',
      message: /S3KeyPrefix/,
    })
})

test('import: an object that swells without end is left, and is one error', async (t) => {
  const place = await transferPlace(t)
  const { folder } = place
  putObject(folder, 'long/one-line.gz', gzipSync(Buffer.alloc(32 * 1024 * 1024, 'x'), { level: 9 }))
  const long = await imported(place, importInput('Long', { prefix: 'long/', InputCompressionType: 'GZIP' }))
  assert.deepEqual([long.ErrorCount, long.ProcessedItemCount], [1, 1])
  assert.match(long.FailureMessage!, /a line is longer than/)
  putObject(folder, 'blank/lines.gz', gzipSync(Buffer.alloc(150 * 1024 * 1024, '\n'), { level: 9 }))
  const blank = await imported(
    place,
    importInput('Blank', { prefix: 'blank/', InputCompressionType: 'GZIP' }),
  )
  assert.equal(blank.ErrorCount, 1)
  assert.match(blank.FailureMessage!, /when it is inflated/)
  assert.ok(blank.ProcessedSizeBytes! < 140 * 1024 * 1024)
  putObject(folder, 'foreign/picture.gz', Buffer.from([0x89, 0x50, 0x4e, 0x47, 1, 2, 3]))
  for (const InputCompressionType of ['GZIP', 'ZSTD'] as const) {
    const TableName = `Foreign-${InputCompressionType}`
    const foreign = await imported(
      place,
      importInput(TableName, { prefix: 'foreign/', InputCompressionType }),
    )
    assert.equal(foreign.ErrorCount, 1)
  }
  // A window of 2 GB, in a few bytes.
  putObject(folder, 'window/a.zst', Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, 0x01, 0x00, 0x00]))
  const window = await imported(
    place,
    importInput('Window', { prefix: 'window/', InputCompressionType: 'ZSTD' }),
  )
  assert.match(window.FailureMessage!, /a window of ZSTD of \d+ bytes/)
})

test('import: what is wrong with a request is said in DynamoDB’s words', async (t) => {
  const { client } = await transferPlace(t)
  const creation = importInput('Orders').TableCreationParameters!
  for (const [changed, message] of [
    [{ InputFormat: 'NOT_A_FORMAT' }, /inputFormat/],
    [{ InputCompressionType: 'BZIP2' }, /inputCompressionType/],
    [{ S3BucketSource: { S3Bucket: 'x'.repeat(256) } }, /s3Bucket/],
    [{ S3BucketSource: { S3Bucket: '-nope!' } }, /s3Bucket/],
    [{ S3BucketSource: { S3Bucket: 'shop', S3KeyPrefix: 'p'.repeat(1025) } }, /s3KeyPrefix/],
    [{ TableCreationParameters: { ...creation, TableName: 'n'.repeat(256) } }, /tableName/],
    [{ TableCreationParameters: { ...creation, TableName: 'not a table name!' } }, /tableName/],
    [
      {
        TableCreationParameters: {
          ...creation,
          AttributeDefinitions: [{ AttributeName: 'unrelated', AttributeType: 'S' }],
        },
      },
      /AttributeDefinitions/,
    ],
    [{ InputFormatOptions: { Csv: { Delimiter: ',' } } }, /InputFormatOptions/],
    [{ InputFormat: 'CSV', InputFormatOptions: { Csv: { Delimiter: '#' } } }, /delimiter/],
    [{ ClientToken: 'has$dollar' }, /clientToken/],
    [{ ClientToken: '' }, /clientToken/],
  ] as const)
    await assert.rejects(
      client.importTable({ ...importInput('Orders'), ...changed } as never),
      { name: 'ValidationException', message },
      JSON.stringify(changed).slice(0, 100),
    )
  await assert.rejects(client.listImports({ PageSize: 26 }), { name: 'ValidationException' })
  await assert.rejects(client.listImports({ NextToken: '0'.repeat(112) }), { name: 'ValidationException' })
  const arn = 'arn:aws:dynamodb:us-east-1:000000000000:table/Orders/import/01658528578619-c4d4e311'
  await assert.rejects(client.describeImport({ ImportArn: arn }), { name: 'ImportNotFoundException' })
  await assert.rejects(client.describeImport({ ImportArn: arn.replace('Orders', 'x') }), {
    name: 'ValidationException',
    message: 'Invalid Import ARN',
  })
})

test('import: imports are listed newest first, in pages, with no more than a summary has', async (t) => {
  const place = await transferPlace(t)
  const { client } = place
  const arns: string[] = []
  for (const name of ['One', 'Two', 'Three'].map((each) => `${each}-table`))
    arns.push((await imported(place, importInput(name))).ImportArn!)
  const seen: string[] = []
  let NextToken: string | undefined
  do {
    const page = await client.listImports({ PageSize: 1, ...(NextToken !== undefined && { NextToken }) })
    assert.equal(page.ImportSummaryList!.length, 1)
    assert.deepEqual(Object.keys(page.ImportSummaryList![0]!).toSorted(), [
      'EndTime',
      'ImportArn',
      'ImportStatus',
      'InputFormat',
      'S3BucketSource',
      'StartTime',
      'TableArn',
    ])
    seen.push(page.ImportSummaryList![0]!.ImportArn!)
    NextToken = page.NextToken
  } while (NextToken !== undefined)
  assert.deepEqual(seen.toSorted(), arns.toSorted())
})
