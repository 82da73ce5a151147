// A table that is large enough for every structure of the store to change its shape, written to in bursts by several
// writers, and read in every way right after each burst, while overlay, flight and index are mixed. A plain map says what
// must be there.
//
//   writers (each with keys of its own) --BatchWriteItem, PutItem, UpdateItem, DeleteItem, TransactWriteItems--> store
//                                       \--> model: key -> version
//   during a burst: scans, of which those keys are compared that nobody touched meanwhile
//   after it: Scan, segments, Query, both indexes, GetItem, the count of DescribeTable: exactly the model
import assert from 'node:assert/strict'
import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import type { Store } from '../../src/store/store.js'
import { seededRandom } from '../suites/seeded-random.js'

export interface LargeWorldOptions {
  readonly seed: number
  /** Keys that are written to. */
  readonly keys: number
  readonly burstWrites: number
  readonly writers: number
}

type Item = Record<string, AttributeValue>

const TABLE = 'large'
const BY_GROUP = 'by-group'
const BY_WEIGHT = 'by-weight'
const SORTS_EACH = 8
const GROUPS = 40
const SEGMENTS = 5
const SAMPLES = 25
const BATCH_ITEMS = 25
const TRANSACTION_ACTIONS = 20
const SINGLES = 10

export class LargeWorld {
  readonly #store: Store
  readonly #options: LargeWorldOptions
  readonly #random: (below: number) => number
  /** By number of the key; the number of the write that left the item. */
  readonly #model = new Map<number, number>()
  /** Keys in the order in which writes to them began or ended. */
  readonly #touched: number[] = []
  readonly #inFlight = new Set<number>()
  #writes = 0
  #burstLeft = 0

  constructor(store: Store, options: LargeWorldOptions) {
    this.#store = store
    this.#options = options
    this.#random = seededRandom(options.seed)
  }

  get items(): number {
    return this.#model.size
  }

  async create(): Promise<void> {
    await this.#store.call('CreateTable', {
      TableName: TABLE,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [
        { AttributeName: 'p', AttributeType: 'S' },
        { AttributeName: 's', AttributeType: 'N' },
        { AttributeName: 'g', AttributeType: 'S' },
        { AttributeName: 'w', AttributeType: 'N' },
      ],
      KeySchema: [
        { AttributeName: 'p', KeyType: 'HASH' },
        { AttributeName: 's', KeyType: 'RANGE' },
      ],
      GlobalSecondaryIndexes: [
        {
          IndexName: BY_GROUP,
          KeySchema: [
            { AttributeName: 'g', KeyType: 'HASH' },
            { AttributeName: 'w', KeyType: 'RANGE' },
          ],
          Projection: { ProjectionType: 'ALL' },
        },
      ],
      LocalSecondaryIndexes: [
        {
          IndexName: BY_WEIGHT,
          KeySchema: [
            { AttributeName: 'p', KeyType: 'HASH' },
            { AttributeName: 'w', KeyType: 'RANGE' },
          ],
          Projection: { ProjectionType: 'ALL' },
        },
      ],
    })
  }

  /** Writes, and scans meanwhile; resolves when all writes are acknowledged. */
  async burst(): Promise<void> {
    const { burstWrites, writers } = this.#options
    this.#burstLeft = burstWrites
    const all = Promise.all(Array.from({ length: writers }, (_, writer) => this.#write(writer)))
    const scanning = this.#scanMeanwhile()
    await all
    await scanning
  }

  /** Everything, in every way: exactly the model. The scan comes first, before anything has settled. */
  async compare(): Promise<void> {
    this.#same('Scan', await this.#pages('Scan', { ConsistentRead: true }), this.#model)
    const segments = Array.from({ length: SEGMENTS }, (_, Segment) =>
      this.#pages('Scan', { ConsistentRead: true, Segment, TotalSegments: SEGMENTS }),
    )
    this.#same('segments', (await Promise.all(segments)).flat(), this.#model)
    await Promise.all(Array.from({ length: SAMPLES }, () => this.#comparePartition()))
    const indexed = new Map([...this.#model].filter(([, version]) => groupOf(version) !== undefined))
    this.#same('index', await this.#pages('Scan', { IndexName: BY_GROUP }), indexed)
    await this.#compareGroup()
    const weighed = await this.#pages('Scan', { IndexName: BY_WEIGHT, ConsistentRead: true })
    this.#same('local index', weighed, this.#model)
    for (let sample = 0; sample < SAMPLES; sample++) await this.#compareItem()
    const { Table } = await this.#store.call('DescribeTable', { TableName: TABLE })
    assert.equal(Table?.ItemCount, this.#model.size, 'the count of the table')
    assert.equal(Table?.GlobalSecondaryIndexes?.[0]?.ItemCount, indexed.size, 'the count of the index')
  }

  /** Once, when half of the writes are on their way. */
  async #scanMeanwhile(): Promise<void> {
    while (this.#burstLeft > this.#options.burstWrites / 2)
      await new Promise((resolve) => setImmediate(resolve))
    const before = new Map(this.#model)
    const unsure = new Set(this.#inFlight)
    const touchedFrom = this.#touched.length
    const seen = await this.#pages('Scan', { ConsistentRead: true })
    for (let at = touchedFrom; at < this.#touched.length; at++) unsure.add(this.#touched[at] as number)
    for (const key of unsure) before.delete(key)
    this.#same(
      'Scan meanwhile',
      seen.filter((item) => !unsure.has(numberOf(item))),
      before,
    )
  }

  async #comparePartition(): Promise<void> {
    const first = this.#random(Math.ceil(this.#options.keys / SORTS_EACH)) * SORTS_EACH
    const expected = new Map<number, number>()
    for (let key = first; key < first + SORTS_EACH; key++) {
      const version = this.#model.get(key)
      if (version !== undefined) expected.set(key, version)
    }
    const query = {
      ConsistentRead: true,
      KeyConditionExpression: 'p = :p',
      ExpressionAttributeValues: { ':p': keyOf(first)['p'] as AttributeValue },
      ScanIndexForward: this.#random(2) === 0,
      Limit: 1 + this.#random(SORTS_EACH),
    }
    const found = await this.#pages('Query', query)
    this.#same('Query', found, expected)
    const order = found.map((item) => Number(item['s']?.N))
    assert.deepEqual(
      order,
      order.toSorted((a, b) => (query.ScanIndexForward ? a - b : b - a)),
    )
    this.#same('Query by weight', await this.#pages('Query', { ...query, IndexName: BY_WEIGHT }), expected)
  }

  async #compareGroup(): Promise<void> {
    const group = `g${this.#random(GROUPS)}`
    const expected = new Map([...this.#model].filter(([, version]) => groupOf(version) === group))
    const found = await this.#pages('Query', {
      IndexName: BY_GROUP,
      KeyConditionExpression: 'g = :g',
      ExpressionAttributeValues: { ':g': { S: group } },
    })
    this.#same('Query of a group', found, expected)
    const weights = found.map((item) => Number(item['w']?.N))
    assert.deepEqual(
      weights,
      weights.toSorted((a, b) => a - b),
    )
  }

  async #compareItem(): Promise<void> {
    const key = this.#random(this.#options.keys)
    const { Item } = await this.#store.call('GetItem', {
      TableName: TABLE,
      Key: keyOf(key),
      ConsistentRead: true,
    })
    const version = this.#model.get(key)
    assert.deepEqual(Item, version === undefined ? undefined : itemOf(key, version))
  }

  async #pages(operation: 'Scan' | 'Query', input: object): Promise<readonly Item[]> {
    const items: Item[] = []
    let ExclusiveStartKey: Item | undefined
    do {
      const page = await this.#store.call(operation, {
        TableName: TABLE,
        ...input,
        ...(ExclusiveStartKey && { ExclusiveStartKey }),
      })
      items.push(...(page.Items ?? []))
      ExclusiveStartKey = page.LastEvaluatedKey
    } while (ExclusiveStartKey !== undefined)
    return items
  }

  #same(way: string, items: readonly Item[], expected: ReadonlyMap<number, number>): void {
    const seen = new Map(items.map((item) => [numberOf(item), Number(item['v']?.N)]))
    assert.equal(seen.size, items.length, `${way} shows an item twice`)
    for (const [key, version] of expected)
      if (seen.get(key) !== version) assert.fail(`${way} shows ${seen.get(key)} at ${key}, not ${version}`)
    for (const key of seen.keys())
      if (!expected.has(key)) assert.fail(`${way} shows ${key}, which is not there`)
  }

  async #write(writer: number): Promise<void> {
    while (this.#burstLeft > 0) {
      const kind = this.#random(100)
      if (kind < 60) await this.#batch(this.#draw(writer, BATCH_ITEMS))
      else if (kind < 75) await this.#transaction(this.#draw(writer, TRANSACTION_ACTIONS))
      else await this.#singles(this.#draw(writer, SINGLES))
    }
  }

  /** Some of the writer's own keys, each with what is to become of it. */
  #draw(writer: number, count: number): Map<number, number | undefined> {
    const { keys, writers } = this.#options
    const drawn = new Map<number, number | undefined>()
    while (drawn.size < count) {
      const key = this.#random(Math.floor(keys / writers)) * writers + writer
      drawn.set(key, this.#random(5) === 0 ? undefined : ++this.#writes)
    }
    this.#burstLeft -= count
    for (const key of drawn.keys()) {
      this.#inFlight.add(key)
      this.#touched.push(key)
    }
    return drawn
  }

  #acknowledged(drawn: ReadonlyMap<number, number | undefined>): void {
    for (const [key, version] of drawn) {
      this.#inFlight.delete(key)
      this.#touched.push(key)
      if (version === undefined) this.#model.delete(key)
      else this.#model.set(key, version)
    }
  }

  async #batch(drawn: Map<number, number | undefined>): Promise<void> {
    let left = Array.from(drawn, ([key, version]) =>
      version === undefined
        ? { DeleteRequest: { Key: keyOf(key) } }
        : { PutRequest: { Item: itemOf(key, version) } },
    ) as object[]
    while (left.length > 0) {
      const answer = await this.#store.call('BatchWriteItem', { RequestItems: { [TABLE]: left } })
      left = answer.UnprocessedItems?.[TABLE] ?? []
    }
    this.#acknowledged(drawn)
  }

  async #transaction(drawn: Map<number, number | undefined>): Promise<void> {
    const TransactItems = Array.from(drawn, ([key, version]) =>
      version === undefined
        ? { Delete: { TableName: TABLE, Key: keyOf(key) } }
        : { Put: { TableName: TABLE, Item: itemOf(key, version) } },
    )
    await this.#store.call('TransactWriteItems', { TransactItems })
    this.#acknowledged(drawn)
  }

  async #singles(drawn: Map<number, number | undefined>): Promise<void> {
    await Promise.all(
      Array.from(drawn, async ([key, version]) => {
        if (version === undefined) await this.#store.call('DeleteItem', { TableName: TABLE, Key: keyOf(key) })
        else if (version % 2 === 0)
          await this.#store.call('PutItem', { TableName: TABLE, Item: itemOf(key, version) })
        else await this.#update(key, version)
      }),
    )
    this.#acknowledged(drawn)
  }

  async #update(key: number, version: number): Promise<void> {
    const { g, v, w, f } = itemOf(key, version)
    const names = { '#v': 'v', '#w': 'w', '#f': 'f', '#g': 'g' }
    await this.#store.call('UpdateItem', {
      TableName: TABLE,
      Key: keyOf(key),
      UpdateExpression:
        g === undefined
          ? 'SET #v = :v, #w = :w, #f = :f REMOVE #g'
          : 'SET #v = :v, #w = :w, #f = :f, #g = :g',
      ExpressionAttributeNames: names,
      ExpressionAttributeValues: { ':v': v!, ':w': w!, ':f': f!, ...(g && { ':g': g }) },
    })
  }
}

const keyOf = (key: number): Item => ({
  p: { S: `p${Math.floor(key / SORTS_EACH)}` },
  s: { N: String(key % SORTS_EACH) },
})

const numberOf = (item: Item): number => Number(item['p']?.S?.slice(1)) * SORTS_EACH + Number(item['s']?.N)

/** Some items are in no group, and so not in the index. */
const groupOf = (version: number): string | undefined =>
  version % 7 === 0 ? undefined : `g${(version * 13) % GROUPS}`

function itemOf(key: number, version: number): Item {
  const group = groupOf(version)
  return {
    ...keyOf(key),
    v: { N: String(version) },
    w: { N: String((version * 31) % 1000) },
    f: { S: 'x'.repeat(version % 50) },
    ...(group !== undefined && { g: { S: group } }),
  }
}
