// Query and Scan over random items, compared with a plain model that filters and sorts a list.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { attribute, type AttributeValue, type Item } from '../../src/model/value.js'
import { seededRandom } from '../suites/seeded-random.js'
import { createTable, openTestStore, type TestStore } from './many-support.js'

type Random = (below: number) => number
type KeyType = 'S' | 'N' | 'B'

interface Target {
  readonly name: string | undefined
  readonly partition: string
  readonly sort: string | undefined
  readonly held: readonly string[] | undefined
}

const TARGETS: readonly Target[] = [
  { name: undefined, partition: 'pk', sort: 'sk', held: undefined },
  { name: 'lall', partition: 'pk', sort: 'l', held: undefined },
  { name: 'lkeys', partition: 'pk', sort: 'l', held: ['pk', 'sk', 'l'] },
  { name: 'gall', partition: 'g', sort: 'l', held: undefined },
  { name: 'ginc', partition: 'g', sort: 'h', held: ['pk', 'sk', 'g', 'h', 'x'] },
  { name: 'ghash', partition: 'h', sort: undefined, held: ['pk', 'sk', 'h'] },
]
const TYPES: Readonly<Record<string, KeyType>> = { pk: 'S', sk: 'N', l: 'B', g: 'N', h: 'S' }

async function createTarget(store: TestStore): Promise<void> {
  await createTable(store, 'Model', 'pk:S sk:N', {
    lall: { key: 'pk:S l:B', projection: 'ALL' },
    lkeys: { key: 'pk:S l:B', projection: 'KEYS_ONLY' },
    gall: { key: 'g:N l:B', projection: 'ALL' },
    ginc: { key: 'g:N h:S', projection: 'x' },
    ghash: { key: 'h:S', projection: 'KEYS_ONLY' },
  })
}

const LETTERS = ['a', 'b', 'é', '\u{1f600}', '\uffff', '\0', 'ab']

/** Few different values of each type, so that ties, prefixes and neighbours are common. */
function randomValue(random: Random, type: KeyType): AttributeValue {
  switch (type) {
    case 'S':
      return { S: Array.from({ length: 1 + random(3) }, () => LETTERS[random(LETTERS.length)]).join('') }
    case 'N':
      return { N: String((random(41) - 20) / 4) }
    case 'B': {
      const bytes = Array.from({ length: 1 + random(3) }, () => [0, 1, 127, 255][random(4)] ?? 0)
      return { B: Buffer.from(bytes).toString('base64') }
    }
  }
}

const valueOf = (random: Random, name: string): AttributeValue => randomValue(random, TYPES[name] ?? 'S')
const partitionOf = (random: Random, name: string): AttributeValue =>
  name === 'pk' ? { S: `p${random(4)}` } : name === 'g' ? { N: String(random(3)) } : { S: `h${random(3)}` }

function randomItems(random: Random, count: number): Item[] {
  const byKey = new Map<string, Item>()
  for (let i = 0; i < count; i++) {
    const item = {
      pk: partitionOf(random, 'pk'),
      sk: valueOf(random, 'sk'),
      ...(random(3) > 0 && { l: valueOf(random, 'l') }),
      ...(random(3) > 0 && { g: partitionOf(random, 'g') }),
      ...(random(3) > 0 && { h: random(2) === 0 ? partitionOf(random, 'h') : valueOf(random, 'h') }),
      x: { N: String(random(4)) },
    }
    byKey.set(JSON.stringify([item.pk, item.sk]), item)
  }
  return [...byKey.values()]
}

function compare(a: AttributeValue, b: AttributeValue): number {
  if ('N' in a && 'N' in b) return Number(a.N) - Number(b.N)
  return Buffer.compare(bytesOf(a), bytesOf(b))
}

const bytesOf = (value: AttributeValue): Buffer =>
  'B' in value ? Buffer.from(value.B, 'base64') : Buffer.from('S' in value ? value.S : '')

type Predicate = (value: AttributeValue) => boolean

/** A condition on the sort key as a request states it and as a function. */
function randomCondition(random: Random, sort: string): { text: string; values: object; holds: Predicate } {
  const low = valueOf(random, sort)
  const high = valueOf(random, sort)
  const [from, to] = compare(low, high) <= 0 ? [low, high] : [high, low]
  const one = (text: string, holds: Predicate): { text: string; values: object; holds: Predicate } => ({
    text,
    values: { ':s': low },
    holds,
  })
  switch (random(TYPES[sort] === 'N' ? 6 : 7)) {
    case 0:
      return one('#s = :s', (value) => compare(value, low) === 0)
    case 1:
      return one('#s < :s', (value) => compare(value, low) < 0)
    case 2:
      return one('#s <= :s', (value) => compare(value, low) <= 0)
    case 3:
      return one('#s > :s', (value) => compare(value, low) > 0)
    case 4:
      return one(':s <= #s', (value) => compare(value, low) >= 0)
    case 5:
      return {
        text: '#s BETWEEN :s AND :t',
        values: { ':s': from, ':t': to },
        holds: (value) => compare(value, from) >= 0 && compare(value, to) <= 0,
      }
    default: {
      const prefix = bytesOf(low)
      return one('begins_with(#s, :s)', (value) => bytesOf(value).subarray(0, prefix.length).equals(prefix))
    }
  }
}

const inTarget = ({ partition, sort }: Target, item: Item): boolean =>
  partition in item && (sort === undefined || sort in item)

function projected({ held }: Target, item: Item): Item {
  if (held === undefined) return item
  return Object.fromEntries(Object.entries(item).filter(([name]) => held.includes(name)))
}

const sorted = (items: readonly Item[]): string[] =>
  items
    .map((item) => JSON.stringify(Object.entries(item).toSorted(([a], [b]) => (a < b ? -1 : 1))))
    .toSorted()

function checkPages(
  pages: readonly { ScannedCount: number; LastEvaluatedKey?: Item }[],
  limit: number,
): void {
  for (const { ScannedCount, LastEvaluatedKey } of pages) {
    assert.equal(LastEvaluatedKey !== undefined, ScannedCount === limit)
  }
}

async function checkQuery(store: TestStore, random: Random, items: readonly Item[]): Promise<void> {
  const target = TARGETS[random(TARGETS.length)] as Target
  const partition = partitionOf(random, target.partition)
  const condition =
    target.sort !== undefined && random(4) > 0 ? randomCondition(random, target.sort) : undefined
  const filtering = random(2) === 0 && (target.held === undefined || target.held.includes('x'))
  const reverse = random(2) === 0
  const Limit = 1 + random(12)
  const input = {
    TableName: 'Model',
    ...(target.name !== undefined && { IndexName: target.name }),
    KeyConditionExpression: `#p = :p${condition ? ` AND ${condition.text}` : ''}`,
    ExpressionAttributeNames: {
      '#p': target.partition,
      ...(condition && { '#s': target.sort }),
      ...(filtering && { '#x': 'x' }),
    },
    ExpressionAttributeValues: {
      ':p': partition,
      ...condition?.values,
      ...(filtering && { ':x': { N: '1' } }),
    },
    ...(filtering && { FilterExpression: '#x > :x' }),
    ScanIndexForward: !reverse,
    Limit,
  }
  const { sort } = target
  const scanned = items.filter(
    (item) =>
      inTarget(target, item) &&
      compare(attribute(item, target.partition) as AttributeValue, partition) === 0 &&
      (condition === undefined || condition.holds(attribute(item, sort as string) as AttributeValue)),
  )
  const expected = filtering ? scanned.filter((item) => Number((item['x'] as { N: string }).N) > 1) : scanned

  const { items: found, pages } = await store.walk('Query', input)
  assert.deepEqual(
    sorted(found),
    sorted(expected.map((item) => projected(target, item))),
    JSON.stringify(input),
  )
  checkPages(pages, Limit)
  assert.equal(
    pages.reduce((sum, page) => sum + page.ScannedCount, 0),
    scanned.length,
  )
  if (sort === undefined) return
  for (let at = 1; at < found.length; at++) {
    const order = compare(found[at - 1]?.[sort] as AttributeValue, found[at]?.[sort] as AttributeValue)
    assert.ok(reverse ? order >= 0 : order <= 0, 'sorted by the sort key')
  }
}

async function checkScan(store: TestStore, random: Random, items: readonly Item[]): Promise<void> {
  const target = TARGETS[random(TARGETS.length)] as Target
  const TotalSegments = 1 + random(5)
  const Limit = 1 + random(20)
  const found: Item[] = []
  for (let Segment = 0; Segment < TotalSegments; Segment++) {
    const walked = await store.walk('Scan', {
      TableName: 'Model',
      ...(target.name !== undefined && { IndexName: target.name }),
      Segment,
      TotalSegments,
      Limit,
    })
    checkPages(walked.pages, Limit)
    found.push(...walked.items)
  }
  const expected = items.filter((item) => inTarget(target, item)).map((item) => projected(target, item))
  assert.deepEqual(sorted(found), sorted(expected))
}

for (const nodeCount of [1, 3]) {
  for (const seed of [1, 2, 3]) {
    test(`random queries and scans over ${nodeCount} nodes agree with the model, seed ${seed}`, async () => {
      const random = seededRandom(seed * 100 + nodeCount)
      await using store = await openTestStore(nodeCount)
      await createTarget(store)
      const items = randomItems(random, 150)
      await store.putAll('Model', items)
      for (let i = 0; i < 120; i++) await checkQuery(store, random, items)
      for (let i = 0; i < 15; i++) await checkScan(store, random, items)
    })
  }

  test(`a walk over ${nodeCount} nodes goes on where each last item is deleted meanwhile`, async () => {
    await using store = await openTestStore(nodeCount)
    await createTarget(store)
    const items = randomItems(seededRandom(7), 120)
    await store.putAll('Model', items)
    const found: Item[] = []
    let start: Item | undefined
    do {
      const page = await store.call('Scan', {
        TableName: 'Model',
        Limit: 3,
        ...(start && { ExclusiveStartKey: start }),
      })
      found.push(...(page.Items ?? []))
      start = page.LastEvaluatedKey
      if (start !== undefined) {
        await store.call('BatchWriteItem', { RequestItems: { Model: [{ DeleteRequest: { Key: start } }] } })
      }
    } while (start !== undefined)
    assert.deepEqual(sorted(found), sorted(items))
  })
}
