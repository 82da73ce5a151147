// Rows of a long table in the page: those that were let go are read again, and a range of them is whole.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PageBook } from '../../console/wire/page-book.js'

// Runs alone: the wire of the console is the global fetch.
const ROWS = 5000

test('console: a range of rows is whole and in order, whichever pages were let go', async (t) => {
  const asked: number[] = []
  t.mock.method(globalThis, 'fetch', async (_: string, { body }: { readonly body: string }) => {
    const { Limit, ExclusiveStartKey } = JSON.parse(body) as {
      readonly Limit: number
      readonly ExclusiveStartKey?: { readonly n: { readonly N: string } }
    }
    const from = ExclusiveStartKey === undefined ? 0 : Number(ExclusiveStartKey.n.N) + 1
    // A page may be answered in several parts.
    const to = Math.min(ROWS, from + Math.min(Limit, 70))
    asked.push(to - from)
    return Response.json({
      Items: Array.from({ length: to - from }, (_each, at) => ({ n: { N: String(from + at) } })),
      ...(to < ROWS && { LastEvaluatedKey: { n: { N: String(to - 1) } } }),
    })
  })
  const book = new PageBook('Scan', { TableName: 'T' }, () => undefined)
  while (!book.isWhole) await book.more()
  assert.equal(book.count, ROWS)
  assert.equal(book.row(0), undefined, 'the first page was let go')
  for (const [first, last] of [
    [0, ROWS - 1],
    [150, 1049],
    [99, 100],
    [4980, ROWS - 1],
    [42, 42],
  ] as const) {
    const found: number[] = []
    asked.length = 0
    for await (const rows of book.between(first, last, new AbortController().signal))
      found.push(...rows.map(({ n }) => Number((n as { readonly N: string }).N)))
    assert.deepEqual(
      found,
      Array.from({ length: last - first + 1 }, (_each, at) => first + at),
      `${first} to ${last}`,
    )
    const read = asked.reduce((sum, rows) => sum + rows, 0)
    assert.ok(read <= last - first + 1 + 100, `${read} rows were read for ${first} to ${last}`)
  }
  assert.equal(book.row(0), undefined, 'what was read for a range is not kept')
})
