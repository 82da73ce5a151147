// What a request costs in this process: by store.call, by the light client and by the official one, in processor time.
//
//   npm run bench:light -- [--requests 1000] [--rounds 5]
//
// Rounds alternate, so that what else the machine does meets all alike; the middle one of each counts.
import { parseArgs } from 'node:util'
import { GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb'
import { open } from '../../src/store/store.js'

const { values } = parseArgs({
  options: { requests: { type: 'string', default: '1000' }, rounds: { type: 'string', default: '5' } },
})
const requests = Number(values.requests)
const rounds = Number(values.rounds)

await using store = await open({ memory: true })
const TableName = 'Things'
await store.call('CreateTable', {
  TableName,
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
  KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
})
const Item = { pk: { S: 'k' }, count: { N: '7' }, data: { S: 'x'.repeat(100) } }
await store.call('PutItem', { TableName, Item })
const Key = { pk: { S: 'k' } }
const [light, official] = [store.lightClient(), store.client()]
const documents = DynamoDBDocumentClient.from(official)

const WAYS: Readonly<Record<string, () => Promise<unknown>>> = {
  'GetItem, store.call': () => store.call('GetItem', { TableName, Key }),
  'GetItem, light client': () => light.send(new GetItemCommand({ TableName, Key })),
  'GetItem, official client': () => official.send(new GetItemCommand({ TableName, Key })),
  'PutItem, store.call': () => store.call('PutItem', { TableName, Item }),
  'PutItem, light client': () => light.send(new PutItemCommand({ TableName, Item })),
  'PutItem, official client': () => official.send(new PutItemCommand({ TableName, Item })),
  'Get of documents, light client': () => light.send(new GetCommand({ TableName, Key: { pk: 'k' } })),
  'Get of documents, official client': () => documents.send(new GetCommand({ TableName, Key: { pk: 'k' } })),
}

const micros = new Map<string, number[]>(Object.keys(WAYS).map((name) => [name, []]))
for (let round = 0; round <= rounds; round++)
  for (const [name, way] of Object.entries(WAYS)) {
    const before = process.cpuUsage()
    for (let at = 0; at < requests; at++) await way()
    const { user, system } = process.cpuUsage(before)
    // The first round is for the compiler.
    if (round > 0) micros.get(name)!.push((user + system) / requests)
  }
for (const [name, each] of micros) {
  const middle = each.toSorted((a, b) => a - b)[each.length >> 1] as number
  console.log(`${middle.toFixed(1).padStart(7)} µs  ${name}`)
}
