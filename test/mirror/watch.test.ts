// A client that remembers the last checkpoint, over HTTP.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { LedgerRewritten } from '../../src/mirror/ledger-rewritten.js'
import { ledgerAt } from '../../src/mirror/ledger-at.js'
import { rootOf } from '../../src/verify/merkle.js'
import { LOG, sampleKey, sampleLedger, SampleLedger, signedCheckpoint } from '../verify/sample-ledger.js'
import { HostedLedger } from './hosted-ledger.js'

describe('ledger.watch', () => {
  const inFolder = async (act: (file: string) => Promise<void>): Promise<void> => {
    const folder = mkdtempSync(join(tmpdir(), 'seriatim-watch-'))
    try {
      await act(join(folder, 'last'))
    } finally {
      rmSync(folder, { recursive: true })
    }
  }
  const ledger = sampleLedger(600)

  test('accepts a ledger that grows, at every size, and remembers the last one', () =>
    inFolder(async (file) => {
      await using host = await HostedLedger.open(ledger.files(1))
      const watch = ledgerAt(host.address, { key: LOG.key }).watch(file)
      for (const size of [1, 2, 2, 7, 255, 256, 257, 512, 600]) {
        host.files = ledger.files(size)
        assert.equal((await watch.check()).size, size)
        assert.deepEqual(readFileSync(file), Buffer.from(host.files.get('checkpoint')!))
      }
      const tiles = host.asked.filter((path) => path.startsWith('tile/'))
      assert.ok(tiles.length <= 30, `${tiles.length} tiles for 8 steps`)
      assert.ok(!host.asked.some((path) => /entries|block/.test(path)))
    }))

  test('refuses a ledger that was restored from a backup and went on differently, with both checkpoints as evidence', () =>
    inFolder(async (file) => {
      await using host = await HostedLedger.open(ledger.files(300))
      const watch = ledgerAt(`${host.address}/ledger`, { key: LOG.key }).watch(file)
      await watch.check()
      const remembered = readFileSync(file, 'utf8')
      const fork = new SampleLedger()
      fork.blocks.push(...ledger.blocks.slice(0, 290))
      for (let block = 290; block < 400; block++) fork.commit({ other: `o${block}` })
      for (const [size, says] of [
        [400, /400 blocks do not begin with the 300 that it had before/],
        [300, /300 blocks do not begin with the 300/],
        [295, /it has 295 blocks, and had 300 before/],
      ] as const) {
        host.files = fork.files(size)
        await assert.rejects(watch.check(), (error: LedgerRewritten) => {
          assert.ok(error instanceof LedgerRewritten)
          assert.match(error.message, says)
          assert.equal(error.earlier, remembered)
          assert.match(error.later, new RegExp(`\n${size}\n`))
          return true
        })
      }
      assert.equal(readFileSync(file, 'utf8'), remembered, 'and it does not forget')
      host.files = ledger.files(301)
      assert.equal((await watch.check()).size, 301)
    }))

  test('refuses tiles that do not lead to both roots, another key, and a file that is not signed', () =>
    inFolder(async (file) => {
      await using host = await HostedLedger.open(ledger.files(300))
      const watch = ledgerAt(host.address, { key: LOG.key }).watch(file)
      await watch.check()
      const later = ledger.files(500)
      const tile = later.get('tile/0/001.p/244')!
      host.files = new Map(later).set('tile/0/001.p/244', tile.with(5, tile[5]! ^ 1))
      await assert.rejects(watch.check(), LedgerRewritten)
      host.files = new Map(later).set('tile/0/001.p/244', tile.subarray(32))
      await assert.rejects(watch.check(), /tile\/0\/001\.p\/244 is not a tile of its width/)
      host.files = new Map(later).set(
        'checkpoint',
        Buffer.from(signedCheckpoint(500, rootOf(ledger.leaves.slice(0, 499)))),
      )
      await assert.rejects(watch.check(), LedgerRewritten)
      const other = ledgerAt(host.address, { key: sampleKey('ledger.example/cars', 1).key })
      await assert.rejects(other.watch(`${file}2`).check(), /not signed by the key/)
      assert.ok(!existsSync(`${file}2`))
      writeFileSync(file, 'something')
      await assert.rejects(watch.check(), /last: not a signed note/)
    }))

  test('reads no more of an error than it tells: a server may send one without an end', () =>
    inFolder(async (file) => {
      const server = createServer((_, response) => {
        const more = (): void => {
          while (response.write('x'.repeat(65_536)));
        }
        response.writeHead(503).on('drain', more)
        more()
      })
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      try {
        const { port } = server.address() as AddressInfo
        const watch = ledgerAt(`http://127.0.0.1:${port}`, { key: LOG.key }).watch(file)
        await assert.rejects(watch.check(), /checkpoint answers 503/)
      } finally {
        server.closeAllConnections()
        await new Promise((resolve) => server.close(resolve))
      }
    }))

  test('says where nothing answers, and where there is no ledger', () =>
    inFolder(async (file) => {
      const host = await HostedLedger.open(new Map())
      const watch = ledgerAt(host.address, { key: LOG.key }).watch(file)
      await assert.rejects(watch.check(), /There is no ledger there/)
      await host[Symbol.asyncDispose]()
      await assert.rejects(watch.check(), /ledger\/checkpoint does not answer: .*ECONNREFUSED/)
    }))
})
