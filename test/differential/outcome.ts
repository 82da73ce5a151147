// What a request comes to on one peer, without what may rightly differ: the order of sets and of a Scan, page breaks
// that follow the hash of a key, dates, ids and capacity.
import { plainNumbers } from './numbers.js'
import type { Answer, Peer } from './peers.js'
import type { Request } from './requests.js'
import { TABLES } from './tables.js'
import { type Json, type JsonObject, isObject } from './values.js'

export interface Outcome {
  readonly status: number
  /** Of an error: the name behind the `#`, and its message. */
  readonly name?: string
  readonly message?: string
  readonly body: Json
}

const PAGES_MAX = 500

export async function outcomeOf(peer: Peer, request: Request): Promise<Outcome> {
  const answer = await peer.send(request)
  if (answer.status !== 200 || !isObject(answer.body)) return failure(answer)
  if (request.operation !== 'Query' && request.operation !== 'Scan') {
    return { status: answer.status, body: normalized(answer.body, request.operation) }
  }
  return { status: answer.status, body: await walked(peer, request, answer.body) }
}

function failure({ status, body }: Answer): Outcome {
  if (!isObject(body)) return { status, body }
  const { __type, message, Message, ...rest } = body
  const name = typeof __type === 'string' ? __type.slice(__type.indexOf('#') + 1) : undefined
  const said = typeof message === 'string' ? message : typeof Message === 'string' ? Message : undefined
  return {
    status,
    body: normalized(rest, ''),
    ...(name !== undefined && { name }),
    ...(said !== undefined && { message: said }),
  }
}

/** All the pages of all the segments: the two stores cut a Scan at different keys. */
async function walked(peer: Peer, request: Request, first: JsonObject): Promise<Json> {
  const input = JSON.parse(request.body) as JsonObject
  const startsWithin = input['ExclusiveStartKey'] !== undefined
  // What follows a key depends on its hash.
  if (startsWithin && request.operation === 'Scan') return {}
  const segments = typeof input['TotalSegments'] === 'number' ? input['TotalSegments'] : 1
  const items: Json[] = []
  const sums = { Count: 0, ScannedCount: 0, pages: 0 }
  for (let segment = 0; segment < segments; segment++) {
    const asked = segments === 1 ? input : { ...input, Segment: segment }
    let page: JsonObject | undefined = segments === 1 ? first : await pageOf(peer, request, asked)
    while (page !== undefined && sums.pages < PAGES_MAX) {
      // Both made the key of the next page themselves: neither may refuse it.
      if (page['__type'] !== undefined) return { refused: page }
      items.push(...((page['Items'] ?? []) as Json[]))
      sums.Count += Number(page['Count'])
      sums.ScannedCount += Number(page['ScannedCount'])
      sums.pages++
      const next: Json | undefined = page['LastEvaluatedKey']
      page =
        next === undefined ? undefined : await pageOf(peer, request, { ...asked, ExclusiveStartKey: next })
    }
  }
  const { pages, ...counts } = sums
  const comparable = segments === 1 && !startsWithin
  return {
    ...counts,
    ...(comparable && { pages }),
    ...ordered(request.operation, input, items.map(canonical)),
  }
}

async function pageOf(peer: Peer, { operation }: Request, input: JsonObject): Promise<JsonObject> {
  const answer = await peer.send({ operation, body: JSON.stringify(input) })
  return isObject(answer.body) ? answer.body : { __type: answer.body }
}

/** A Query has an order; among equal keys of an index it is open. */
function ordered(operation: string, input: JsonObject, items: readonly Json[]): JsonObject {
  if (operation === 'Query' && input['IndexName'] === undefined) return { Items: items }
  const table = TABLES.find(({ name }) => name === input['TableName'])
  const sortKey = table?.indexes.find(({ name }) => name === input['IndexName'])?.keys[1]?.name
  const keys = items.map((one) => (isObject(one) && sortKey !== undefined ? (one[sortKey] ?? null) : null))
  return { Items: sortedByText(items), ...(operation === 'Query' && { keys }) }
}

const DROPPED = new Set([
  'ConsumedCapacity',
  'ItemCollectionMetrics',
  'CreationDateTime',
  'TableArn',
  'TableId',
  'IndexArn',
  'TableSizeBytes',
  'IndexSizeBytes',
  'ItemCount',
  'TableStatus',
  'IndexStatus',
  'LastUpdateToPayPerRequestDateTime',
  'NumberOfDecreasesToday',
  'LastDecreaseDateTime',
  'LastIncreaseDateTime',
  'TableThroughputModeSummary',
  'WarmThroughput',
  'DeletionProtectionEnabled',
])
const UNORDERED = new Set([
  'AttributeDefinitions',
  'LocalSecondaryIndexes',
  'GlobalSecondaryIndexes',
  'NonKeyAttributes',
])

function normalized(body: JsonObject, operation: string): Json {
  const visit = (value: Json, member: string): Json => {
    if (Array.isArray(value)) {
      const visited = value.map((one) => visit(one as Json, ''))
      return UNORDERED.has(member) ? sortedByText(visited) : visited
    }
    if (!isObject(value)) return value
    return Object.fromEntries(
      Object.entries(value)
        .filter(([name]) => !DROPPED.has(name))
        .map(([name, one]) => [name, visit(one, name)]),
    )
  }
  const isTable = operation.endsWith('Table') || operation === 'ListTables'
  const plain = canonical(isTable ? visit(body, '') : withoutCapacity(body))
  if (operation !== 'BatchGetItem' || !isObject(plain)) return plain
  const responses = Object.entries((plain['Responses'] ?? {}) as JsonObject)
  return {
    ...plain,
    Responses: Object.fromEntries(responses.map(([table, items]) => [table, sortedByText(items as Json[])])),
  }
}

function withoutCapacity(body: JsonObject): JsonObject {
  const { ConsumedCapacity: _, ItemCollectionMetrics: __, ...rest } = body
  return rest
}

/** Members by name, sets by text. */
function canonical(value: Json): Json {
  if (Array.isArray(value)) return value.map((one) => canonical(one as Json))
  if (!isObject(value)) return value
  const entries = Object.entries(value).map(([name, one]): [string, Json] => {
    const isSet = ['SS', 'NS', 'BS'].includes(name) && Array.isArray(one)
    return [name, isSet ? sortedByText(one as Json[]) : canonical(one)]
  })
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** By text, with numbers in one spelling: otherwise the two stores would order the same items differently. */
function sortedByText(values: readonly Json[]): Json[] {
  const texts = new Map(values.map((one) => [one, JSON.stringify(plainNumbers(one))]))
  return values.toSorted((a, b) => (texts.get(a)! < texts.get(b)! ? -1 : 1))
}
