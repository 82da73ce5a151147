import assert from 'node:assert/strict'
import { createHash, createHmac } from 'node:crypto'
import { test } from 'node:test'
import { DynamoDBClient, ListTablesCommand, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { DynamoError } from '../../src/model/errors.js'
import { authOf, type Auth } from '../../src/server/access/auth.js'
import { ask, requestOf, serve } from './support.js'

const KEY = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }
const auth: Auth = authOf([{ ...KEY, name: 'alice', tables: ['*'], access: ['read', 'write', 'admin'] }])
const NOW_MS = Date.parse('2025-06-01T12:00:00Z')
const BODY = Buffer.from('{"Limit":1}')

/** Signs by the letter of the specification, apart from the code under test. */
function signed(
  change: {
    readonly date?: string
    readonly scope?: string
    readonly secret?: string
    readonly names?: readonly string[]
    readonly payload?: string
    readonly headers?: Readonly<Record<string, string>>
  } = {},
): Record<string, string> {
  const date = change.date ?? '20250601T120000Z'
  const scope = change.scope ?? `${date.slice(0, 8)}/eu-west-1/dynamodb/aws4_request`
  const headers: Record<string, string> = {
    'content-type': 'application/x-amz-json-1.0',
    host: 'localhost:8000',
    'x-amz-date': date,
    'x-amz-target': 'DynamoDB_20120810.ListTables',
    ...change.headers,
  }
  const names = change.names ?? Object.keys(headers).toSorted()
  const sha = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex')
  const canonical = [
    'POST',
    '/',
    '',
    ...names.map(
      (name) => `${name}:${(Object.hasOwn(headers, name) ? headers[name]! : '').trim().replace(/ +/g, ' ')}`,
    ),
    '',
    names.join(';'),
    change.payload ?? sha(BODY),
  ].join('\n')
  const text = ['AWS4-HMAC-SHA256', date, scope, sha(canonical)].join('\n')
  let key: string | Buffer = `AWS4${change.secret ?? KEY.secretAccessKey}`
  for (const part of scope.split('/')) key = createHmac('sha256', key).update(part).digest()
  const signature = createHmac('sha256', key).update(text).digest('hex')
  const authorization = `AWS4-HMAC-SHA256 Credential=${KEY.accessKeyId}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`
  return { ...headers, authorization }
}

function outcome(headers: Record<string, string>, body = BODY, nowMs = NOW_MS): string {
  const result = auth.authenticate({ method: 'POST', url: '/', headers }, body, nowMs)
  return result instanceof DynamoError ? `${result.name}: ${result.message}` : result.name
}

const MISMATCH = /^InvalidSignatureException: The request signature we calculated does not match/

test('SigV4: a signed request is known by its key', () => {
  assert.equal(outcome(signed()), 'alice')
  assert.equal(outcome(signed()), 'alice', 'with the signing key remembered')
  assert.equal(outcome(signed({ scope: '20250601/anywhere/dynamodb/aws4_request' })), 'alice')
  assert.equal(outcome(signed({ headers: { 'x-amz-meta': '  a   b ' } })), 'alice')
  assert.equal(outcome({ ...signed(), 'x-amz-security-token': 'ignored' }), 'alice')
})

test('SigV4: the Date header will do where X-Amz-Date is missing', () => {
  const { 'x-amz-date': _, ...headers } = signed({ names: ['host', 'x-amz-target'] })
  assert.equal(outcome({ ...headers, date: 'Sun, 01 Jun 2025 12:00:00 GMT' }), 'alice')
})

test('SigV4: an altered body, header or signature does not match', () => {
  assert.match(outcome(signed(), Buffer.from('{"Limit":2}')), MISMATCH)
  assert.match(outcome({ ...signed(), 'x-amz-target': 'DynamoDB_20120810.DeleteTable' }), MISMATCH)
  assert.match(outcome({ ...signed(), host: 'other:8000' }), MISMATCH)
  assert.match(outcome({ ...signed(), 'x-amz-date': '20250601T120001Z' }), MISMATCH)
  assert.match(outcome(signed({ secret: 'guessed' })), MISMATCH)
  const headers = signed()
  const flipped = headers['authorization']!.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'))
  assert.match(outcome({ ...headers, authorization: flipped }), MISMATCH)
  assert.match(outcome({ ...headers, authorization: flipped.slice(0, -1) }), MISMATCH)
})

test('SigV4: a payload that was not signed is refused, and a lie about its hash too', () => {
  const unsigned = { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' }
  assert.match(outcome(signed({ headers: unsigned, payload: 'UNSIGNED-PAYLOAD' })), MISMATCH)
  const lie = createHash('sha256').update('other').digest('hex')
  assert.match(outcome(signed({ headers: { 'x-amz-content-sha256': lie }, payload: lie })), MISMATCH)
  const truth = createHash('sha256').update(BODY).digest('hex')
  assert.equal(outcome(signed({ headers: { 'x-amz-content-sha256': truth } })), 'alice')
})

test('SigV4: fifteen minutes of skew are allowed, a second more is not', () => {
  const minutes = 60_000
  assert.equal(outcome(signed(), BODY, NOW_MS + 15 * minutes), 'alice')
  assert.equal(outcome(signed(), BODY, NOW_MS - 15 * minutes), 'alice')
  assert.equal(
    outcome(signed(), BODY, NOW_MS + 15 * minutes + 1000),
    'InvalidSignatureException: Signature expired: 20250601T120000Z is now earlier than 20250601T120001Z (20250601T121501Z - 15 min.)',
  )
  assert.equal(
    outcome(signed(), BODY, NOW_MS - 15 * minutes - 1000),
    'InvalidSignatureException: Signature not yet current: 20250601T120000Z is still later than 20250601T115959Z (20250601T114459Z + 15 min.)',
  )
})

test('SigV4: host and target must be signed', () => {
  const withoutHost = signed({ names: ['x-amz-date', 'x-amz-target'] })
  assert.match(outcome(withoutHost), /^InvalidSignatureException: 'Host' must be a 'SignedHeader'/)
  const withoutTarget = signed({ names: ['host', 'x-amz-date'] })
  assert.match(outcome(withoutTarget), /^InvalidSignatureException: 'x-amz-target' must be a 'SignedHeader'/)
})

test('SigV4: the scope must be of this service and of the day of the date', () => {
  assert.match(outcome(signed({ scope: '20250601/r/s3/aws4_request' })), /correct service: 'dynamodb'/)
  assert.match(
    outcome(signed({ scope: '20250601/r/dynamodb/aws5' })),
    /valid terminator: 'aws4_request', not 'aws5'/,
  )
  assert.match(outcome(signed({ scope: '20250531/r/dynamodb/aws4_request' })), /'20250531' != '20250601'/)
  assert.match(outcome(signed({ scope: '20250601//dynamodb/aws4_request' })), /valid region/)
})

test('SigV4: an unknown key is not told from a known one but by its own exception', () => {
  const headers = signed()
  const authorization = headers['authorization']!.replace(KEY.accessKeyId, 'NOBODY')
  assert.equal(
    outcome({ ...headers, authorization }),
    'UnrecognizedClientException: The security token included in the request is invalid.',
  )
})

test('SigV4: a request without a signature, or with half of one, is told so', () => {
  const { authorization, ...headers } = signed()
  const missing = 'MissingAuthenticationTokenException: Request is missing Authentication Token'
  assert.equal(outcome(headers), missing)
  assert.equal(outcome({ ...headers, authorization: 'Basic YTpi' }), missing)
  const incomplete = /^IncompleteSignatureException: /
  for (const half of [
    'AWS4-HMAC-SHA256',
    'AWS4-HMAC-SHA256 ',
    'AWS4-HMAC-SHA256 Credential=a',
    'AWS4-HMAC-SHA256 nonsense, ===',
    authorization!.replace('Signature=', 'Sig='),
    authorization!.replace('AWS4-HMAC-SHA256', 'AWS4-HMAC-SHA1'),
    authorization!.replace('/aws4_request', ''),
  ]) {
    assert.match(outcome({ ...headers, authorization: half }), incomplete, half)
  }
  const { 'x-amz-date': _, ...undated } = headers
  assert.match(
    outcome({ ...undated, authorization: authorization! }),
    /existence of either a 'X-Amz-Date' or a 'Date'/,
  )
  for (const date of ['yesterday', '2025-06-01T12:00:00Z', '20251301T000000Z', '']) {
    assert.match(outcome({ ...headers, authorization: authorization!, 'x-amz-date': date }), incomplete, date)
  }
})

test('SigV4: signed headers with names of inherited members are harmless', () => {
  const names = ['__proto__', 'constructor', 'host', 'tostring', 'x-amz-date', 'x-amz-target']
  assert.equal(outcome(signed({ names })), 'alice')
})

test('SigV4: the official client is accepted with its secret and refused without', async (t) => {
  const server = await serve(t, { auth })
  const client = (secretAccessKey: string, systemClockOffset = 0): DynamoDBClient => {
    const made = new DynamoDBClient({
      endpoint: server.url,
      region: 'eu-central-1',
      credentials: { accessKeyId: KEY.accessKeyId, secretAccessKey, sessionToken: 'ignored' },
      maxAttempts: 1,
      systemClockOffset,
    })
    t.after(() => made.destroy())
    return made
  }
  const put = new PutItemCommand({ TableName: 'tücher', Item: { id: { S: 'ü'.repeat(100_000) } } })
  assert.equal((await client(KEY.secretAccessKey).send(put)).$metadata.httpStatusCode, 200)
  const list = new ListTablesCommand({})
  await assert.rejects(client('wrong').send(list), { name: 'InvalidSignatureException' })
  await assert.rejects(client(KEY.secretAccessKey, 16 * 60_000).send(list), {
    name: 'InvalidSignatureException',
  })
})

test('SigV4: with keys an unsigned request is refused, large ones unread, and any Host will do', async (t) => {
  const server = await serve(t, { auth })
  const small = await ask(t, server, requestOf({ headers: { host: 'db.example' } }))
  assert.equal(small.status, 400)
  assert.equal(small.json['__type'], 'com.amazon.coral.service#MissingAuthenticationTokenException')
  const large = await ask(t, server, requestOf({ headers: { 'content-length': '1000000' }, body: '' }))
  assert.equal(large.json['__type'], 'com.amazon.coral.service#MissingAuthenticationTokenException')
  const health = requestOf({ method: 'GET', path: '/health', headers: { host: 'db.example' }, body: '' })
  assert.equal((await ask(t, server, health)).status, 200)
})
