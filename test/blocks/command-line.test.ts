// The ledger from the command line, whole: a server, its history and proofs, an export, and the check of both by the verifier.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { run } from '../../src/cli/run.js'
import { testWorld } from '../cli/test-world.js'
import { testFolder } from '../support/folder.js'
import { ledgerTable, openLedger, own } from './support.js'

test('seriatim ledger: digest, block, history, prove, redact, export and verify of a running server', async (t) => {
  const { dynamodb, store, url } = await openLedger(t)
  const folder = testFolder()
  const command = async (
    ...args: readonly string[]
  ): Promise<{ code: number; out: string; errors: string }> => {
    const { world, out, errors } = testWorld()
    const code = await run(['ledger', ...args], world)
    return { code, out: out.join('\n'), errors: errors.join('\n') }
  }
  const at = ['--endpoint', url]
  await dynamodb.createTable(ledgerTable('Cars'))
  for (let n = 0; n < 300; n++) await own(dynamodb, 'Cars', `v${n % 5}`, `owner ${n}`)
  const { key } = await store.ledger.digest()
  const item = ['Cars', '{"vin":{"S":"v1"}}']

  const digest = await command('digest', ...at)
  assert.deepEqual(digest.out.split('\n').slice(1, 2), ['301'])
  assert.equal(digest.out.split('\n').at(-1), key)
  assert.match((await command('block', '1', ...at)).out, /"SequenceNumber": 1/)
  assert.equal((await command('history', ...item, ...at)).out.split('\n').length, 60)
  assert.match(
    (await command('redact', ...item, '--version', '3', ...at)).out,
    /^version 3 is redacted; block 301/,
  )
  assert.match((await command('redact', ...item, '--version', '59', ...at)).errors, /is the current one/)
  assert.match((await command('history', 'Cars', 'v1', ...at)).errors, /the key of an item is JSON/)

  for (const version of ['3', '59']) {
    const proof = await command('prove', ...item, '--version', version, ...at)
    writeFileSync(join(folder, 'proof'), `${proof.out}\n`)
    const verified = await command('verify', join(folder, 'proof'), '--key', key)
    assert.equal(verified.code, 0, verified.errors)
  }
  const copy = join(folder, 'copy')
  const exported = await command('export', copy, ...at, '--key', key)
  assert.equal(exported.code, 0, exported.errors)
  const verified = await command('verify', copy, '--key', key)
  assert.equal(verified.code, 0, verified.errors)
  assert.match(verified.out, /302 blocks/)
})
