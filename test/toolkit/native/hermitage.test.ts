// What each isolation level prevents, by Hermitage's schedules, on one node and on four. The table in docs/explanation/isolation.md is
// what this test has found; `UPDATE_DOCS=1` writes it anew.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { open, type Store } from '../../../src/store/store.js'
import type { IsolationLevel } from '../../../src/toolkit/unit/transactor.js'
import { SCHEDULES, Stage, TABLE, type Verdict } from './schedules.js'

const LEVELS: readonly IsolationLevel[] = ['read-uncommitted', 'read-committed', 'snapshot', 'serializable']
const NODES = [1, 4]

/** Read-committed prevents what PostgreSQL's does, snapshot what its repeatable read does, serializable everything. */
const FROM_SNAPSHOT = new Set(['PMP', 'PMP write', 'P4', 'G-single', 'G-single predicate', 'G-single write'])
const FROM_SERIALIZABLE = new Set(['G2-item', 'G2', 'G2 two edges', 'Fekete three'])

function expected(name: string, level: IsolationLevel): Verdict {
  if (FROM_SERIALIZABLE.has(name)) return level === 'serializable' ? 'prevented' : 'possible'
  if (FROM_SNAPSHOT.has(name))
    return level === 'snapshot' || level === 'serializable' ? 'prevented' : 'possible'
  return 'prevented'
}

/** By schedule and level: what was found on every number of nodes. */
const found = new Map<string, Set<Verdict>>()

for (const nodes of NODES) {
  describe(`Hermitage on ${nodes} node${nodes === 1 ? '' : 's'}`, () => {
    let store: Store
    before(async () => {
      store = await open({ memory: true, nodes })
      await store.call('CreateTable', {
        TableName: TABLE,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'N' }],
        KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      })
    })
    after(() => store.close())

    for (const schedule of SCHEDULES) {
      const { name, about } = schedule
      for (const level of LEVELS) {
        const verdict = expected(name, level)
        test(`${name} (${about}) is ${verdict} at ${level}`, async () => {
          const t = store.transactor()
          await t.transact(async (tx) => {
            for (const { id } of await tx.scan(TABLE)) tx.delete(TABLE, { id })
            tx.put(TABLE, { id: 1, value: 10 })
            tx.put(TABLE, { id: 2, value: 20 })
          })
          const actual = await schedule.run(new Stage(t, level))
          const key = `${name} ${level}`
          found.set(key, (found.get(key) ?? new Set()).add(actual))
          assert.equal(actual, verdict)
        })
      }
    }
  })
}

test('docs/explanation/isolation.md has the table that was found', () => {
  const page = fileURLToPath(new URL('../../../../docs/explanation/isolation.md', import.meta.url))
  const text = readFileSync(page, 'utf8')
  const [, begin = '', , end = ''] = /(<!-- found -->\n)([\s\S]*?)(<!-- \/found -->)/.exec(text) ?? []
  assert.ok(begin !== '' && end !== '', 'the marks of the table are missing')
  const current = text.replace(
    /<!-- found -->\n[\s\S]*?<!-- \/found -->/,
    () => `${begin}\n${table()}\n${end}`,
  )
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(page, current)
  else assert.equal(text, current, 'UPDATE_DOCS=1 node scripts/test.mjs hermitage writes it anew')
})

/** As prettier would write it. */
function table(): string {
  const rows = [
    ['anomaly', 'what happens', ...LEVELS],
    ...SCHEDULES.map(({ name, about }) => [name, about, ...LEVELS.map((level) => cell(`${name} ${level}`))]),
  ]
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((one, column) => one.padEnd(widths[column]!)).join(' | ')} |`
  const [head, ...body] = rows as [string[], ...string[][]]
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...body.map(line), ''].join('\n')
}

function cell(key: string): string {
  const verdicts = [...(found.get(key) ?? [])]
  if (verdicts.length !== 1) return 'differs'
  return verdicts[0] === 'prevented' ? 'prevented' : 'possible'
}
