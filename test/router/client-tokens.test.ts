import assert from 'node:assert/strict'
import { anyone } from '../../src/router/request/access.js'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { ClientToken } from '../../src/coordinator/coordinator.js'
import type { RequestScope, RouterContext } from '../../src/router/request/context.js'
import { canonical, tokenOf } from '../../src/router/transactions/client-tokens.js'

let deferred = 0
const context = {
  runtime: {
    defer: (callback: () => void) => {
      deferred++
      callback()
    },
  },
} as unknown as RouterContext
const scope = { principal: anyone } as unknown as RequestScope
const named = { actions: [{ tableName: 'Things', mutation: { kind: 'put' } }] }

const hashed = async (payload: readonly unknown[], textOf?: (part: unknown) => string): Promise<string> =>
  ((await tokenOf(context, scope, { ClientRequestToken: 'token' }, named, payload, textOf)) as ClientToken)
    .payloadHash

const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64url')

/** As tokens of earlier versions were hashed: a request that is sent again over an upgrade has the same. */
const asBefore = (payload: unknown): string =>
  JSON.stringify(payload, (_, value: unknown) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    return Object.entries(value)
      .filter(([, member]) => member !== null)
      .toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  })

test('client tokens: a request has the same hash in one piece and in many, and as it had before', async () => {
  const payloads = fc.array(fc.oneof(fc.jsonValue(), fc.array(fc.jsonValue()), fc.constant(undefined)))
  await fc.assert(
    fc.asyncProperty(payloads, async (payload) => {
      assert.equal(canonical(payload), asBefore(payload))
      assert.equal(await hashed(payload), sha256(asBefore(payload)))
      assert.equal(await hashed(payload, JSON.stringify), sha256(JSON.stringify(payload)))
    }),
  )
})

test('client tokens: the hash of megabytes is made in several turns, that of a small request in none', async () => {
  deferred = 0
  await hashed([{ Put: { Item: { id: { S: 'small' } } } }])
  assert.equal(deferred, 0)
  const large = Array.from({ length: 40 }, (_, at) => ({
    Put: { Item: { id: { S: `${at}`.repeat(50_000) } } },
  }))
  assert.equal(await hashed(large), sha256(asBefore(large)))
  assert.ok(deferred >= 10)
})
