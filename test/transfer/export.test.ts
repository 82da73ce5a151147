// Exports through the SDK, and what lies in the bucket afterwards.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createTable, exported, itemsOf, keysIn, linesIn, readObject, transferPlace } from './support.js'

const md5 = (bytes: Buffer): string => createHash('md5').update(bytes).digest('base64')

test('export: the folder, the manifests and their checksums are as Amazon writes them', async (t) => {
  const place = await transferPlace(t)
  const { client, folder } = place
  const TableArn = await createTable(client, 'Orders')
  for (const p of ['a', 'b', 'c'])
    await client.putItem({ TableName: 'Orders', Item: { p: { S: p }, n: { N: '1' } } })
  const done = await exported(place, { TableArn, S3Prefix: 'dira/dirb' })
  assert.equal(done.ExportStatus, 'COMPLETED', done.FailureMessage)
  assert.equal(done.ItemCount, 3)
  assert.ok(!('ExportType' in done))
  assert.ok(done.ClientToken)
  assert.equal(done.TableArn, TableArn)
  assert.ok(done.BilledSizeBytes! > 0 && done.EndTime! > done.StartTime!)
  const id = done.ExportArn!.split('/export/')[1]!
  assert.match(id, /^\d{14}-[0-9a-f]{8}$/)
  const home = `dira/dirb/AWSDynamoDB/${id}`
  assert.equal(done.ExportManifest, `${home}/manifest-summary.json`)
  const keys = keysIn(folder)
  const data = keys.filter((key) => key.startsWith(`${home}/data/`))
  assert.deepEqual(
    keys.filter((key) => !data.includes(key)),
    [
      '_started',
      'manifest-files.json',
      'manifest-files.md5',
      'manifest-summary.json',
      'manifest-summary.md5',
    ].map((name) => `${home}/${name}`),
  )
  assert.match(data[0]!, /\/data\/[a-z2-7]{26}\.json\.gz$/)
  for (const name of ['manifest-files', 'manifest-summary'])
    assert.equal(
      readObject(folder, `${home}/${name}.md5`).toString(),
      md5(readObject(folder, `${home}/${name}.json`)),
    )
  const files = readObject(folder, `${home}/manifest-files.json`).toString().trimEnd().split('\n')
  const listed = files.map((line) => JSON.parse(line) as Record<string, unknown>)
  assert.equal(
    listed.reduce((sum, { itemCount }) => sum + (itemCount as number), 0),
    3,
  )
  for (const { dataFileS3Key, md5Checksum, etag } of listed) {
    assert.equal(md5Checksum, md5(readObject(folder, dataFileS3Key as string)))
    assert.ok(etag)
  }
  const summary = JSON.parse(readObject(folder, `${home}/manifest-summary.json`).toString()) as Record<
    string,
    unknown
  >
  assert.ok(Date.parse(summary['startTime'] as string) < Date.parse(summary['endTime'] as string))
  assert.deepEqual(
    { ...summary, startTime: 0, endTime: 0, exportTime: 0, tableId: 0, billedSizeBytes: 0 },
    {
      version: '2020-06-30',
      exportArn: done.ExportArn,
      startTime: 0,
      endTime: 0,
      tableArn: TableArn,
      tableId: 0,
      exportTime: 0,
      s3Bucket: 'shop',
      s3Prefix: 'dira/dirb',
      s3SseAlgorithm: 'AES256',
      s3SseKmsKeyId: null,
      manifestFilesS3Key: `${home}/manifest-files.json`,
      billedSizeBytes: 0,
      itemCount: 3,
      outputFormat: 'DYNAMODB_JSON',
    },
  )
  const lines = linesIn(folder, `${home}/data/`).map(
    (line) => JSON.parse(line) as { Item: { p: { S: string } } },
  )
  assert.deepEqual(
    lines.map(({ Item }) => Item).toSorted((one, other) => (one.p.S < other.p.S ? -1 : 1)),
    await itemsOf(client, 'Orders'),
  )
})

test('export: an empty table has a file without items', async (t) => {
  const place = await transferPlace(t)
  const TableArn = await createTable(place.client, 'Empty')
  const done = await exported(place, { TableArn, ExportFormat: 'ION', ExportType: 'FULL_EXPORT' })
  assert.equal(done.ExportStatus, 'COMPLETED')
  assert.equal(done.ExportType, 'FULL_EXPORT')
  assert.equal(done.ItemCount, 0)
  assert.equal(keysIn(place.folder).filter((key) => key.endsWith('.ion.gz')).length, 1)
})

test('export: it has the table of one moment, whatever is written meanwhile', async (t) => {
  const place = await transferPlace(t, { nodes: 2 })
  const { client, store } = place
  const TableArn = await createTable(client, 'Pairs')
  const pair = (n: number) =>
    client.transactWriteItems({
      TransactItems: ['left', 'right'].map((p) => ({
        Put: { TableName: 'Pairs', Item: { p: { S: p }, n: { N: String(n) } } },
      })),
    })
  await pair(0)
  const filler = Array.from({ length: 400 }, (_, at) => ({
    p: { S: `filler-${at}` },
    text: { S: 'x'.repeat(2000) },
  }))
  for (const Item of filler) await client.putItem({ TableName: 'Pairs', Item })
  const { ExportDescription } = await client.exportTableToPointInTime({ TableArn, S3Bucket: 'shop' })
  for (let n = 1; n <= 50; n++) await pair(n)
  await store.idle()
  const done = await client.describeExport({ ExportArn: ExportDescription!.ExportArn })
  assert.equal(done.ExportDescription!.ExportStatus, 'COMPLETED')
  const items = linesIn(place.folder, 'AWSDynamoDB/').map((line) => JSON.parse(line).Item)
  const numberOf = (p: string): string => items.find((item) => item.p.S === p).n.N
  assert.equal(items.length, 402)
  assert.equal(numberOf('left'), numberOf('right'))
})

test('export: the same token names the same export, and no other', async (t) => {
  const { client, store } = await transferPlace(t)
  const TableArn = await createTable(client, 'Orders')
  const other = await createTable(client, 'Others')
  const request = { TableArn, S3Bucket: 'shop', ClientToken: 'token-1' }
  const first = await client.exportTableToPointInTime(request)
  const again = await client.exportTableToPointInTime(request)
  assert.equal(again.ExportDescription!.ExportArn, first.ExportDescription!.ExportArn)
  assert.equal(again.ExportDescription!.ClientToken, 'token-1')
  await store.idle()
  const conflict = { name: 'ExportConflictException', message: /^Duplicate request detected/ }
  for (const changed of [
    { TableArn: other },
    { ExportFormat: 'ION' },
    { S3Bucket: 'another' },
    { S3BucketOwner: '000000000000' },
    { S3Prefix: 'prefix' },
    { S3SseAlgorithm: 'KMS' },
  ] as const)
    await assert.rejects(client.exportTableToPointInTime({ ...request, ...changed }), conflict)
  const two = await Promise.all(
    [1, 2].map(() => client.exportTableToPointInTime({ TableArn, S3Bucket: 'shop' })),
  )
  assert.notEqual(two[0]!.ExportDescription!.ExportArn, two[1]!.ExportDescription!.ExportArn)
})

test('export: a bucket that is not there is accepted, and then the export has failed', async (t) => {
  const place = await transferPlace(t)
  const TableArn = await createTable(place.client, 'Orders')
  const failed = await exported(place, { TableArn, S3Bucket: 'absent-bucket' })
  assert.equal(failed.ExportStatus, 'FAILED')
  assert.equal(failed.FailureCode, 'S3NoSuchBucket')
  assert.match(failed.FailureMessage!, /bucket does not exist/)
  const { ExportSummaries } = await place.client.listExports({ TableArn })
  assert.deepEqual(ExportSummaries, [
    { ExportArn: failed.ExportArn, ExportStatus: 'FAILED', ExportType: 'FULL_EXPORT' },
  ])
  const closed = await transferPlace(t, { buckets: undefined } as never)
  const arn = await createTable(closed.client, 'Orders')
  assert.match((await exported(closed, { TableArn: arn })).FailureMessage!, /without a folder of buckets/)
})

test('export: a prefix that leads out of the bucket is refused, and a link in it followed by nothing', async (t) => {
  const place = await transferPlace(t)
  const { client, folder, root } = place
  const TableArn = await createTable(client, 'Orders')
  for (const S3Prefix of ['../other', 'a/../../b', '/etc', 'a//b', 'a\\b'])
    await assert.rejects(client.exportTableToPointInTime({ TableArn, S3Bucket: 'shop', S3Prefix }), {
      name: 'ValidationException',
      message: /S3Prefix/,
    })
  symlinkSync(root, join(folder, 'linked'))
  const failed = await exported(place, { TableArn, S3Prefix: 'linked' })
  assert.equal(failed.FailureCode, 'S3AccessDenied')
  assert.deepEqual(
    keysIn(root).filter((key) => key.includes('AWSDynamoDB')),
    [],
  )
})

test('export: what is wrong with a request is said in DynamoDB’s words', async (t) => {
  const { client } = await transferPlace(t)
  const TableArn = await createTable(client, 'Orders')
  const request = (changed: object) =>
    client.exportTableToPointInTime({ TableArn, S3Bucket: 'my-bucket', ...changed })
  for (const [changed, name, message] of [
    [{ ExportType: 'QWERTY' }, 'ValidationException', /exportType/],
    [{ ExportType: '' }, 'ValidationException', /exportType/],
    [{ ClientToken: '' }, 'ValidationException', /clientToken/],
    [{ ClientToken: 'a$b' }, 'ValidationException', /clientToken/],
    [{ ClientToken: 'a'.repeat(1025) }, 'ValidationException', /clientToken.*less than or equal to 1024/],
    [{ ExportFormat: 'QWERTY' }, 'ValidationException', /exportFormat/],
    [{ ExportTime: new Date(-1000) }, 'InvalidExportTimeException', /Export ?Time/],
    [{ ExportTime: new Date(Date.now() + 400_000) }, 'InvalidExportTimeException', /Export ?Time/],
    [{ S3Prefix: '' }, 'ValidationException', /s3Prefix/],
    [{ S3Bucket: '' }, 'ValidationException', /s3Bucket/],
    [{ S3BucketOwner: '' }, 'ValidationException', /s3BucketOwner/],
    [{ S3SseAlgorithm: 'QWERTY' }, 'ValidationException', /s3SseAlgorithm/],
    [{ S3SseAlgorithm: 'KMS', S3SseKmsKeyId: '' }, 'ValidationException', /s3SseKmsKeyId/],
    [{ TableArn: '' }, 'ValidationException', /tableArn/],
    [{ TableArn: 'QWERTY' }, 'ValidationException', /TableArn/],
    [{ TableArn: TableArn.replace('Orders', 'Absent') }, 'TableNotFoundException', /not found/],
    [{ TableArn: TableArn.replace('Orders', 'a@b') }, 'TableNotFoundException', /not found/],
    [
      {
        ExportType: 'INCREMENTAL_EXPORT',
        IncrementalExportSpecification: {
          ExportFromTime: new Date(Date.now() - 2000),
          ExportToTime: new Date(),
          ExportViewType: 'NEW_IMAGE',
        },
      },
      'InvalidExportTimeException',
      /Difference between export period/,
    ],
    [{ ExportType: 'INCREMENTAL_EXPORT' }, 'ValidationException', /IncrementalExportSpecification/],
  ] as const)
    await assert.rejects(request(changed), { name, message }, JSON.stringify(changed))
})

test('export: a table without point-in-time recovery is refused', async (t) => {
  const { client } = await transferPlace(t)
  const TableArn = await createTable(client, 'Orders')
  await client.updateContinuousBackups({
    TableName: 'Orders',
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: false },
  })
  await assert.rejects(client.exportTableToPointInTime({ TableArn, S3Bucket: 'shop' }), {
    name: 'PointInTimeRecoveryUnavailableException',
    message: "Point in time recovery is not enabled for table 'Orders'",
  })
})

test('export: exports are described and listed by table, newest first, in pages', async (t) => {
  const place = await transferPlace(t)
  const { client } = place
  const arns = [await createTable(client, 'First'), await createTable(client, 'Second')]
  assert.deepEqual((await client.listExports({ TableArn: arns[0]! })).ExportSummaries, [])
  const begun: string[] = []
  for (const TableArn of arns)
    for (let count = 0; count < 3; count++)
      begun.push((await exported(place, { TableArn, S3Bucket: `absent-${count}` })).ExportArn!)
  const listed: string[] = []
  let NextToken: string | undefined
  do {
    const page = await client.listExports({ MaxResults: 4, ...(NextToken !== undefined && { NextToken }) })
    assert.ok(page.ExportSummaries!.length <= 4)
    listed.push(...page.ExportSummaries!.map(({ ExportArn }) => ExportArn!))
    NextToken = page.NextToken
  } while (NextToken !== undefined)
  assert.deepEqual([...listed].toSorted(), [...begun].toSorted())
  for (const arn of arns) {
    const own = listed.filter((each) => each.startsWith(`${arn}/`))
    assert.deepEqual(own, own.toSorted().toReversed())
  }
  await client.deleteTable({ TableName: 'Second' })
  assert.equal((await client.listExports({})).ExportSummaries!.length, 3)
  assert.equal((await client.describeExport({ ExportArn: begun[5]! })).ExportDescription!.ExportArn, begun[5])
  await assert.rejects(client.listExports({ NextToken: '0123456789abcdef' }), {
    name: 'ValidationException',
    message: /ListExports/,
  })
  const ExportArn = `${arns[0]}/export/01234567890123-0badf00d`
  await assert.rejects(client.describeExport({ ExportArn }), { name: 'ExportNotFoundException' })
  await assert.rejects(client.describeExport({ ExportArn: `${arns[0]}-more-characters` }), {
    name: 'ValidationException',
    message: 'Invalid Export ARN',
  })
  const parts = 'arn:aws:dynamodb:us-east-1:000000000000:table/Orders-and-more-characters'.split(':')
  for (const [at, name] of [
    [0, 'ValidationException'],
    [1, 'AccessDeniedException'],
    [2, 'AccessDeniedException'],
    [3, 'AccessDeniedException'],
    [4, 'AccessDeniedException'],
  ] as const)
    await assert.rejects(client.describeExport({ ExportArn: parts.with(at, 'qwerty').join(':') }), { name })
})
