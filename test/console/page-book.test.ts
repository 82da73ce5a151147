// Rows of a long table in the page: those that were let go are read again, and a range of them is whole.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { PageBook } from '../../console/wire/page-book.js'

// Runs alone: the wire of the console is the global fetch.
const ROWS = 5000

interface Request {
  readonly Limit: number
  readonly Select?: 'COUNT'
  readonly ExclusiveStartKey?: { readonly n: { readonly N: string } }
}

/** A table of so many items. An answer has at most 70 of them, or 450 that are only counted: a page comes in several parts. */
function tableOf(t: TestContext, rows: number): Request[] {
  const asked: Request[] = []
  t.mock.method(globalThis, 'fetch', async (_: string, { body }: { readonly body: string }) => {
    const request = JSON.parse(body) as Request
    const { Limit, Select, ExclusiveStartKey } = request
    const from = ExclusiveStartKey === undefined ? 0 : Number(ExclusiveStartKey.n.N) + 1
    const to = Math.min(rows, from + Math.min(Limit, Select === 'COUNT' ? 450 : 70))
    asked.push({ ...request, Limit: to - from })
    return Response.json({
      Count: to - from,
      ...(Select !== 'COUNT' && {
        Items: Array.from({ length: to - from }, (_each, at) => ({ n: { N: String(from + at) } })),
      }),
      ...(to < rows && { LastEvaluatedKey: { n: { N: String(to - 1) } } }),
    })
  })
  return asked
}

const numberAt = (book: PageBook, at: number): string | undefined =>
  (book.row(at)?.['n'] as { readonly N: string } | undefined)?.N

/** As the grid does it: rows are wanted again when the book has changed. */
async function shown(book: PageBook, first: number, last: number): Promise<void> {
  book.want(first, last)
  while (book.isReading) await new Promise((resolve) => setImmediate(resolve))
}

test('console: a range of rows is whole and in order, whichever pages were let go', async (t) => {
  const asked = tableOf(t, ROWS)
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
    const read = asked.reduce((sum, { Limit }) => sum + Limit, 0)
    assert.ok(read <= last - first + 1 + 100, `${read} rows were read for ${first} to ${last}`)
  }
  assert.equal(book.row(0), undefined, 'what was read for a range is not kept')
})

test('console: pages that are passed over are counted and not sent, up to the last one', async (t) => {
  const asked = tableOf(t, 123_456)
  const book = new PageBook('Scan', { TableName: 'T' }, () => undefined)
  for (let pages = 1, reads = 0; !book.isWhole; pages = Math.min(100, pages * 2)) {
    await book.more(pages)
    assert.ok(++reads < 40, 'the end is reached by doubling')
  }
  assert.equal(book.count, 123_456)
  assert.equal(numberAt(book, 123_455), '123455')
  const sent = asked.filter(({ Select }) => Select === undefined).reduce((sum, { Limit }) => sum + Limit, 0)
  assert.ok(sent < 5000, `${sent} rows were sent`)
  for (const at of [60_000, 99, 100, 123_400, 77_777]) {
    await shown(book, at, at)
    assert.equal(numberAt(book, at), String(at))
  }
})

test('console: who drags the scroll bar over many pages waits for the last of them only', async (t) => {
  const asked = tableOf(t, 100_000)
  const book = new PageBook('Scan', { TableName: 'T' }, () => undefined)
  for (let pages = 1; !book.isWhole; pages = Math.min(100, pages * 2)) await book.more(pages)
  asked.length = 0
  for (let at = 1000; at <= 91_000; at += 1000) book.want(at, at + 30)
  await shown(book, 92_000, 92_030)
  assert.equal(numberAt(book, 92_000), '92000')
  assert.ok(asked.length < 20, `${asked.length} requests`)
})

test('console: a filter is read row by row, and nothing of it is passed over', async (t) => {
  const asked = tableOf(t, ROWS)
  const book = new PageBook('Scan', { TableName: 'T', FilterExpression: 'x' }, () => undefined)
  while (!book.isWhole) await book.more(100)
  assert.equal(book.count, ROWS)
  assert.ok(asked.every(({ Select }) => Select === undefined))
  await shown(book, 2500, 2510)
  assert.equal(numberAt(book, 2500), '2500')
})
