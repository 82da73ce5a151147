// The parts of the fuzzer that can be checked without DynamoDB Local.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { KNOWN_DIFFERENCES } from './known-differences.js'
import { plainNumber } from './numbers.js'
import { randomFrom } from './random.js'
import { randomRequest } from './requests.js'

test('the same seed makes the same requests', () => {
  const requests = (seed: number) => {
    const random = randomFrom(seed)
    return Array.from({ length: 300 }, () => randomRequest(random))
  }
  assert.deepEqual(requests(7), requests(7))
  assert.notDeepEqual(requests(7), requests(8))
})

test('a run meets every operation on items', () => {
  const random = randomFrom(1)
  const operations = new Set(Array.from({ length: 2_000 }, () => randomRequest(random).operation))
  const items = [
    'PutItem',
    'UpdateItem',
    'DeleteItem',
    'GetItem',
    'Query',
    'Scan',
    'BatchGetItem',
    'BatchWriteItem',
  ]
  for (const operation of items) assert.ok(operations.has(operation), operation)
})

for (const [one, other] of [
  ['100', '1e2'],
  ['0', '-0.00'],
  ['0.5', '.5'],
  ['-1E-130', `-0.${'0'.repeat(129)}1`],
  ['1.50', '15E-1'],
] as const) {
  test(`${one} and ${other} are the same number`, () => {
    assert.equal(plainNumber(one), plainNumber(other))
  })
}

test('docs/reference/known-differences.md lists the known differences, in their order and words', () => {
  const page = readFileSync(new URL('../../../docs/reference/known-differences.md', import.meta.url), 'utf8')
  const sections = page
    .split('\n## ')
    .slice(1)
    .map((section) => section.split('\n\n'))
    .map(([title, ...paragraphs]) => ({ title, reason: paragraphs.join(' ').replaceAll(/\s+/g, ' ').trim() }))
  assert.deepEqual(
    sections,
    KNOWN_DIFFERENCES.map(({ title, reason }) => ({ title, reason })),
  )
})
