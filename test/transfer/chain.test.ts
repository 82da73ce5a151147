// A full export of Amazon's and the incremental ones that follow it, in the layout that Amazon writes. The files are made here, after
// the documentation of the formats and exports that others have shown.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { imported, importInput, itemsOf, putObject, readObject, transferPlace } from './support.js'

const TABLE = 'arn:aws:dynamodb:us-east-1:123456789012:table/ProductCatalog'
const md5 = (bytes: string | Buffer): string => createHash('md5').update(bytes).digest('base64')

interface Written {
  readonly id: string
  readonly times: object
  readonly lines: readonly object[]
  readonly kind: 'full' | 'incremental'
  /** `.checksum` as the documentation has it, `.md5` as exports have it. */
  readonly checksum?: 'md5' | 'checksum'
}

/** As they were in a bucket whose prefix is not that of the copy. */
function writeExport(folder: string, { id, times, lines, kind, checksum = 'md5' }: Written): void {
  const root = 'copied/AWSDynamoDB'
  const data = gzipSync(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  const name = `${id.slice(-8)}ktz4hlxfni.json.gz`
  const empty = gzipSync('')
  const where = kind === 'full' ? `${id}/data` : 'data'
  putObject(folder, `${root}/${where}/${name}`, data)
  putObject(folder, `${root}/${where}/0${name}`, empty)
  const files = [
    [name, data, lines.length],
    [`0${name}`, empty, 0],
  ] as const
  const manifest = files
    .map(([file, bytes, itemCount]) => ({
      itemCount,
      md5Checksum: md5(bytes),
      etag: `${createHash('md5').update(bytes).digest('hex')}-1`,
      dataFileS3Key: `exports/AWSDynamoDB/${where}/${file}`,
    }))
    .map((entry) => `${JSON.stringify(entry)}\n`)
    .join('')
  const summary = JSON.stringify({
    version: kind === 'full' ? '2020-06-30' : '2023-08-01',
    exportArn: `${TABLE}/export/${id}`,
    startTime: '2023-03-29T17:00:00.000Z',
    endTime: '2023-03-29T17:05:00.000Z',
    tableArn: TABLE,
    tableId: '12345a12-abcd-123a-ab12-1234abc12345',
    ...times,
    s3Bucket: 'amzn-s3-demo-bucket',
    s3Prefix: 'exports',
    s3SseAlgorithm: 'AES256',
    s3SseKmsKeyId: null,
    manifestFilesS3Key: `exports/AWSDynamoDB/${id}/manifest-files.json`,
    billedSizeBytes: 0,
    itemCount: lines.length,
    outputFormat: 'DYNAMODB_JSON',
    ...(kind === 'incremental' && { outputView: 'NEW_AND_OLD_IMAGES', exportType: 'INCREMENTAL_EXPORT' }),
  })
  for (const [file, text] of [
    ['manifest-files', manifest],
    ['manifest-summary', summary],
  ] as const) {
    putObject(folder, `${root}/${id}/${file}.json`, text)
    putObject(folder, `${root}/${id}/${file}.${checksum}`, md5(text))
  }
  putObject(folder, `${root}/${id}/_started`, '')
}

const p = (key: string) => ({ p: { S: key } })
const full: Written = {
  id: '01680109200000-a1b2c3d4',
  kind: 'full',
  checksum: 'checksum',
  times: { exportTime: '2023-03-29T17:00:00.000Z' },
  lines: ['kept', 'changed', 'removed'].map((key) => ({ Item: { ...p(key), n: { N: '1' } } })),
}
const Metadata = { WriteTimestampMicros: { N: '1680109764000000' } }
const first: Written = {
  id: '01680110100000-ac809da5',
  kind: 'incremental',
  times: { exportFromTime: '2023-03-29T17:00:00.000Z', exportToTime: '2023-03-29T17:15:00.000Z' },
  lines: [
    {
      Metadata,
      Keys: p('changed'),
      OldImage: { ...p('changed'), n: { N: '1' } },
      NewImage: { ...p('changed'), n: { N: '2' } },
    },
    { Metadata, Keys: p('new'), NewImage: { ...p('new'), n: { N: '1' } } },
    { Metadata, Keys: p('removed'), OldImage: { ...p('removed'), n: { N: '1' } } },
  ],
}
const second: Written = {
  id: '01680111000000-ac809da6',
  kind: 'incremental',
  times: { exportFromTime: '2023-03-29T17:15:00.000Z', exportToTime: '2023-03-29T17:30:00.000Z' },
  lines: [
    { Metadata, Keys: p('new') },
    { Metadata, Keys: p('removed'), NewImage: { ...p('removed'), n: { N: '9' } } },
  ],
}

test('transfer: an export of Amazon’s is read with the incremental ones that follow it', async (t) => {
  const place = await transferPlace(t)
  for (const one of [second, full, first]) writeExport(place.folder, one)
  const done = await imported(place, importInput('Chain', { prefix: 'copied/AWSDynamoDB/' }))
  assert.equal(done.ImportStatus, 'COMPLETED', done.FailureMessage)
  assert.deepEqual(await itemsOf(place.client, 'Chain'), [
    { p: { S: 'changed' }, n: { N: '2' } },
    { p: { S: 'kept' }, n: { N: '1' } },
    { p: { S: 'removed' }, n: { N: '9' } },
  ])
  const alone = await imported(
    place,
    importInput('Alone', { prefix: `copied/AWSDynamoDB/${full.id}/data/`, InputCompressionType: 'GZIP' }),
  )
  assert.deepEqual([alone.ImportStatus, alone.ImportedItemCount], ['COMPLETED', 3])
})

test('transfer: a gap in the chain, a changed file and a foreign manifest are refused, and leave no table', async (t) => {
  const place = await transferPlace(t)
  const { client, folder } = place
  const refused = async (message: RegExp): Promise<void> => {
    const failed = await imported(place, importInput('Refused', { prefix: 'copied/' }))
    assert.equal(failed.FailureCode, 'InvalidManifest')
    assert.match(failed.FailureMessage!, message)
    await assert.rejects(client.describeTable({ TableName: 'Refused' }), {
      name: 'ResourceNotFoundException',
    })
  }
  writeExport(folder, full)
  writeExport(folder, second)
  await refused(/no export covers the time from 2023-03-29T17:00:00.000Z to 2023-03-29T17:15:00.000Z/)
  writeExport(folder, first)
  const data = `copied/AWSDynamoDB/${full.id}/data/${full.id.slice(-8)}ktz4hlxfni.json.gz`
  const sound = readObject(folder, data)
  putObject(folder, data, gzipSync('{"Item":{"p":{"S":"slipped in"}}}\n'))
  await refused(/is not what its manifest says/)
  putObject(folder, data, sound.subarray(0, 30))
  await refused(/is not what its manifest says/)
  putObject(folder, data, sound)
  putObject(folder, `copied/AWSDynamoDB/${full.id}/manifest-files.json`, '{}')
  await refused(/manifest-files.json is not what/)
})
