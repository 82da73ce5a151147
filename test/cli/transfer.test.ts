// seriatim export and seriatim import between a folder and endpoints, ours and others.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { type AttributeValue, DynamoDB } from '@aws-sdk/client-dynamodb'
import { processEnvironment } from '../../src/cli/process-environment.js'
import { run } from '../../src/cli/run.js'
import { open } from '../../src/store/store.js'
import { dynalite } from '../support/dynalite.js'
import { findDynamoDbLocal } from '../../bench/targets/dynamodb-local.js'
import { startDynamoDbLocal } from '../differential/peers.js'
import { testFolder } from '../support/folder.js'
import { wholeOnly } from '../support/sizes.js'
import { keysIn, putObject } from '../transfer/support.js'

async function command(...args: readonly string[]): Promise<{ code: number; out: string; errors: string }> {
  const out: string[] = []
  const errors: string[] = []
  const world = {
    ...processEnvironment(),
    print: (line: string) => void out.push(line),
    printError: (line: string) => void errors.push(line),
  }
  const code = await run(args, world)
  return { code, out: out.join('\n'), errors: errors.join('\n') }
}

interface Served extends AsyncDisposable {
  readonly url: string
}

async function seriatim(): Promise<Served> {
  const store = await open({ memory: true })
  const { url } = await store.listen({ port: 0 })
  return { url, [Symbol.asyncDispose]: () => store.close() }
}

function clientOf(endpoint: string): DynamoDB {
  const credentials = { accessKeyId: 'seriatim', secretAccessKey: 'seriatim' }
  return new DynamoDB({ endpoint, region: 'us-east-1', credentials })
}

const TYPES: Record<string, AttributeValue> = {
  s: { S: 'text, "quoted" \n zażółć 🦑' },
  n: { N: '-12.5' },
  b: { B: Buffer.from([0, 1, 254, 255]) },
  yes: { BOOL: true },
  nothing: { NULL: true },
  ss: { SS: ['a', 'b'] },
  ns: { NS: ['1', '2.5'] },
  bs: { BS: [Buffer.from('x')] },
  l: { L: [{ N: '1' }, { M: { deep: { S: 'x' } } }] },
  m: { M: {} },
}

async function fill(endpoint: string, count: number): Promise<void> {
  const client = clientOf(endpoint)
  await client.createTable({
    TableName: 'Orders',
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: [
      { AttributeName: 'id', KeyType: 'HASH' },
      { AttributeName: 'n', KeyType: 'RANGE' },
    ],
    AttributeDefinitions: [
      { AttributeName: 'id', AttributeType: 'S' },
      { AttributeName: 'n', AttributeType: 'N' },
      { AttributeName: 's', AttributeType: 'S' },
    ],
    GlobalSecondaryIndexes: [
      {
        IndexName: 'by-s',
        KeySchema: [{ AttributeName: 's', KeyType: 'HASH' }],
        Projection: { ProjectionType: 'ALL' },
      },
    ],
  })
  for (let at = 0; at < count; at++)
    await client.putItem({
      TableName: 'Orders',
      Item: { ...TYPES, id: { S: `order-${at % 7}` }, n: { N: String(at) } },
    })
  client.destroy()
}

async function items(endpoint: string, TableName: string): Promise<unknown[]> {
  const client = clientOf(endpoint)
  const { Items } = await client.scan({ TableName, ConsistentRead: true })
  client.destroy()
  return Items!.toSorted((one, other) => Number(one['n']!.N) - Number(other['n']!.N))
}

test('cli: a table goes from dynalite to a folder and from there to Seriatim, with its indexes and every type', async () => {
  await using from = await dynalite()
  await using to = await seriatim()
  await fill(from.url, 60)
  for (const format of ['json', 'ion']) {
    const folder = join(testFolder(), 'copy')
    const exported = await command(
      'export',
      'Orders',
      '--endpoint',
      from.url,
      '--to',
      folder,
      '--format',
      format,
    )
    assert.equal(exported.code, 0, exported.errors)
    assert.match(exported.out, /^60 items of Orders are in /)
    const imported = await command('import', folder, '--endpoint', to.url, '--table', `Orders-${format}`)
    assert.deepEqual(imported, { code: 0, out: `60 items are in Orders-${format} at ${to.url}`, errors: '' })
    assert.deepEqual(await items(to.url, `Orders-${format}`), await items(from.url, 'Orders'))
  }
  const { Table } = await clientOf(to.url).describeTable({ TableName: 'Orders-json' })
  assert.equal(Table!.GlobalSecondaryIndexes![0]!.IndexName, 'by-s')
})

const localFolder = findDynamoDbLocal(process.env['DYNAMODB_LOCAL'])
const noLocal = wholeOnly || (localFolder === undefined && 'DYNAMODB_LOCAL names no folder that has it')
test(
  'cli: a table goes from DynamoDB Local to a folder and from there to Seriatim, and back',
  { skip: noLocal },
  async () => {
    await using local = await startDynamoDbLocal(localFolder!)
    await using to = await seriatim()
    await fill(local.url, 60)
    const folder = join(testFolder(), 'copy')
    assert.equal((await command('export', 'Orders', '--endpoint', local.url, '--to', folder)).code, 0)
    assert.equal((await command('import', folder, '--endpoint', to.url)).code, 0)
    assert.deepEqual(await items(to.url, 'Orders'), await items(local.url, 'Orders'))
    assert.equal((await command('import', folder, '--endpoint', local.url, '--table', 'Back')).code, 0)
    assert.deepEqual(await items(local.url, 'Back'), await items(local.url, 'Orders'))
  },
)

test('cli: a table goes from Seriatim to dynalite', async () => {
  await using from = await seriatim()
  await using to = await dynalite()
  await fill(from.url, 30)
  const folder = join(testFolder(), 'copy')
  assert.equal((await command('export', 'Orders', '--endpoint', from.url, '--to', folder)).code, 0)
  assert.equal((await command('import', folder, '--endpoint', to.url, '--rate', '1000')).code, 0)
  assert.deepEqual(await items(to.url, 'Orders'), await items(from.url, 'Orders'))
})

test('cli: an import that was interrupted goes on after what it had done, and an export after its last file', async () => {
  await using to = await seriatim()
  const folder = testFolder()
  const line = (id: string): string => `${JSON.stringify({ Item: { id: { S: id }, n: { N: '1' } } })}\n`
  putObject(folder, 'a.json', ['a0', 'a1', 'a2'].map(line).join(''))
  putObject(folder, 'b.json', ['b0', 'b1'].map(line).join(''))
  // As an import leaves it that has ended after the first record of the second file.
  const first = await command('import', folder, '--endpoint', to.url, '--table', 'Things', '--key', 'id:S')
  assert.equal(first.out, `5 items are in Things at ${to.url}`)
  const names = keysIn(folder)
  assert.deepEqual(names, ['a.json', 'b.json'])
  const { createHash } = await import('node:crypto')
  const id = createHash('sha256').update(to.url).digest('hex').slice(0, 8)
  writeFileSync(
    join(folder, `.seriatim-import-Others-${id}.json`),
    JSON.stringify({ objects: 1, records: 1, items: 4 }),
  )
  const rest = await command('import', folder, '--endpoint', to.url, '--table', 'Others', '--key', 'id:S')
  assert.equal(rest.errors, 'goes on after 4 items')
  assert.deepEqual(
    ((await items(to.url, 'Others')) as { id: { S: string } }[]).map((item) => item.id.S),
    ['b1'],
  )
})

test('cli: what an endpoint refuses is told and counted, the rest is written, and the command ends with 1', async () => {
  await using to = await seriatim()
  const folder = testFolder()
  const lines = [
    { id: { S: 'a' } },
    { id: { N: '1' } },
    { other: { S: 'x' } },
    { id: { S: 'b' }, bad: { X: 1 } },
  ]
  writeFileSync(
    join(folder, 'x.json.gz'),
    gzipSync(lines.map((Item) => `${JSON.stringify({ Item })}\n`).join('')),
  )
  const args = ['--endpoint', to.url, '--table', 'Things', '--key', 'id:S', '--compression', 'gzip']
  const { code, out, errors } = await command('import', folder, ...args)
  assert.equal(code, 1)
  assert.equal(out, `1 items are in Things at ${to.url}`)
  assert.match(errors, /3 items were refused$/)
  assert.equal((await items(to.url, 'Things')).length, 1)
})

test('cli: wrong usage of export and import ends with 2 and says what is missing', async () => {
  const folder = testFolder()
  assert.equal((await command('export', 'Orders')).code, 2)
  assert.equal((await command('import')).code, 2)
  const { code, errors } = await command(
    'import',
    folder,
    '--endpoint',
    'http://127.0.0.1:1',
    '--format',
    'xml',
  )
  assert.equal(code, 2)
  assert.match(errors, /--format is one of json, ion, csv/)
  assert.match((await command('import', folder, '--endpoint', 'http://127.0.0.1:1')).errors, /--table/)
})

test('cli: what it exports is an export that ImportTable reads', async () => {
  await using from = await seriatim()
  await fill(from.url, 10)
  const root = testFolder()
  const folder = join(root, 'shop')
  assert.equal((await command('export', 'Orders', '--endpoint', from.url, '--to', folder)).code, 0)
  const key = keysIn(folder).find((each) => each.endsWith('seriatim-table.json'))!
  const { create } = JSON.parse(readFileSync(join(folder, key), 'utf8')) as { create: object }
  const store = await open({ memory: true, buckets: root })
  const client = store.client()
  const { ImportTableDescription } = await client.importTable({
    S3BucketSource: { S3Bucket: 'shop', S3KeyPrefix: 'AWSDynamoDB/' },
    InputFormat: 'DYNAMODB_JSON',
    TableCreationParameters: create as never,
  })
  await store.idle()
  const done = await client.describeImport({ ImportArn: ImportTableDescription!.ImportArn })
  assert.equal(
    done.ImportTableDescription!.ImportStatus,
    'COMPLETED',
    done.ImportTableDescription!.FailureMessage,
  )
  assert.equal(done.ImportTableDescription!.ImportedItemCount, 10)
  await store.close()
})
