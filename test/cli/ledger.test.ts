// seriatim ledger: export, verify, watch and cosign, as commands.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { run } from '../../src/cli/run.js'
import { HostedLedger } from '../mirror/hosted-ledger.js'
import { LOG, sampleKey, sampleLedger, SampleLedger } from '../verify/sample-ledger.js'
import { testWorld } from './test-world.js'

describe('seriatim ledger', () => {
  const ledger = sampleLedger(30)
  let folder: string
  let host: HostedLedger
  const command = async (
    ...args: readonly string[]
  ): Promise<{ code: number; out: string; errors: string }> => {
    const { world, out, errors } = testWorld()
    const code = await run(['ledger', ...args], world)
    const told = errors.filter((line) => !line.endsWith('of 30 blocks'))
    return { code, out: out.join('\n'), errors: told.join('\n') }
  }

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'seriatim-ledger-'))
    host = await HostedLedger.open(ledger.files())
    writeFileSync(join(folder, 'key'), `${LOG.key}\n`)
    writeFileSync(join(folder, 'proof'), ledger.proof(3, 1))
  })
  after(async () => {
    await host[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true })
  })

  test('exports a ledger to a folder, and verifies it offline', async () => {
    const copy = join(folder, 'copy')
    const exported = await command('export', copy, '--endpoint', host.address, '--key', join(folder, 'key'))
    assert.deepEqual(exported, {
      code: 0,
      out: `${copy}: 30 blocks of ledger.example/cars, 33 files written`,
      errors: '',
    })
    const verified = await command('verify', copy, '--key', LOG.key)
    assert.deepEqual(verified, {
      code: 0,
      out: 'ledger.example/cars: all 30 blocks are as the checkpoint says: 39 revisions of 6 items, 1 redactions',
      errors: '',
    })
    const { out } = await command('verify', copy, '--key', LOG.key, '--json')
    const { size, revisions } = JSON.parse(out) as { size: number; revisions: number }
    assert.deepEqual([size, revisions], [30, 39])
  })

  test('says what is wrong with an export, and where', async () => {
    const copy = join(folder, 'damaged')
    await command('export', copy, '--endpoint', host.address, '--key', LOG.key)
    const block = readFileSync(join(copy, 'block/008'))
    writeFileSync(
      join(copy, 'block/008'),
      Buffer.from(block.toString('latin1').replace('owner-8', 'owner-9'), 'latin1'),
    )
    assert.deepEqual(await command('verify', copy, '--key', LOG.key), {
      code: 1,
      out: '',
      errors:
        'seriatim ledger verify: block 8, entry 1, block/008: the hash of its data is not the one that it has\n' +
        `seriatim ledger verify: ${copy} is not what it should be`,
    })
  })

  test('verifies one proof, a file', async () => {
    const proof = join(folder, 'proof')
    const { code, out } = await command('verify', proof, '--key', LOG.key)
    assert.equal(code, 0)
    assert.match(
      out,
      /^ledger\.example\/cars: block 3 of 30, committed at .* has version 0 of Cars \{"id":\{"S":"car-3"\}\}, INSERT, \{.*"owner-3"/,
    )
    const wrong = await command('verify', proof, '--key', sampleKey('ledger.example/cars', 5).key)
    assert.equal(wrong.code, 1)
    assert.match(wrong.errors, /not signed by the key/)
  })

  test('watches a server, and shows both checkpoints when it has rewritten the past', async () => {
    const last = join(folder, 'last')
    const watch = (): ReturnType<typeof command> =>
      command('watch', last, '--endpoint', host.address, '--key', LOG.key)
    assert.deepEqual(await watch(), {
      code: 0,
      out: 'ledger.example/cars: 30 blocks, and none of those seen before has changed',
      errors: '',
    })
    const fork = new SampleLedger()
    for (let block = 0; block < 31; block++) fork.commit({ other: `o${block}` })
    const files = host.files
    host.files = fork.files()
    const { code, out, errors } = await watch()
    host.files = files
    assert.equal(code, 1)
    assert.match(errors, /ledger\.example\/cars has rewritten its past/)
    assert.match(out, /\n30\n[^]*\n31\n/)
  })

  test('says how it is used', async () => {
    assert.match((await command('--help')).out, /seriatim ledger verify/)
    assert.match((await command('export', '--help')).out, /^seriatim ledger export DIR/)
    for (const [args, says] of [
      [[], /give one of the commands .*export, verify/],
      [['other'], /not 'other'/],
      [['verify'], /give the folder/],
      [['verify', '.'], /--key KEY/],
      [['verify', '.', '--key', 'nothing'], /neither a public key nor a file/],
      [['verify', '.', '--key', LOG.key.replace('+', '+0')], /--key/],
      [['export', 'x', '--key', LOG.key], /give --endpoint URL/],
      [['export', 'x', '--key', LOG.key, '--endpoint', 'host'], /must be a URL/],
      [['watch', '--key', LOG.key], /give the file/],
      [['cosign', '--key', LOG.key, '--endpoint', 'http://127.0.0.1:1'], /at least one --witness/],
      [['witness'], /give --path DIR/],
      [['verify', '.', '--key', LOG.key, '--quorum', 'x'], /whole number/],
    ] as const) {
      const { code, errors } = await command(...args)
      assert.equal(code, 2, args.join(' '))
      assert.match(errors, says)
    }
  })
})
