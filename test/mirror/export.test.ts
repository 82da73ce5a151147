// A ledger as a folder: whole, resumable, and with what was redacted since removed.
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { describe, test } from 'node:test'
import { LedgerRewritten } from '../../src/mirror/ledger-rewritten.js'
import { ledgerAt } from '../../src/mirror/ledger-at.js'
import { verifyLedger } from '../../src/verify/folder.js'
import { LOG, sampleLedger, SampleLedger } from '../verify/sample-ledger.js'
import { HostedLedger } from './hosted-ledger.js'

const filesIn = (folder: string): Map<string, Uint8Array> =>
  new Map(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => statSync(join(folder, path)).isFile())
      .map((path) => [relative('.', path), new Uint8Array(readFileSync(join(folder, path)))]),
  )

const verified = (files: ReadonlyMap<string, Uint8Array>): Promise<unknown> =>
  verifyLedger({ read: (path) => files.get(path), list: () => files.keys() }, { key: LOG.key })

describe('ledger export', () => {
  const exporting = async (
    ledger: SampleLedger,
    act: (
      host: HostedLedger,
      folder: string,
      run: () => Promise<{ readonly filesWritten: number }>,
    ) => Promise<void>,
  ): Promise<void> => {
    const folder = mkdtempSync(join(tmpdir(), 'seriatim-export-'))
    await using host = await HostedLedger.open(ledger.files())
    try {
      await act(host, folder, () => ledgerAt(host.address, { key: LOG.key }).export(folder))
    } finally {
      rmSync(folder, { recursive: true })
    }
  }

  test('is every file that the ledger has, and nothing else', () =>
    exporting(sampleLedger(300), async (host, folder, run) => {
      const { filesWritten } = await run()
      assert.deepEqual(
        filesIn(folder),
        new Map([...host.files].map(([path, bytes]) => [path, new Uint8Array(bytes)])),
      )
      assert.equal(filesWritten, host.files.size)
      assert.equal((await run()).filesWritten, 0, 'and nothing is written twice')
    }))

  test('into a folder that has one already writes only what is new', () => {
    const ledger = sampleLedger(300)
    return exporting(ledger, async (host, folder, run) => {
      await run()
      for (let at = 0; at < 10; at++) ledger.commit({ 'car-1': `later-${at}` })
      host.files = ledger.files()
      const asked = host.asked.length
      await run()
      assert.deepEqual(host.asked.slice(asked).filter((path) => path.startsWith('block/')).length, 10)
      await verified(filesIn(folder))
    })
  })

  test('that was ended goes on where it was, also past files that a power cut has emptied', () =>
    exporting(sampleLedger(300), async (host, folder, run) => {
      let left = 100
      host.onAsked = () => {
        if (left-- === 0) host.files = new Map()
      }
      const whole = host.files
      await assert.rejects(run(), /is missing/)
      const first = filesIn(folder)
      assert.ok(first.size > 50 && !first.has('checkpoint'), `${first.size} files`)
      writeFileSync(join(folder, 'block/007'), '')
      writeFileSync(join(folder, 'tile/0/000'), '')
      host.files = whole
      const asked = host.asked.length
      await run()
      assert.ok(host.asked.length - asked < 270)
      await verified(filesIn(folder))
    }))

  test('loses the data that was redacted since', () => {
    const ledger = sampleLedger(20)
    return exporting(ledger, async (host, folder, run) => {
      await run()
      const before = filesIn(folder).get('block/003')!
      ledger.redact({ id: 'car-3', version: 0 })
      host.files = ledger.files()
      await run()
      const after = filesIn(folder)
      assert.ok(after.get('block/003')!.length < before.length)
      assert.ok(!Buffer.from(after.get('block/003')!).includes('owner-3'))
      await verified(after)
    })
  })

  test('of data that is redacted meanwhile has the block that says so, too', () => {
    const ledger = sampleLedger(20)
    return exporting(ledger, async (host, folder, run) => {
      host.onAsked = (path) => {
        if (path !== 'tile/entries/000.p/20') return
        host.onAsked = () => {}
        ledger.redact({ id: 'car-3', version: 0 })
        const later = ledger.files()
        // Tiles of the earlier size stay.
        host.files = new Map([...host.files, ...later])
      }
      await run()
      const files = filesIn(folder)
      assert.match(Buffer.from(files.get('checkpoint')!).toString(), /\n21\n/)
      await verified(files)
    })
  })

  test('into the export of another past is refused, and changes nothing', () => {
    const ledger = sampleLedger(20)
    return exporting(ledger, async (host, folder, run) => {
      await run()
      const before = filesIn(folder)
      const fork = new SampleLedger()
      fork.blocks.push(...ledger.blocks.slice(0, 15))
      for (let at = 15; at < 30; at++) fork.commit({ other: `o${at}` })
      host.files = fork.files()
      await assert.rejects(run(), LedgerRewritten)
      assert.deepEqual(filesIn(folder), before)
    })
  })

  test('of a block that is not what its header says is refused, and the block is named', () =>
    exporting(sampleLedger(20), async (host, _, run) => {
      const block = host.files.get('block/004')!
      host.files = new Map(host.files).set('block/004', block.with(30, block[30]! ^ 1))
      await assert.rejects(run(), /block 4/)
    }))
})
