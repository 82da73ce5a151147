import assert from 'node:assert/strict'
import type { Principal } from '../../src/router/request/access.js'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { DynamoError } from '../../src/model/errors.js'
import { authOf, loadAuthFile, parseAuthFile, type AuthKey } from '../../src/server/access/auth.js'
import { createHash, createHmac } from 'node:crypto'

const key = { accessKeyId: 'A', secretAccessKey: 'the-secret', tables: ['*'], access: ['read'] }
const fileOf = (...keys: unknown[]): string => JSON.stringify({ keys })

test('auth file: a good one is read', () => {
  assert.deepEqual(parseAuthFile(fileOf(key, { ...key, accessKeyId: 'B', name: 'bob' }), 'f'), [
    key,
    { ...key, accessKeyId: 'B', name: 'bob' },
  ])
})

test('auth file: a bad one is refused with a sentence that shows the place and no secret', () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['{"keys":[{"secretAccessKey":"the-secret"', /^f: not valid JSON$/],
    ['null', /expected \{ "keys"/],
    ['[]', /expected \{ "keys"/],
    [fileOf(), /at least one key/],
    [fileOf(null), /keys\[0\] is not an object/],
    [fileOf({ ...key, accessKeyId: '' }), /keys\[0\]\.accessKeyId/],
    [fileOf({ ...key, accessKeyId: 'a/b' }), /keys\[0\]\.accessKeyId/],
    [fileOf(key, key), /keys\[1\]\.accessKeyId "A" occurs twice/],
    [fileOf({ ...key, secretAccessKey: 7 }), /keys\[0\]\.secretAccessKey/],
    [fileOf({ ...key, name: 7 }), /keys\[0\]\.name/],
    [fileOf({ ...key, tables: [] }), /keys\[0\]\.tables/],
    [fileOf({ ...key, tables: ['(a+)+$'] }), /keys\[0\]\.tables/],
    [fileOf({ ...key, tables: undefined }), /keys\[0\]\.tables/],
    [fileOf({ ...key, access: ['fly'] }), /keys\[0\]\.access/],
    [fileOf({ ...key, acess: ['read'] }), /unknown member "acess"/],
  ]
  for (const [text, message] of cases) {
    assert.throws(
      () => parseAuthFile(text, 'f'),
      (error: Error) => message.test(error.message) && !error.message.includes('the-secret'),
    )
  }
})

test('auth file: one that others can read is used with a warning, one that is absent is not', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'seriatim-auth-'))
  t.after(() => rm(folder, { recursive: true }))
  const path = join(folder, 'keys.json')
  await writeFile(path, fileOf(key))
  await chmod(path, 0o644)
  if (process.platform !== 'win32') {
    assert.match((await loadAuthFile(path)).warnings.join(), /can be read by other users .* chmod 600/)
  }
  await chmod(path, 0o600)
  assert.deepEqual((await loadAuthFile(path)).warnings, [])
  await assert.rejects(loadAuthFile(join(folder, 'absent')), /cannot read the file of keys/)
})

test('auth file: a principal may do what its key grants, on the tables of its key', () => {
  const orders = principal({ tables: ['orders-*', 'a.b', '*-log'], access: ['read', 'write'] })
  for (const table of ['orders-', 'orders-2025', 'a.b', 'x-log']) {
    assert.equal(orders.allows('read', table), true, table)
    assert.equal(orders.allows('write', table), true, table)
    assert.equal(orders.allows('admin', table), false, table)
  }
  for (const table of ['orders', 'my-orders-1', 'aXb', 'x-log2', '*']) {
    assert.equal(orders.allows('read', table), false, table)
  }
  assert.equal(principal({ tables: ['*'], access: ['admin'] }).allows('admin', 'anything'), true)
})

/** The principal of a request signed with that key. */
function principal(grant: Pick<AuthKey, 'tables' | 'access'>): Principal {
  const auth = authOf([{ accessKeyId: 'A', secretAccessKey: 's', ...grant }])
  const sha = (text: string): string => createHash('sha256').update(text).digest('hex')
  const scope = '20250601/r/dynamodb/aws4_request'
  const canonical = `POST\n/\n\nhost:h\n\nhost\n${sha('')}`
  let signature: string | Buffer = 'AWS4s'
  for (const part of [
    ...scope.split('/'),
    `AWS4-HMAC-SHA256\n20250601T000000Z\n${scope}\n${sha(canonical)}`,
  ]) {
    signature = createHmac('sha256', signature).update(part).digest()
  }
  const authorization = `AWS4-HMAC-SHA256 Credential=A/${scope}, SignedHeaders=host, Signature=${(signature as Buffer).toString('hex')}`
  const headers = { host: 'h', 'x-amz-date': '20250601T000000Z', authorization }
  const result = auth.authenticate(
    { method: 'POST', url: '/', headers },
    Buffer.alloc(0),
    Date.parse('2025-06-01T00:00:00Z'),
  )
  assert.ok(!(result instanceof DynamoError))
  return result
}
