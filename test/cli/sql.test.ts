import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { processEnvironment } from '../../src/cli/process-environment.js'
import { run } from '../../src/cli/run.js'
import { tableLines } from '../../src/cli/sql/sql-table.js'
import { open } from '../../src/store/store.js'

const MAIN = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))

async function sql(...args: readonly string[]): Promise<{ code: number; out: string; errors: string }> {
  const out: string[] = []
  const errors: string[] = []
  const world = {
    ...processEnvironment(),
    print: (line: string) => void out.push(line),
    printError: (line: string) => void errors.push(line),
  }
  const code = await run(['sql', ...args], world)
  return { code, out: out.join('\n'), errors: errors.join('\n') }
}

async function served(): Promise<{ url: string; [Symbol.asyncDispose](): Promise<void> }> {
  const store = await open({ memory: true })
  await store.call('CreateTable', {
    TableName: 'Music',
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [
      { AttributeName: 'artist', AttributeType: 'S' },
      { AttributeName: 'year', AttributeType: 'N' },
    ],
    KeySchema: [
      { AttributeName: 'artist', KeyType: 'HASH' },
      { AttributeName: 'year', KeyType: 'RANGE' },
    ],
  })
  const server = await store.listen({ port: 0 })
  return { url: server.url, [Symbol.asyncDispose]: () => store.close() }
}

test('cli: sql runs a statement and prints its rows as a table', async () => {
  await using server = await served()
  const at = ['--endpoint', server.url]
  assert.deepEqual(
    await sql(...at, `INSERT INTO Music VALUE {'artist': 'Nina', 'year': 1965, 'tags': <<'a'>>}`),
    {
      code: 0,
      out: '(0 rows)',
      errors: '',
    },
  )
  const { code, out } = await sql(...at, `SELECT * FROM Music WHERE artist = 'Nina';`)
  assert.equal(code, 0)
  assert.equal(out, 'artist | year | tags\n-------+------+------\nNina   | 1965 | ["a"]\n(1 row)')
})

test('cli: sql tells what is refused, and ends with 1; wrong usage ends with 2', async () => {
  await using server = await served()
  const failed = await sql('--endpoint', server.url, 'SELECT * FROM Music WHERE')
  assert.equal(failed.code, 1)
  assert.match(failed.errors, /^ValidationException: .*Unexpected term/)
  const strict = await sql('--endpoint', server.url, '--strict', 'SELECT * FROM Music')
  assert.match(strict.errors, /A strict statement does not read all of Music/)
  assert.equal((await sql('SELECT 1')).code, 2)
  assert.equal((await sql('--endpoint', 'nowhere', 'x')).code, 2)
})

test('cli: sql reads statements of several lines and \\d from its input', async () => {
  await using server = await served()
  const child = spawn(process.execPath, [MAIN, 'sql', '--endpoint', server.url], {
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const outputs = Promise.all([text(child.stdout), text(child.stderr)])
  child.stdin.end(
    `\\d\n\\d Music\nINSERT INTO Music\n  VALUE {'artist': 'Odetta', 'year': 1956};\n` +
      `SELECT artist FROM Music WHERE artist = 'Odetta';\nSELECT "year" FROM Music WHERE artist = 'Odetta'\n`,
  )
  const [code] = (await once(child, 'exit')) as [number]
  const [out, errors] = await outputs
  assert.equal(errors.replaceAll(/.*Warning[\s\S]*/g, ''), '')
  assert.equal(code, 0)
  assert.match(
    out,
    /^Music\nMusic: artist S HASH, year N RANGE; 0 items\n\(0 rows\)\nartist\n------\nOdetta\n\(1 row\)\nyear\n/,
  )
})

test('cli: sql shows attributes that only some rows have, and no control characters', () => {
  assert.deepEqual(tableLines([{ a: { S: 'x\u001b[2J' } }, { b: { N: '12' } }]), [
    'a     | b',
    '------+---',
    'x·[2J |',
    '      | 12',
    '(2 rows)',
  ])
  assert.deepEqual(tableLines([]), ['(0 rows)'])
})
