// A whole exported ledger: a true one is accepted, and every lie is refused and named.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import { type BlockEntry, decodeBlock, encodeBlock, type RevisionEntry } from '../../src/verify/block.js'
import { utf8 } from '../../src/verify/bytes.js'
import type { VerificationError } from '../../src/verify/error.js'
import { type VerifiedLedger, verifyLedger } from '../../src/verify/folder.js'
import { leafHash, rootOf } from '../../src/verify/merkle.js'
import { blockPath, encodeBundle } from '../../src/verify/tiles.js'
import { sized } from '../support/sizes.js'
import { LOG, sampleKey, sampleLedger, SampleLedger, signedCheckpoint } from './sample-ledger.js'

type Files = ReadonlyMap<string, Uint8Array>

const verified = (files: Files, { list = true, key = LOG.key } = {}): Promise<VerifiedLedger> =>
  verifyLedger({ read: (path) => files.get(path), ...(list && { list: () => files.keys() }) }, { key })

/** What is wrong with it, as `where: what`. */
async function problemsOf(files: Files): Promise<string[]> {
  const error = await verified(files).then(
    () => assert.fail('it was accepted'),
    (reason: VerificationError) => reason,
  )
  assert.equal(error.name, 'VerificationError', error.stack)
  return error.problems.map(
    ({ path, block, entry, message }) => `${path} ${block ?? '-'} ${entry ?? '-'}: ${message}`,
  )
}

/** A revision that follows none, a change, a delete, and a redaction. */
function fewBlocks(): SampleLedger {
  const ledger = new SampleLedger()
  ledger.commit({ a: 'ada' })
  ledger.commit({ a: 'bob', b: 'bob' })
  ledger.redact({ id: 'a', version: 0 })
  ledger.commit({ b: undefined })
  return ledger
}

describe('verify: an exported ledger', () => {
  test('is accepted, with what it holds, at every size and around the edges of tiles', async () => {
    for (const size of [0, 1, 2, 255, 256, 257, 512, 1030]) {
      const { checkpoint, filesBehind } = await verified(
        sampleLedger(size).files().set('index.html', utf8('hello')),
      )
      assert.deepEqual([checkpoint.size, filesBehind], [size, 0])
    }
    const { revisions, items, redactions } = await verified(sampleLedger(1030).files())
    assert.deepEqual({ revisions, items, redactions }, { revisions: 1373, items: 6, redactions: 1 })
  })

  test('tells its progress, and takes another hash', async () => {
    const files = sampleLedger(300).files()
    const progress: string[] = []
    let hashed = 0
    await verifyLedger(
      { read: (path) => Promise.resolve(files.get(path)) },
      {
        key: LOG.key,
        onProgress: (blocks, size) => progress.push(`${blocks}/${size}`),
        sha256: (bytes) => (hashed++, nodeSha256(bytes)),
      },
    )
    assert.deepEqual(progress, ['256/300', '300/300'])
    assert.ok(hashed > 900)
  })

  test('with any one byte changed is refused', async () => {
    const files = fewBlocks().files()
    const masks = sized([1], [1, 2, 4, 8, 16, 32, 64, 128])
    let tried = 0
    for (const [path, bytes] of files)
      for (let at = 0; at < bytes.length; at++)
        for (const mask of masks) {
          const wrong = new Uint8Array(bytes)
          wrong[at]! ^= mask
          const problems = await problemsOf(new Map(files).set(path, wrong))
          assert.ok(problems.length > 0)
          tried++
        }
    assert.ok(tried > 3000, `${tried} bytes`)
  })

  test('with a byte more or less, or without a file, is refused, and the file is named', async () => {
    const files = fewBlocks().files()
    for (const [path, bytes] of files) {
      const longer = new Uint8Array(bytes.length + 1)
      longer.set(bytes)
      for (const wrong of [bytes.subarray(0, -1), longer, new Uint8Array(0)])
        assert.ok(
          (await problemsOf(new Map(files).set(path, wrong))).some((problem) => problem.startsWith(path)),
        )
      const without = new Map(files)
      without.delete(path)
      assert.ok((await problemsOf(without)).some((problem) => problem.startsWith(path)))
    }
  })

  test('says what is wrong and where: header, entry, data, tile', async () => {
    const ledger = fewBlocks()
    const files = ledger.files()
    const changed = (path: string, from: string, to: string): Files => {
      const text = Buffer.from(files.get(path)!).toString('latin1')
      assert.ok(text.includes(from), from)
      return new Map(files).set(path, Buffer.from(text.replace(from, to), 'latin1'))
    }
    assert.deepEqual(await problemsOf(changed('tile/entries/000.p/4', '"tx":"tx-1"', '"tx":"tx-7"')), [
      'block/001 1 1: it has another transaction or time than its block',
      'block/001 1 2: it has another transaction or time than its block',
      'tile/entries/000.p/4 2 -: its header does not follow that of block 1, which has another hash',
      'tile/0/000.p/4 1 -: hash 1 is not that of the header of this block',
      'checkpoint - -: the root of its tree is not that of the 4 headers',
    ])
    assert.deepEqual(
      await problemsOf(changed('block/001', '"S":"a"},"owner":{"S":"bob"', '"S":"a"},"owner":{"S":"eve"')),
      ['block/001 1 1: the hash of its data is not the one that it has'],
    )
    assert.deepEqual(await problemsOf(changed('block/003', '"cause":"user"', '"cause":"usex"')), [
      'block/003 3 -: its entries are not those that its header commits to',
    ])
    const tile = new Uint8Array(files.get('tile/0/000.p/4')!)
    tile[70]! ^= 1
    assert.deepEqual(await problemsOf(new Map(files).set('tile/0/000.p/4', tile)), [
      'tile/0/000.p/4 2 -: hash 2 is not that of the header of this block',
    ])
  })

  test('with a middle block forged, and all hashes above it made anew, is refused by the signature', async () => {
    const forged = fewBlocks()
    forged.blocks.length = 0
    forged.commit({ a: 'ada' })
    const rest = new SampleLedger()
    rest.commit({ a: 'ada' })
    rest.commit({ a: 'eve', b: 'bob' })
    const files = new Map(rest.files()).set('checkpoint', fewBlocks().files(2).get('checkpoint')!)
    assert.ok((await problemsOf(files)).some((problem) => problem.startsWith('checkpoint - -: the root')))
  })

  test('with a middle block forged between right ends is refused, though its own hashes fit', async () => {
    const [ledger, other] = [sampleLedger(20), new SampleLedger()]
    for (const block of ledger.blocks.slice(0, 10)) other.blocks.push(block)
    other.commit({ eve: 'eve' })
    const files = ledger.files()
    const forged = other.blocks[10]!
    const headers = ledger.blocks.map(({ header }, at) => (at === 10 ? forged.header : header))
    files.set(blockPath(10), encodeBlock(forged.entries)).set('tile/entries/000.p/20', encodeBundle(headers))
    const problems = await problemsOf(files)
    for (const expected of [
      'tile/entries/000.p/20 11 -: its header does not follow that of block 10, which has another hash',
      'tile/0/000.p/20 10 -: hash 10 is not that of the header of this block',
      'checkpoint - -: the root of its tree is not that of the 20 headers',
    ])
      assert.ok(problems.includes(expected), expected)
    const tile = Buffer.from(files.get('tile/0/000.p/20')!)
    tile.set(leafHash(forged.header), 320)
    assert.ok((await problemsOf(files.set('tile/0/000.p/20', tile))).at(-1)!.startsWith('checkpoint'))
  })

  test('with blocks or hashes exchanged is refused', async () => {
    const files = sampleLedger(6).files()
    const [one, two] = [files.get('block/002')!, files.get('block/003')!]
    const problems = await problemsOf(new Map(files).set('block/002', two).set('block/003', one))
    assert.ok(problems.some((problem) => problem.startsWith('block/002 2 -: it has')))
    const tile = Buffer.from(files.get('tile/0/000.p/6')!)
    const swapped = Buffer.concat([tile.subarray(32, 64), tile.subarray(0, 32), tile.subarray(64)])
    assert.equal((await problemsOf(new Map(files).set('tile/0/000.p/6', swapped))).length, 2)
  })

  test('of another ledger, another key or another size is refused', async () => {
    const ledger = sampleLedger(9)
    const files = ledger.files()
    await assert.rejects(
      verified(files, { key: sampleKey('ledger.example/cars', 3).key }),
      /^VerificationError: checkpoint: .*not signed/,
    )
    const root = rootOf(ledger.leaves)
    for (const size of [8, 10])
      assert.ok(
        (await problemsOf(new Map(files).set('checkpoint', utf8(signedCheckpoint(size, root))))).length > 0,
      )
    await assert.rejects(verified(new Map()), /checkpoint: not a signed note/)
  })

  test('with what a restored backup went on with is refused against the checkpoint of before', async () => {
    const [ledger, fork] = [sampleLedger(9), new SampleLedger()]
    fork.blocks.push(...ledger.blocks.slice(0, 4))
    for (let at = 4; at < 9; at++) fork.commit({ other: `o${at}` })
    const files = fork.files().set('checkpoint', ledger.files().get('checkpoint')!)
    assert.ok((await problemsOf(files)).some((problem) => problem.startsWith('checkpoint')))
  })

  test('that signs a wrong chain of versions is refused: a ledger that lies is not believed', async () => {
    const made = (build: (ledger: SampleLedger) => void): Files => {
      const ledger = new SampleLedger()
      ledger.commit({ a: 'ada' })
      ledger.commit({ a: 'bob' })
      build(ledger)
      return ledger.files()
    }
    const revision =
      (change: Partial<RevisionEntry>) =>
      (entry: BlockEntry): BlockEntry =>
        ({ ...entry, ...change }) as BlockEntry
    for (const [says, build] of [
      [
        'it is version 5 of its item, and should be 2',
        (it: SampleLedger) => it.commit({ a: 'x' }, revision({ version: 5 })),
      ],
      [
        'it does not follow version 1 of its item: that has another hash',
        (it: SampleLedger) => it.commit({ a: 'x' }, revision({ previous: null })),
      ],
      [
        'INSERT of an item that was there',
        (it: SampleLedger) => it.commit({ a: 'x' }, revision({ event: 'INSERT' })),
      ],
      [
        'MODIFY of an item that was not there',
        (it: SampleLedger) => it.commit({ c: 'x' }, revision({ event: 'MODIFY' })),
      ],
      [
        'it is not an entry of a block',
        (it: SampleLedger) => it.commit({ c: undefined }, revision({ event: 'INSERT' })),
      ],
      [
        'it has another transaction or time than its block',
        (it: SampleLedger) => it.commit({ c: 'x' }, revision({ tx: 'y' })),
      ],
      [
        'it redacts entry 1 of block 1, which is the current version of its item',
        (it: SampleLedger) => it.redact({ id: 'a', version: 1 }),
      ],
    ] as const)
      assert.deepEqual(await problemsOf(made(build)), [`block/002 2 1: ${says}`])
    assert.deepEqual(await problemsOf(made((ledger) => ledger.forget(0, 1))), [
      'block/000 0 1: its data is missing, and no block has redacted it',
    ])
    const other = (entry: BlockEntry): BlockEntry => ({ ...entry, version: 1 })
    assert.deepEqual(await problemsOf(made((ledger) => ledger.redact({ id: 'a', version: 0 }, other))), [
      'block/002 2 1: it redacts entry 1 of block 0, but names another revision',
    ])
    assert.deepEqual(
      await problemsOf(
        made((ledger) => {
          const { entries } = ledger.blocks[0]!
          ledger.redact({ id: 'a', version: 0 })
          ledger.blocks[0] = { ...ledger.blocks[0]!, entries }
        }),
      ),
      ['block/002 2 1: it redacts entry 1 of block 0, which has its data, or never had any'],
    )
  })

  test('with two newest versions of one item is refused: the second does not follow the first', async () => {
    const ledger = new SampleLedger()
    ledger.commit({ a: 'ada' })
    ledger.commit({ a: 'bob' })
    const { entries } = ledger.blocks[1]!
    const bob = JSON.parse(Buffer.from(entries[1]!.bytes).toString()) as RevisionEntry
    ledger.commit({ a: 'eve' }, (entry) => ({ ...entry, version: 1, previous: bob.previous }))
    assert.deepEqual(await problemsOf(ledger.files()), [
      'block/002 2 1: it is version 1 of its item, and should be 2',
    ])
  })

  test('has its narrower tiles of earlier exports checked, and files behind the checkpoint counted', async () => {
    const ledger = sampleLedger(300)
    const files = new Map([...ledger.files(20), ...ledger.files(258), ...ledger.files(300)])
    const { filesBehind } = await verified(files)
    assert.equal(filesBehind, 0)
    for (const path of ['tile/0/000.p/20', 'tile/entries/000.p/20', 'tile/entries/001.p/2'])
      for (const change of [
        (bytes: Uint8Array) => bytes.with(40, bytes[40]! ^ 1),
        (bytes: Uint8Array) => bytes.subarray(0, -1),
        (bytes: Uint8Array) => bytes.subarray(0, 0),
      ]) {
        const problems = await problemsOf(new Map(files).set(path, change(files.get(path)!)))
        assert.match(problems.join(), new RegExp(`^${path} .*begins with`))
      }
    const early = new Map(files).set('checkpoint', ledger.files(299).get('checkpoint')!)
    for (const [path, bytes] of ledger.files(299)) early.set(path, bytes)
    assert.equal((await verified(early)).filesBehind, 3)
  })

  test('with more problems than are told ends early', async () => {
    const files = sampleLedger(30).files()
    for (let block = 0; block < 30; block++) files.delete(blockPath(block))
    const error = await verifyLedger(
      { read: (path) => files.get(path) },
      { key: LOG.key, problemsMax: 5 },
    ).catch((reason: VerificationError) => reason)
    assert.equal((error as VerificationError).problems.length, 5)
    assert.match(
      (error as VerificationError).message,
      /^block 0, block\/000: missing \(and 4 more problems\)$/,
    )
  })

  test('may have half a block file, which is told', async () => {
    const files = sampleLedger(3).files()
    const entries = decodeBlock(files.get('block/001')!)
    const problems = await problemsOf(new Map(files).set('block/001', encodeBlock(entries.slice(0, 1))))
    assert.deepEqual(problems, [
      'block/001 1 -: it has 1 entries, its header says 2',
      'block/001 1 -: its entries are not those that its header commits to',
    ])
  })
})

/** Node's SHA-256. */
function nodeSha256(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(createHash('sha256').update(bytes).digest())
}
