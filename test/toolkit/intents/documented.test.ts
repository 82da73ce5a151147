// What docs/reference/any-endpoint.md says of permissions, indexes, streams and growth, held against what is sent and stored.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { after, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { open } from '../../../src/store/store.js'
import type { Endpoint } from '../../../src/toolkit/endpoint/endpoint.js'
import { RECORDS } from '../../../src/toolkit/intents/intents-protocol.js'
import { INTENT, VERSION } from '../../../src/toolkit/intents/protocol/records.js'
import { dynamoDbLocal, foreign, intentsTransactor, localFolder, seriatim } from './endpoints.js'
import { type Growth, requestsAtOnceMax } from './growth.js'
import { sized } from '../../support/sizes.js'

const PAGE = readFileSync(new URL('../../../../docs/reference/any-endpoint.md', import.meta.url), 'utf8')
const TABLE = 'Accounts'

async function createTable(endpoint: Pick<Endpoint, 'call'>, stream = false): Promise<void> {
  await endpoint.call('CreateTable', {
    TableName: TABLE,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: ['p', 's', 'colour'].map((AttributeName) => ({
      AttributeName,
      AttributeType: 'S',
    })),
    KeySchema: [
      { AttributeName: 'p', KeyType: 'HASH' },
      { AttributeName: 's', KeyType: 'RANGE' },
    ],
    GlobalSecondaryIndexes: [
      {
        IndexName: 'by-colour',
        KeySchema: [{ AttributeName: 'colour', KeyType: 'HASH' }],
        Projection: { ProjectionType: 'ALL' },
      },
    ],
    ...(stream && { StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' } }),
  })
  for (let rounds = 0; rounds < 500; rounds++) {
    const { Table } = await endpoint.call('DescribeTable', { TableName: TABLE })
    if (Table?.TableStatus === 'ACTIVE') return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** What IAM asks for: a transaction needs the permissions of its parts. */
function permissionsOf(operation: string, input: object): string[] {
  if (operation !== 'TransactWriteItems') return [operation]
  const { TransactItems } = input as { TransactItems: object[] }
  const kinds = TransactItems.map((one) => Object.keys(one)[0]!)
  return kinds.map((kind) => (kind === 'ConditionCheck' ? 'ConditionCheckItem' : `${kind}Item`))
}

test('the policy allows what is sent, on the tables it names, and nothing that is never sent', async () => {
  const policy = JSON.parse(/```json\n([\s\S]*?)\n```/.exec(PAGE)![1]!) as {
    Statement: [{ Action: string[]; Resource: string[] }]
  }
  const [{ Action, Resource }] = policy.Statement
  const sent = new Set<string>()
  const tables = new Set<string>()
  const opened = await seriatim()
  const watched = foreign({
    call: (operation, input, options) => {
      for (const one of permissionsOf(operation, input)) sent.add(`dynamodb:${one}`)
      const { TableName } = input as { TableName?: string }
      if (TableName !== undefined) tables.add(TableName)
      return opened.endpoint.call(operation, input, options)
    },
  })
  await createTable(opened.endpoint)
  for (const always of [false, true]) {
    const t = intentsTransactor(watched, { always, guards: { [TABLE]: 'rely' }, patience: { keepMs: 0 } })
    await t.setup()
    const key = { p: 'x', s: '1' }
    await t.transact((tx) => [1, 2].forEach((s) => tx.put(TABLE, { p: 'x', s: String(s), colour: 'red' })))
    await t.transact(async (tx) => {
      await tx.getAll(TABLE, [key, { p: 'y', s: '1' }])
      await tx.query(TABLE, { key: 'p = :p', values: { ':p': 'x' } })
      tx.update(TABLE, key, { set: { n: 1 } })
      tx.check(TABLE, { p: 'x', s: '2' }, { expression: 'attribute_exists(p)' })
    })
    await t.transact((tx) => tx.scan(TABLE))
    const red = { index: 'by-colour', key: 'colour = :c', values: { ':c': 'red' } }
    await t.transact((tx) => tx.query(TABLE, red), { isolation: 'read-committed' })
    await t.transact((tx) => tx.delete(TABLE, key))
    const handle = await t.begin()
    await handle.get(TABLE, key, { lock: true })
    await (await t.resume(await handle.detach())).rollback()
    assert.equal(await t.outcome(handle.id), 'cancelled')
    for (let rounds = 0; rounds < 3; rounds++) await t.sweep({ tables: [TABLE] })
  }
  await opened.close()
  assert.deepEqual([...sent].toSorted(), [...Action, 'dynamodb:CreateTable'].toSorted())
  assert.match(PAGE, /`setup\(\)` needs `dynamodb:CreateTable` on the record table besides/)
  for (const table of tables)
    assert.ok(
      Resource.some((arn) => arn.endsWith(`:table/${table}`)),
      table,
    )
  assert.deepEqual([...tables].toSorted(), [TABLE, RECORDS].toSorted())
})

/** A unit that has placed its intents and then hears nothing any more. */
async function stopBeforeDecision(endpoint: Pick<Endpoint, 'call'>): Promise<void> {
  const cut = foreign({
    call: (operation, input, options) => {
      const { UpdateExpression: update } = input as { UpdateExpression?: string }
      if (update?.startsWith('SET #state') === true) return Promise.reject(new Error('socket hang up'))
      return endpoint.call(operation, input, options)
    },
  })
  const dying = intentsTransactor(cut, { always: true })
  const unit = dying.transact(
    (tx) => {
      tx.put(TABLE, { p: 'x', s: 'old', colour: 'red', n: 2 })
      tx.put(TABLE, { p: 'x', s: 'new', colour: 'red', n: 2 })
    },
    { retry: { limit: 0 } },
  )
  await assert.rejects(unit)
}

test('an index with projection ALL carries both attributes, and no transient item without its own', async () => {
  const opened = await seriatim()
  const { endpoint } = opened
  await createTable(endpoint)
  const t = intentsTransactor(endpoint)
  await t.setup()
  await t.transact((tx) => tx.put(TABLE, { p: 'x', s: 'old', colour: 'red', n: 1 }))
  await stopBeforeDecision(endpoint)
  const { Items } = await endpoint.call('Query', {
    TableName: TABLE,
    IndexName: 'by-colour',
    KeyConditionExpression: 'colour = :c',
    ExpressionAttributeValues: { ':c': { S: 'red' } },
  })
  assert.equal(Items?.length, 1)
  assert.deepEqual([Items[0]!['n']?.N, VERSION in Items[0]!, INTENT in Items[0]!], ['1', true, true])
  await opened.close()
})

describe('streams on DynamoDB Local', { skip: localFolder === undefined && 'it is not installed' }, () => {
  let place: Awaited<ReturnType<typeof dynamoDbLocal>> | undefined
  after(() => place?.close())

  test('each write by intents is shown twice, and what is only a lock can be skipped', async () => {
    place = await dynamoDbLocal()
    const { endpoint } = place
    await createTable(endpoint, true)
    const t = intentsTransactor(endpoint, { always: true })
    await t.setup()
    await t.transact((tx) => tx.put(TABLE, { p: 'x', s: '1', n: 1 }))
    await t.idle()
    await t.transact(async (tx) => {
      // Found absent: locked by a transient item.
      await tx.get(TABLE, { p: 'x', s: 'absent' })
      tx.update(TABLE, { p: 'x', s: '1' }, { add: { n: 1 } })
    })
    await t.idle()
    const shown = await streamed(place)
    const of = (s: string) => shown.filter(({ key }) => key === s).map(({ name }) => name)
    assert.deepEqual(of('1'), ['INSERT', 'MODIFY', 'MODIFY', 'MODIFY'])
    assert.deepEqual(of('absent'), ['INSERT', 'REMOVE'])
    const kept = shown.filter(({ after: image }) => image !== undefined && !(INTENT in image))
    assert.deepEqual(
      kept.map(({ key, after: image }) => [key, image?.['n']?.N]),
      [
        ['1', '1'],
        ['1', '2'],
      ],
    )
  })
})

type Image = Record<string, { readonly S?: string; readonly N?: string }>
interface Shown {
  readonly name: string
  readonly key: string | undefined
  readonly after?: Image
}

async function streamed({ url, accessKeyId }: Awaited<ReturnType<typeof dynamoDbLocal>>): Promise<Shown[]> {
  const call = async (operation: string, input: object): Promise<unknown> => {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': `DynamoDBStreams_20120810.${operation}`,
        'x-amz-date': '20300101T000000Z',
        authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/20300101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0`,
      },
      body: JSON.stringify(input),
    })
    return response.json()
  }
  const { Streams } = (await call('ListStreams', { TableName: TABLE })) as {
    Streams: { StreamArn: string }[]
  }
  const { StreamArn } = Streams[0]!
  const { StreamDescription } = (await call('DescribeStream', { StreamArn })) as {
    StreamDescription: { Shards: { ShardId: string }[] }
  }
  const shown: Shown[] = []
  for (const { ShardId } of StreamDescription.Shards) {
    const from = { StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' }
    const { ShardIterator } = (await call('GetShardIterator', from)) as { ShardIterator: string }
    const { Records } = (await call('GetRecords', { ShardIterator })) as {
      Records: { eventName: string; dynamodb: { Keys: Image; NewImage?: Image } }[]
    }
    for (const { eventName, dynamodb } of Records)
      shown.push({
        name: eventName,
        key: dynamodb.Keys['s']?.S,
        ...(dynamodb.NewImage !== undefined && { after: dynamodb.NewImage }),
      })
  }
  return shown
}

test('memory grows in proportion to the items of a unit, and requests at once are bounded', async () => {
  await using store = await open({ memory: true })
  const { url } = await store.listen({ port: 0 })
  const grown: Growth[] = []
  for (const items of sized([100, 400], [200, 800])) {
    const script = fileURLToPath(new URL('./growth.js', import.meta.url))
    const args = ['--no-warnings', '--expose-gc', script, url, String(items), '1']
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    let said = ''
    child.stdout.on('data', (text: Buffer) => (said += text.toString()))
    await once(child, 'close')
    grown.push(JSON.parse(said) as Growth)
  }
  const [small, large] = grown as [Growth, Growth]
  // Four times as many: 16 times as much would be the square.
  assert.ok(large.heapBytes < 8 * small.heapBytes, `${small.heapBytes} and ${large.heapBytes} bytes`)
  for (const { underWayMax } of grown) assert.ok(underWayMax <= requestsAtOnceMax, `${underWayMax} at once`)
})
