// seriatim mcp, asked by the official client over the standard input and output, in front of a real server.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { run } from '../../src/cli/run.js'
import { authOf } from '../../src/server/access/auth.js'
import type { RunningServer } from '../../src/server/http-server.js'
import { open, type Store } from '../../src/store/store.js'
import { LOG } from '../verify/sample-ledger.js'
import { testWorld } from './test-world.js'

const MAIN = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))
const DIGITS = '1234567890123456789012345678901234567.8'

interface Answered {
  readonly text: string
  readonly isError: boolean
}
interface Agent extends AsyncDisposable {
  readonly client: Client
  call(name: string, input?: object): Promise<Answered>
  /** The answer of a call that must not fail. */
  ask<T>(name: string, input?: object): Promise<T>
}

async function agent(url: string, args: readonly string[] = [], env: object = {}): Promise<Agent> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MAIN, 'mcp', '--endpoint', url, ...args],
    env: { PATH: process.env['PATH'] ?? '', ...env },
  })
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(transport)
  const call = async (name: string, input: object = {}): Promise<Answered> => {
    const { content, isError } = await client.callTool({ name, arguments: { ...input } })
    const [{ text }] = content as [{ readonly text: string }]
    return { text, isError: isError === true }
  }
  return {
    client,
    call,
    async ask<T>(name: string, input?: object) {
      const { text, isError } = await call(name, input)
      assert.ok(!isError, text)
      return JSON.parse(text) as T
    },
    [Symbol.asyncDispose]: () => client.close(),
  }
}

interface Page {
  readonly Items: readonly Record<string, { readonly N?: string; readonly S?: string }>[]
  readonly LastEvaluatedKey?: object
  readonly NextToken?: string
  readonly LeftOut?: readonly { readonly Bytes: number; readonly Largest: readonly object[] }[]
}

describe('seriatim mcp', () => {
  let store: Store
  let server: RunningServer
  let reader: Agent
  let writer: Agent
  const music = (artist: string, year: number, more: object = {}): object => ({
    TableName: 'Music',
    Item: { artist: { S: artist }, year: { N: String(year) }, ...more },
  })

  before(async () => {
    store = await open({ memory: true })
    const AttributeDefinitions = [
      { AttributeName: 'artist', AttributeType: 'S' as const },
      { AttributeName: 'year', AttributeType: 'N' as const },
    ]
    const KeySchema = [
      { AttributeName: 'artist', KeyType: 'HASH' as const },
      { AttributeName: 'year', KeyType: 'RANGE' as const },
    ]
    for (const TableName of ['Music', 'Other'])
      await store.call('CreateTable', {
        TableName,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions,
        KeySchema,
      })
    await store.call('CreateTable', {
      TableName: 'Cars',
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'vin', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'vin', KeyType: 'HASH' }],
      Tags: [{ Key: 'seriatim:ledger', Value: 'true' }],
    })
    for (let year = 1900; year < 2000; year++)
      await store.call('PutItem', music('Nina', year, { plays: { N: DIGITS } }) as never)
    for (const owner of ['ann', 'bob'])
      await store.call('PutItem', { TableName: 'Cars', Item: { vin: { S: 'v1' }, owner: { S: owner } } })
    server = await store.listen({ port: 0 })
    reader = await agent(server.url)
    writer = await agent(server.url, ['--write', 'Music'])
  })
  after(async () => {
    await reader[Symbol.asyncDispose]()
    await writer[Symbol.asyncDispose]()
    await store.close()
  })

  test('offers tools that read, and says so; those that write are there with --write only', async () => {
    const { tools } = await reader.client.listTools()
    assert.deepEqual(
      tools.map(({ name }) => name),
      [
        'list_tables',
        'describe_table',
        'get_item',
        'query',
        'scan',
        'select',
        'explain',
        'list_transactions',
        'item_history',
        'get_digest',
        'prove_item',
      ],
    )
    assert.ok(tools.every(({ annotations }) => annotations?.readOnlyHint === true))
    const more = (await writer.client.listTools()).tools.slice(tools.length)
    assert.deepEqual(
      more.map(({ name }) => name),
      ['put_item', 'update_item', 'delete_item', 'transact_write_items', 'write_statement'],
    )
    assert.ok(more.every(({ annotations }) => annotations?.readOnlyHint === false))
    const { text, isError } = await reader.call('put_item', music('Eve', 1))
    assert.deepEqual([text, isError], ["There is no tool 'put_item'", true])
  })

  test('shows tables, items, queries and statements, with every digit of a number', async () => {
    assert.deepEqual(await reader.ask('list_tables'), { TableNames: ['Cars', 'Music', 'Other'] })
    const { Table } = await reader.ask<{ Table: { ItemCount: number } }>('describe_table', {
      TableName: 'Music',
    })
    assert.equal(Table.ItemCount, 100)
    const Key = { artist: { S: 'Nina' }, year: { N: '1965' } }
    const { Item } = await reader.ask<{ Item: Page['Items'][number] }>('get_item', {
      TableName: 'Music',
      Key,
    })
    assert.equal(Item['plays']?.N, DIGITS)
    const query = {
      TableName: 'Music',
      KeyConditionExpression: 'artist = :a AND #y > :y',
      ExpressionAttributeNames: { '#y': 'year' },
      ExpressionAttributeValues: { ':a': { S: 'Nina' }, ':y': { N: '1990' } },
    }
    assert.equal((await reader.ask<Page>('query', query)).Items.length, 9)
    const selected = await reader.ask<Page>('select', {
      Statement: 'SELECT * FROM Music WHERE artist = ? AND year = 1965',
      Parameters: [{ S: 'Nina' }],
    })
    assert.equal(selected.Items[0]?.['plays']?.N, DIGITS)
    const explained = await reader.ask<Page>('explain', {
      Statement: "SELECT * FROM Music WHERE artist = 'Nina'",
    })
    assert.equal(explained.Items[0]?.['operation']?.S, 'Query')
    const transactions = await reader.ask<{ InFlight: readonly object[] }>('list_transactions')
    assert.deepEqual(transactions.InFlight, [])
  })

  test('shows the history of an item, and what a proof of it proves', async () => {
    const item = { TableName: 'Cars', Key: { vin: { S: 'v1' } } }
    const { Revisions } = await reader.ask<{ Revisions: readonly { Metadata: object }[] }>(
      'item_history',
      item,
    )
    assert.equal(Revisions.length, 2)
    const proof = await reader.ask<{ Verified: boolean; KeyFrom: string; Item: object; Proof: string }>(
      'prove_item',
      { ...item, Version: 0 },
    )
    assert.deepEqual([proof.Verified, proof.KeyFrom], [true, 'the endpoint itself'])
    assert.deepEqual(proof.Item, { vin: { S: 'v1' }, owner: { S: 'ann' } })
    assert.match(proof.Proof, /^c2sp\.org\/tlog-proof@v1\n/)
    const { Key } = await reader.ask<{ Key: string }>('get_digest')
    await using trusting = await agent(server.url, ['--key', Key])
    assert.equal((await trusting.ask<{ KeyFrom: string }>('prove_item', item)).KeyFrom, '--key')
    await using distrusting = await agent(server.url, ['--key', LOG.key])
    const refused = await distrusting.call('prove_item', item)
    assert.ok(refused.isError, 'a proof by another key than the one that was given')
  })

  test('a tool that reads runs no statement that writes, however it is written', async () => {
    for (const Statement of [
      "INSERT INTO Music VALUE {'artist': 'Eve', 'year': 1}",
      "/* SELECT */ UPDATE Music SET plays = 0 WHERE artist = 'Nina' AND year = 1965",
      "-- SELECT\nDELETE FROM Music WHERE artist = 'Nina' AND year = 1965",
      "FROM Music WHERE artist = 'Nina' AND year = 1965 SET plays = 0",
      "SELECT * FROM Music; DELETE FROM Music WHERE artist = 'Nina' AND year = 1965",
      "(DELETE FROM Music WHERE artist = 'Nina' AND year = 1965)",
      "EXPLAIN DELETE FROM Music WHERE artist = 'Nina' AND year = 1965",
      "EXISTS(SELECT * FROM Music WHERE artist = 'Nina' AND year = 1965)",
      'SELECT',
    ])
      for (const tool of ['select', 'explain']) {
        const { isError, text } = await reader.call(tool, { Statement })
        assert.ok(isError, `${tool} ${Statement}: ${text}`)
      }
    const all = await reader.ask<Page>('scan', { TableName: 'Music', Limit: 1000 })
    assert.equal(all.Items.length, 100)
    assert.ok(all.Items.every(({ plays }) => plays?.N === DIGITS))
  })

  test('arguments that a tool does not declare are refused, and reach no endpoint', async () => {
    for (const [name, input, told] of [
      ['scan', { TableName: 'Music', TotalSegments: 2 }, "scan has no argument 'TotalSegments'"],
      ['scan', { TableName: 'Music', __proto__: null, constructor: 1 }, "scan has no argument 'constructor'"],
      ['scan', {}, 'scan needs TableName'],
      ['scan', { TableName: 'Music', Limit: 5000 }, 'Limit must be a whole number from 1 to 1000'],
      ['get_item', { TableName: 'Music', Key: [] }, 'get_item: Key must be an object'],
      ['get_item', { TableName: 'Nowhere', Key: {} }, 'ResourceNotFoundException'],
      [
        'get_item',
        { TableName: 'Music', Key: { artist: { S: 'a' }, year: { N: 12 } } },
        'SerializationException',
      ],
      ['no_tool', {}, "There is no tool 'no_tool'"],
    ] as const) {
      const { text, isError } = await reader.call(name, input)
      assert.ok(isError && text.includes(told), text)
    }
  })

  test('writes to the tables that were named and to no other, by no way', async () => {
    const Key = { artist: { S: 'Bob' }, year: { N: '1' } }
    await writer.ask('put_item', music('Bob', 1))
    const update = { UpdateExpression: 'SET plays = :n', ExpressionAttributeValues: { ':n': { N: DIGITS } } }
    await writer.ask('update_item', { TableName: 'Music', Key, ...update })
    await writer.ask('write_statement', {
      Statement: "UPDATE Music SET seen = true WHERE artist = 'Bob' AND year = 1",
    })
    await writer.ask('transact_write_items', { TransactItems: [{ Put: music('Bob', 2) }] })
    const bob = await writer.ask<Page>('select', { Statement: "SELECT * FROM Music WHERE artist = 'Bob'" })
    assert.deepEqual(
      bob.Items.map(({ plays, seen }) => [plays?.N, seen]),
      [
        [DIGITS, { BOOL: true }],
        [undefined, undefined],
      ],
    )
    for (const year of ['1', '2'])
      await writer.ask('delete_item', { TableName: 'Music', Key: { ...Key, year: { N: year } } })
    const elsewhere = { TableName: 'Other', Item: Key }
    const arn = 'arn:aws:dynamodb:us-east-1:000000000000:table/Other'
    for (const [name, input] of [
      ['put_item', elsewhere],
      ['put_item', { ...elsewhere, TableName: arn }],
      ['update_item', { TableName: 'Other', Key, ...update }],
      ['delete_item', { TableName: 'Other', Key }],
      ['transact_write_items', { TransactItems: [{ Put: music('Eve', 1) }, { Put: elsewhere }] }],
      [
        'transact_write_items',
        { TransactItems: [{ Put: music('Eve', 1), Delete: { TableName: 'Other', Key } }] },
      ],
      ['transact_write_items', { TransactItems: [{ Write: elsewhere }] }],
      ['transact_write_items', { TransactItems: [null] }],
      ['write_statement', { Statement: "INSERT INTO Other VALUE {'artist': 'Eve', 'year': 1}" }],
      ['write_statement', { Statement: `INSERT INTO "${arn}" VALUE {'artist': 'Eve', 'year': 1}` }],
      ['write_statement', { Statement: 'SELECT * FROM Other' }],
      ['explain', { Statement: "DELETE FROM Other WHERE artist = 'Bob' AND year = 1" }],
    ] as const) {
      const { isError, text } = await writer.call(name, input)
      assert.ok(isError, `${name} ${JSON.stringify(input)}: ${text}`)
    }
    assert.deepEqual((await writer.ask<Page>('scan', { TableName: 'Other' })).Items, [])
    assert.equal((await writer.ask<Page>('scan', { TableName: 'Music', Limit: 1000 })).Items.length, 100)
  })

  test('no answer is longer than it may be, and pages have every item once', async () => {
    const long = 'x'.repeat(1000)
    for (let year = 1; year <= 60; year++)
      await store.call('PutItem', { ...music('Long', year, { text: { S: long } }) } as never)
    await store.call('PutItem', music('Long', 61, { text: { S: 'y'.repeat(300_000) } }) as never)
    await using small = await agent(server.url, ['--answer-kb', '8'])
    const input = {
      TableName: 'Music',
      KeyConditionExpression: 'artist = :a',
      ExpressionAttributeValues: { ':a': { S: 'Long' } },
    }
    const years: (string | undefined)[] = []
    let start: object | undefined
    let leftOut = 0
    for (let pages = 0; pages < 100; pages++) {
      const { text } = await small.call('query', { ...input, ...(start && { ExclusiveStartKey: start }) })
      assert.ok(Buffer.byteLength(text) <= 8192)
      const page = JSON.parse(text) as Page
      years.push(...page.Items.map(({ year }) => year?.N))
      leftOut += page.LeftOut?.length ?? 0
      start = page.LastEvaluatedKey
      if (start === undefined) break
    }
    assert.deepEqual(
      years,
      [...Array(60).keys()].map((at) => String(at + 1)),
    )
    assert.equal(leftOut, 1)
    const Key = { artist: { S: 'Long' }, year: { N: '61' } }
    const { LeftOut } = await small.ask<Page>('get_item', { TableName: 'Music', Key })
    assert.ok(LeftOut![0]!.Bytes > 300_000)
    assert.deepEqual(LeftOut![0]!.Largest[0], { Attribute: 'text', Bytes: 300_008 })
    await using writing = await agent(server.url, ['--answer-kb', '8', '--write', 'Music'])
    const deleted = { TableName: 'Music', Key, ReturnValues: 'ALL_OLD' }
    assert.equal((await writing.ask<{ Done: boolean }>('delete_item', deleted)).Done, true)
    for (let year = 1; year <= 60; year++)
      await store.call('DeleteItem', {
        TableName: 'Music',
        Key: { ...Key, year: { N: String(year) } },
      })
  })

  test('text that is not seen is written as escapes, and is the same text', async () => {
    const hidden = 'a\u202eb\u200bc\u{e0041}\u{e0042}d\u0007'
    await store.call('PutItem', { TableName: 'Other', Item: { artist: { S: hidden }, year: { N: '1' } } })
    const { text } = await reader.call('scan', { TableName: 'Other' })
    for (const unseen of ['\u200b', '\u202e', '\u0007', '\u{e0041}']) assert.ok(!text.includes(unseen))
    assert.equal((JSON.parse(text) as Page).Items[0]?.['artist']?.S, hidden)
    await store.call('DeleteItem', { TableName: 'Other', Key: { artist: { S: hidden }, year: { N: '1' } } })
  })

  test('signs with the keys of the environment, shows them nowhere, and gets what they may', async () => {
    const key = { accessKeyId: 'AKIDMUSIC', secretAccessKey: 'a-very-secret-word-of-mine' }
    await using guarded = await store.listen({
      port: 0,
      auth: authOf([{ ...key, access: ['read'], tables: ['*'] }]),
    })
    const env = { AWS_ACCESS_KEY_ID: key.accessKeyId, AWS_SECRET_ACCESS_KEY: key.secretAccessKey }
    await using known = await agent(guarded.url, ['--write', 'Music'], env)
    assert.equal((await known.ask<{ TableNames: readonly string[] }>('list_tables')).TableNames.length, 3)
    const told: Answered[] = [
      await known.call('put_item', music('Eve', 1)),
      await known.call('list_transactions'),
    ]
    await using unknown = await agent(guarded.url, [], { ...env, AWS_SECRET_ACCESS_KEY: 'another-word' })
    told.push(await unknown.call('list_tables'))
    assert.deepEqual(
      told.map(({ isError }) => isError),
      [true, true, true],
    )
    assert.doesNotMatch(told.map(({ text }) => text).join(), /secret-word|another-word/)
    const { world, errors } = testWorld()
    assert.equal(await run(['mcp', '--endpoint', 'http://me:secret-word@127.0.0.1:1'], world), 2)
    assert.doesNotMatch(errors.join(), /secret-word/)
  })

  test('a write whose answer never came is told as one whose outcome is unknown', async () => {
    const gone = await store.listen({ port: 0 })
    await gone.stop()
    await using lost = await agent(gone.url, ['--write', 'Music'])
    const { text, isError } = await lost.call('put_item', music('Eve', 1))
    assert.ok(isError)
    assert.match(text, /^The outcome is unknown: .* does not answer/)
    assert.match((await lost.call('list_tables')).text, /^http:.* does not answer/)
  })

  test('wrong usage ends with 2', async () => {
    for (const args of [
      [],
      ['--endpoint', 'x'],
      ['--endpoint', server.url, '--write', 'a,b'],
      ['--answer-kb', '0'],
    ])
      assert.equal(await run(['mcp', ...args], testWorld().world), 2, args.join(' '))
  })
})
