import assert from 'node:assert/strict'
import { Agent, request } from 'node:http'
import { test } from 'node:test'
import { testFolder } from '../support/folder.js'
import { sized } from '../support/sizes.js'
import { spawnServer } from '../support/spawned-server.js'
import { workersOf } from '../kill/killed-server.js'

interface Answer {
  readonly Item?: Readonly<Record<string, { readonly S?: string; readonly N?: string }>>
  readonly Responses?: readonly Answer[]
  readonly Count?: number
  readonly [name: string]: unknown
}

/** A connection of its own: the workers get them in turn. */
function connection(url: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const call = (operation: string, input: object, prefix = 'DynamoDB_20120810'): Promise<Answer> =>
    send(operation, JSON.stringify(input), prefix)
  const send = (operation: string, text: string, prefix: string): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const headers = {
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': `${prefix}.${operation}`,
      }
      const sent = request(url, { method: 'POST', agent, headers }, (answer) => {
        const pieces: Buffer[] = []
        answer.on('data', (piece: Buffer) => pieces.push(piece))
        answer.on('end', () => {
          const body = JSON.parse(Buffer.concat(pieces).toString()) as Answer
          if (answer.statusCode === 200) resolve(body)
          else reject(Object.assign(new Error(JSON.stringify(body)), { body }))
        })
        answer.on('error', reject)
      })
      sent.on('error', reject)
      sent.end(text)
    })
  return { call, send, [Symbol.dispose]: () => agent.destroy() }
}

const TABLE = {
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
}

test('workers: a statement of a batch costs the same at each of them', async () => {
  await using server = await spawnServer(['--memory', '--workers', '2'])
  const connections = Array.from({ length: 4 }, () => connection(server.url))
  await connections[0]!.call('CreateTable', { TableName: 'Notes', ...TABLE })
  for (const [at, { call }] of connections.entries()) {
    const { ConsumedCapacity } = await call('BatchExecuteStatement', {
      Statements: [
        {
          Statement: `INSERT INTO Notes VALUE {'id': ?, 'text': ?}`,
          Parameters: [{ S: String(at) }, { S: 'x'.repeat(2500) }],
        },
      ],
      ReturnConsumedCapacity: 'TOTAL',
    })
    assert.deepEqual(ConsumedCapacity, [{ TableName: 'Notes', CapacityUnits: 3 }], `connection ${at}`)
  }
  for (const each of connections) each[Symbol.dispose]()
})

for (const workers of [2, 4]) {
  test(`${workers} workers: what one has answered, all others know at once: tables, items, transactions`, async () => {
    await using server = await spawnServer(['--memory', '--nodes', '3', '--workers', String(workers)])
    const connections = Array.from({ length: workers * 2 }, () => connection(server.url))
    const at = (number: number) => connections[number % connections.length]!
    for (let round = 0; round < 6; round++) {
      const TableName = `Table-${round}`
      await at(round).call('CreateTable', { TableName, ...TABLE })
      for (const [number, { call }] of connections.entries()) {
        const Item = {
          id: { S: `é\u0000-${number}` },
          n: { N: String(number) },
          text: { S: '😀'.repeat(round * 100) },
        }
        await call('PutItem', { TableName, Item })
        const Key = { id: Item.id }
        const found = await at(number + 1).call('GetItem', { TableName, Key, ConsistentRead: true })
        assert.deepEqual(found.Item, Item)
        await at(number + 2).call('TransactWriteItems', {
          TransactItems: [
            {
              Update: {
                TableName,
                Key,
                UpdateExpression: 'ADD n :n',
                ExpressionAttributeValues: { ':n': { N: '100' } },
              },
            },
            { Put: { TableName, Item: { id: { S: `with-${number}` } } } },
          ],
        })
        const { Responses } = await at(number + 3).call('TransactGetItems', {
          TransactItems: [{ Get: { TableName, Key } }],
        })
        assert.equal(Responses?.[0]?.Item?.['n']?.N, String(number + 100))
      }
      const { Count } = await at(round + 1).call('Scan', { TableName })
      assert.equal(Count, connections.length * 2)
      await at(round + 2).call('DeleteTable', { TableName })
      for (const { call } of connections)
        await assert.rejects(call('GetItem', { TableName, Key: { id: { S: 'a' } } }), /ResourceNotFound/)
    }
    for (const each of connections) each[Symbol.dispose]()
  })
}

test('workers: a refusal is answered as by one worker, with the image that was asked for', async () => {
  await using server = await spawnServer(['--memory', '--workers', '2'])
  const connections = [connection(server.url), connection(server.url)]
  await connections[0]!.call('CreateTable', { TableName: 'Table', ...TABLE })
  await connections[0]!.call('PutItem', { TableName: 'Table', Item: { id: { S: 'a' }, n: { N: '7' } } })
  const refusals: unknown[] = []
  for (const { call } of connections) {
    const refused = await call('PutItem', {
      TableName: 'Table',
      Item: { id: { S: 'a' } },
      ConditionExpression: 'attribute_not_exists(id)',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    }).catch((error: { readonly body: unknown }) => error.body)
    refusals.push(refused)
    refusals.push(await call('Nothing', {}).catch((error: { readonly body: unknown }) => error.body))
    refusals.push(await call('DescribeTable', {}).catch((error: { readonly body: unknown }) => error.body))
  }
  assert.deepEqual(refusals.slice(0, 3), refusals.slice(3))
  for (const each of connections) each[Symbol.dispose]()
})

test('workers: a large request that is handed on is read along its shape, and refused as by one worker', async () => {
  await using server = await spawnServer(['--memory', '--workers', '2'])
  const connections = [connection(server.url), connection(server.url)]
  const many = '[],'.repeat(100_000)
  const texts = [
    `[${many}[]]`,
    `{"Unit":[${many}[]]}`,
    `{"Unit":{"Id":"u"},"TransactItems":[${many}[]]}`,
    `{"Unit":{"Id":"u"},"Unknown":[${many}[]]}`,
    `{"Unit":{"Id":"u"},"Reads":${'['.repeat(100_000)}`,
    `{"Unit":{"Id":"u"},"Reads":[${'{},'.repeat(100_000)}`,
  ]
  const answers = await Promise.all(
    connections.map(({ send }) =>
      Promise.all(
        texts.map((text) =>
          send('UnitCommit', text, 'Seriatim_20261101').catch(
            (error: { readonly body: Readonly<Record<string, unknown>> }) => error.body['__type'],
          ),
        ),
      ),
    ),
  )
  for (const each of answers)
    assert.deepEqual(
      each,
      texts.map(() => 'com.amazon.coral.service#SerializationException'),
    )
  // One that is valid is carried out, whichever worker reads it.
  await connections[0]!.call('CreateTable', { TableName: 'Table', ...TABLE })
  for (const [number, { call }] of connections.entries()) {
    const TransactItems = Array.from({ length: 4_000 }, (_, at) => ({
      Put: { TableName: 'Table', Item: { id: { S: `${number}-${at}` } } },
    }))
    const Unit = { Id: `unit-${number}`, Isolation: 'read-committed' }
    const ClientRequestToken = `token-of-unit-${number}`
    await call('UnitCommit', { Unit, ClientRequestToken, TransactItems }, 'Seriatim_20261101')
    const { Count } = await call('Scan', { TableName: 'Table', Select: 'COUNT', ConsistentRead: true })
    assert.equal(Count, 4_000 * (number + 1))
  }
  for (const each of connections) each[Symbol.dispose]()
})

test('workers: contended transactions over several nodes lose no update, and an acknowledged one is seen everywhere', async () => {
  await using server = await spawnServer(['--path', testFolder(), '--nodes', '4', '--workers', '2'])
  const clients = Array.from({ length: 8 }, () => connection(server.url))
  await clients[0]!.call('CreateTable', { TableName: 'Table', ...TABLE })
  const keys = Array.from({ length: 6 }, (_, number) => ({ id: { S: `key-${number}` } }))
  const acknowledged = keys.map(() => 0)
  const rounds = sized(15, 300)
  await Promise.all(
    clients.map(async ({ call }, number) => {
      for (let round = 0; round < rounds; round++) {
        const chosen = [(number + round) % keys.length, (number * 3 + round + 1) % keys.length]
        if (chosen[0] === chosen[1]) continue
        const TransactItems = chosen.map((key) => ({
          Update: {
            TableName: 'Table',
            Key: keys[key],
            UpdateExpression: 'ADD n :one',
            ExpressionAttributeValues: { ':one': { N: '1' } },
          },
        }))
        const done = await call('TransactWriteItems', { TransactItems }).then(
          () => true,
          (error: Error) => {
            assert.match(error.message, /TransactionCanceled/)
            return false
          },
        )
        if (!done) continue
        for (const key of chosen) acknowledged[key]! += 1
        // Real time: whatever was acknowledged before this read began is in what it answers.
        const [key] = chosen as [number]
        const before = acknowledged[key]!
        const other = clients[(number + 1 + round) % clients.length]!
        const { Item } = await other.call('GetItem', {
          TableName: 'Table',
          Key: keys[key],
          ConsistentRead: true,
        })
        assert.ok(Number(Item?.['n']?.N) >= before, `${Item?.['n']?.N} after ${before} were acknowledged`)
      }
    }),
  )
  for (const [key, count] of acknowledged.entries()) {
    const { Item } = await clients[0]!.call('GetItem', {
      TableName: 'Table',
      Key: keys[key],
      ConsistentRead: true,
    })
    assert.equal(Number(Item?.['n']?.N ?? 0), count)
  }
  for (const each of clients) each[Symbol.dispose]()
})

test('workers: a blind put in a transaction is never stamped below a put that was acknowledged before it', async () => {
  await using server = await spawnServer(['--memory', '--nodes', '4', '--workers', '2'])
  const clients = [connection(server.url), connection(server.url)]
  await clients[0]!.call('CreateTable', { TableName: 'Table', ...TABLE })
  for (let round = 0; round < sized(200, 2000); round++) {
    const item = (id: string) => ({ id: { S: id }, round: { N: String(round) } })
    await clients[round % 2]!.call('PutItem', {
      TableName: 'Table',
      Item: { id: { S: 'key-0' }, round: { N: '-1' } },
    })
    await clients[(round + 1) % 2]!.call('TransactWriteItems', {
      TransactItems: ['key-0', 'key-1', 'key-2'].map((id) => ({
        Put: { TableName: 'Table', Item: item(id) },
      })),
    })
    const { Item } = await clients[round % 2]!.call('GetItem', {
      TableName: 'Table',
      Key: { id: { S: 'key-0' } },
    })
    assert.equal(Item?.['round']?.N, String(round))
  }
  for (const each of clients) each[Symbol.dispose]()
})

test('workers: the counts of /metrics are those of all workers, whichever is asked', async () => {
  await using server = await spawnServer(['--memory', '--workers', '2'])
  const connections = Array.from({ length: 4 }, () => connection(server.url))
  for (const { call } of connections) await call('ListTables', {})
  for (let asked = 0; asked < 2; asked++) {
    const text = await new Promise<string>((resolve, reject) => {
      request(`${server.url}/metrics`, { agent: new Agent() }, (answer) => {
        let all = ''
        answer.on('data', (piece) => (all += String(piece)))
        answer.on('end', () => resolve(all))
      })
        .on('error', reject)
        .end()
    })
    assert.match(text, /seriatim_requests_total\{operation="ListTables",result="ok"\} 4\n/)
  }
  for (const each of connections) each[Symbol.dispose]()
})

test('workers: when one is killed the server says so, ends with 1, and keeps what was acknowledged', async () => {
  const path = testFolder()
  {
    await using server = await spawnServer(['--path', path, '--workers', '2'], { quiet: true })
    const connections = [connection(server.url), connection(server.url)]
    await connections[0]!.call('CreateTable', { TableName: 'Table', ...TABLE })
    for (const [number, { call }] of connections.entries())
      await call('PutItem', { TableName: 'Table', Item: { id: { S: `key-${number}` } } })
    const [worker] = workersOf(server.pid)
    process.kill(worker!, 'SIGKILL')
    assert.deepEqual(await server.ended, { code: 1, signal: null })
    assert.match(server.said, /seriatim start: worker 2 \(process \d+\) has ended by itself \(SIGKILL\)/)
    for (const each of connections) each[Symbol.dispose]()
  }
  await using server = await spawnServer(['--path', path])
  using one = connection(server.url)
  assert.equal((await one.call('Scan', { TableName: 'Table' }))['Count'], 2)
})

test('workers: SIGTERM ends all of them with 0, and leaves no process behind', async () => {
  await using server = await spawnServer(['--memory', '--workers', '3'])
  using one = connection(server.url)
  using other = connection(server.url)
  await one.call('ListTables', {})
  await other.call('ListTables', {})
  const workers = workersOf(server.pid)
  assert.equal(workers.length, 2)
  assert.equal(await server.stop(), 0)
  for (const worker of workers) assert.throws(() => process.kill(worker, 0), /ESRCH/)
})

test('workers: a plan of faults, which counts the requests of one process, is refused', async () => {
  const plan = '{"seed":1,"faults":[{"operation":"PutItem","fault":"throttle","probability":1}]}'
  await assert.rejects(
    spawnServer(['--memory', '--workers', '2', '--faults', '--fault-plan', plan], { quiet: true }),
  )
})
