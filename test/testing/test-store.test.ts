// What the presets of vitest and jest open for a test file. scripts/presets.mjs runs both for real.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb'
import { lastPort, setCurrentStore } from '../../src/testing/current-store.js'
import { enterSdkEnvironment } from '../../src/testing/sdk-environment.js'
import type { Store } from '../../src/store/store.js'
import { openTestStore, type TestStoreOptions } from '../../src/testing/test-store.js'
import { seriatim, testStore } from '../../src/testing/vitest.js'
import { testFolder } from '../support/folder.js'

const TEMPLATE = {
  Parameters: { Stage: { Type: 'String', Default: 'test' } },
  Resources: {
    Orders: {
      Type: 'AWS::DynamoDB::Table',
      Properties: {
        TableName: { 'Fn::Sub': 'orders-${Stage}' },
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
        KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
        StreamSpecification: { StreamViewType: 'NEW_IMAGE' },
        TimeToLiveSpecification: { AttributeName: 'expires', Enabled: true },
      },
    },
  },
}
const SEEDS = {
  Orders: [
    { id: 'o1', total: 12.5, lines: ['a', { b: null }], paid: true },
    { PutRequest: { Item: { id: { S: 'o2' }, photo: { B: 'AAE=' }, tags: { SS: ['x'] } } } },
  ],
}

async function opened(t: TestContext, options: TestStoreOptions, root = '.') {
  const it = await openTestStore(options, root)
  t.after(() => it.close())
  return it
}

const itemsOf = async ({ store }: Awaited<ReturnType<typeof opened>>, TableName: string) =>
  ((await store.call('Scan', { TableName })).Items ?? []).toSorted((a, b) =>
    a['id']!.S! < b['id']!.S! ? -1 : 1,
  )

test('test store: it has the tables of the template and their seeds, called by name or by logical id', async (t) => {
  const it = await opened(t, { tables: TEMPLATE, seeds: SEEDS })
  assert.deepEqual(it.tables, { Orders: 'orders-test' })
  assert.deepEqual(await itemsOf(it, 'orders-test'), [
    {
      id: { S: 'o1' },
      total: { N: '12.5' },
      lines: { L: [{ S: 'a' }, { M: { b: { NULL: true } } }] },
      paid: { BOOL: true },
    },
    { id: { S: 'o2' }, photo: { B: new Uint8Array([0, 1]) }, tags: { SS: ['x'] } },
  ])
  const other = await opened(t, {
    tables: TEMPLATE,
    parameters: { Stage: 'x' },
    seeds: [{ 'orders-x': [{ id: '1' }] }, { Orders: [{ id: '2' }] }],
  })
  assert.equal((await itemsOf(other, 'orders-x')).length, 2)
})

test('test store: files are found from the root, and several are put together', async (t) => {
  const root = testFolder()
  writeFileSync(join(root, 'template.json'), JSON.stringify(TEMPLATE))
  writeFileSync(join(root, 'seeds.json'), JSON.stringify(SEEDS))
  const books = {
    TableName: 'books',
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  }
  writeFileSync(join(root, 'books.json'), JSON.stringify([books]))
  const it = await opened(t, { tables: ['template.json', 'books.json'], seeds: 'seeds.json' }, root)
  assert.deepEqual(it.tables, { Orders: 'orders-test', books: 'books' })
  assert.equal((await itemsOf(it, 'orders-test')).length, 2)
  assert.deepEqual((await opened(t, { tables: [books] })).tables, { books: 'books' })
})

const remove = (store: Store, id: string): Promise<unknown> =>
  store.call('DeleteItem', { TableName: 'orders-test', Key: { id: { S: id } } })

test('test store: reset goes back to what was kept, and forks begin with it', async (t) => {
  const it = await opened(t, { tables: TEMPLATE, seeds: SEEDS, nodes: 2 })
  await remove(it.store, 'o1')
  await it.keep()
  await remove(it.store, 'o2')
  await using fork = await it.fork()
  assert.notEqual(fork.endpoint, it.endpoint)
  assert.deepEqual(
    ((await fork.store.call('Scan', { TableName: 'orders-test' })).Items ?? []).map(({ id }) => id),
    [{ S: 'o2' }],
  )
  await remove(fork.store, 'o2')
  await it.reset()
  assert.equal((await itemsOf(it, 'orders-test')).length, 1)
})

test('test store: with fresh test each test begins with what there was before the first one', async (t) => {
  const it = await opened(t, { tables: TEMPLATE, seeds: SEEDS, fresh: 'test' })
  await remove(it.store, 'o1')
  for (let n = 0; n < 3; n++) {
    await it.beforeTest()
    assert.equal((await itemsOf(it, 'orders-test')).length, 1)
    await it.store.reset()
  }
  const other = await opened(t, { tables: TEMPLATE, seeds: SEEDS })
  await other.beforeTest()
  await remove(other.store, 'o1')
  await other.beforeTest()
  assert.equal((await itemsOf(other, 'orders-test')).length, 1, 'otherwise tests see what others have left')
  await assert.rejects(
    openTestStore({ fresh: 'never' as 'test' }, '.'),
    /fresh.* is file or test, not 'never'/u,
  )
})

test('test store: it begins with a dump, by a path relative to the root', async (t) => {
  const root = testFolder()
  const made = await opened(t, { tables: TEMPLATE, seeds: SEEDS })
  await made.store.dump(join(root, 'orders.dump'))
  const it = await opened(t, { from: 'orders.dump' }, root)
  assert.equal((await itemsOf(it, 'orders-test')).length, 2)
})

test('test store: reset brings back the tables and the seeds as they were', async (t) => {
  const it = await opened(t, { tables: TEMPLATE, seeds: SEEDS })
  const before = await itemsOf(it, 'orders-test')
  await it.store.call('PutItem', { TableName: 'orders-test', Item: { id: { S: 'o3' } } })
  await it.store.call('DeleteItem', { TableName: 'orders-test', Key: { id: { S: 'o1' } } })
  await it.reset()
  assert.deepEqual(await itemsOf(it, 'orders-test'), before)
})

test('test store: two are apart, and each is reached by a client that knows only the environment', async (t) => {
  const [one, two] = [
    await opened(t, { tables: TEMPLATE, seeds: SEEDS }),
    await opened(t, { tables: TEMPLATE }),
  ]
  const found = async (endpoint: string) => {
    const environment: Record<string, string | undefined> = {}
    enterSdkEnvironment(environment, endpoint)
    const { AWS_ENDPOINT_URL_DYNAMODB, AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = environment
    const client = new DynamoDBClient({
      endpoint: AWS_ENDPOINT_URL_DYNAMODB!,
      region: AWS_REGION!,
      credentials: { accessKeyId: AWS_ACCESS_KEY_ID!, secretAccessKey: AWS_SECRET_ACCESS_KEY! },
    })
    t.after(() => client.destroy())
    const get = new GetItemCommand({ TableName: 'orders-test', Key: { id: { S: 'o1' } } })
    return (await client.send(get)).Item?.['total']?.N
  }
  assert.equal(await found(one.endpoint), '12.5')
  assert.equal(await found(two.endpoint), undefined)
})

/** As a developer may have it who works with a cloud. */
const DEVELOPER = {
  HOME: '/home/ada',
  AWS_REGION: 'eu-west-1',
  AWS_ACCESS_KEY_ID: 'AKIAREAL',
  AWS_SECRET_ACCESS_KEY: 'a real secret',
  AWS_SESSION_TOKEN: 'a real token',
  AWS_PROFILE: 'production',
  AWS_CREDENTIAL_EXPIRATION: '2020-01-01T00:00:00Z',
  AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: 'true',
}

test('test store: the keys of a developer are never sent to it, and nothing in the environment leads past it', () => {
  const environment: Record<string, string | undefined> = { ...DEVELOPER }
  const restore = enterSdkEnvironment(environment, 'http://127.0.0.1:1')
  assert.deepEqual(
    { ...environment },
    {
      HOME: '/home/ada',
      AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:1',
      AWS_REGION: 'eu-west-1',
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
    },
  )
  environment['OF_THE_TEST'] = 'stays'
  restore()
  assert.deepEqual({ ...environment }, { ...DEVELOPER, OF_THE_TEST: 'stays' })
})

test('test store: what was not in the environment is not there afterwards', () => {
  const environment: Record<string, string | undefined> = {}
  const restore = enterSdkEnvironment(environment, 'http://127.0.0.1:1')
  assert.equal(environment['AWS_REGION'], 'us-east-1')
  restore()
  assert.deepEqual(environment, {})
})

test('test store: the official client signs with the keys of the test, whatever profile and keys a developer has', async (t) => {
  const it = await opened(t, { tables: TEMPLATE, seeds: SEEDS })
  const before = { ...process.env }
  Object.assign(process.env, DEVELOPER, { HOME: before['HOME'] })
  const restore = enterSdkEnvironment(process.env, it.endpoint)
  const client = new DynamoDBClient({})
  try {
    const { accessKeyId, sessionToken } = await client.config.credentials()
    assert.deepEqual([accessKeyId, sessionToken], ['test', undefined])
    const get = new GetItemCommand({ TableName: 'orders-test', Key: { id: { S: 'o1' } } })
    assert.equal((await client.send(get)).Item?.['total']?.N, '12.5')
  } finally {
    client.destroy()
    restore()
    for (const name of Object.keys(DEVELOPER)) delete process.env[name]
    Object.assign(process.env, before)
  }
})

test('test store: with a moment given, items expire when a test moves the clock', async (t) => {
  const now = '2030-01-01T00:00:00Z'
  const expires = Date.parse(now) / 1000 + 60
  const it = await opened(t, { tables: TEMPLATE, seeds: { Orders: [{ id: 'o1', expires }] }, now })
  assert.equal((await itemsOf(it, 'orders-test')).length, 1)
  it.clock?.advance(61_000)
  await it.store.idle()
  assert.equal((await itemsOf(it, 'orders-test')).length, 0)
  await assert.rejects(openTestStore({ now: 'soon' }, '.'), /now: is a moment such as/)
})

test('test store: seeds and tables that cannot be are refused with a sentence, and nothing stays open', async () => {
  for (const [options, sentence] of [
    [{ tables: TEMPLATE, seeds: { Books: [] } }, /^Books: there is no such table; there are orders-test$/],
    [{ tables: TEMPLATE, seeds: { Orders: {} } }, /^Orders: must be a list/],
    [{ tables: TEMPLATE, seeds: { Orders: ['o1'] } }, /^Orders\.0: must be an object/],
    [{ tables: TEMPLATE, seeds: { Orders: [{ total: 1 }] } }, /^seeds of orders-test: \{"total".*: .*key/],
    [
      { tables: { TableName: 'books', KeySchema: [], AttributeDefinitions: [] } },
      /^table books: .*(KeySchema|keySchema)/,
    ],
  ] as const) {
    await assert.rejects(openTestStore(options, '.'), (error: Error) => sentence.test(error.message))
  }
})

test('vitest: the plugin puts its setup file first and leaves what the project has', () => {
  const config = {
    root: '/project',
    test: {
      setupFiles: './mine.ts',
      provide: { other: 1 },
      server: { deps: { inline: ['x'] as (string | RegExp)[] } },
    },
  }
  seriatim({ tables: 'template.yaml' }).config(config)
  const { setupFiles, provide, server } = config.test
  assert.match(setupFiles[0]!, /vitest-setup\.js$/)
  assert.equal(setupFiles[1], './mine.ts')
  assert.deepEqual(provide, {
    other: 1,
    seriatim: { options: { tables: 'template.yaml' }, root: '/project' },
  })
  assert.equal(server.deps.inline[0], 'x')
  assert.match(setupFiles[0]!, server.deps.inline[1] as RegExp)
})

test('vitest: in one worker the store of the next file has the port of the one before, if it is free', async (t) => {
  const first = await openTestStore({}, '.')
  setCurrentStore(first)
  await first.close()
  const second = await openTestStore({}, '.', lastPort())
  t.after(() => second.close())
  const third = await openTestStore({}, '.', lastPort())
  t.after(() => third.close())
  assert.equal(second.endpoint, first.endpoint)
  assert.notEqual(third.endpoint, first.endpoint)
  setCurrentStore(undefined)
})

test('vitest: testStore says what is missing where there is no plugin', async (t) => {
  assert.throws(() => testStore(), /add seriatim\(\) to the plugins in vitest\.config/)
  const it = await opened(t, {})
  setCurrentStore(it)
  assert.equal(testStore(), it)
  setCurrentStore(undefined)
})
