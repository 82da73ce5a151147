// Proofs of a revision and of a block, as a stranger checks them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type RevisionEntry } from '../../src/verify/block.js'
import { base64 } from '../../src/verify/bytes.js'
import { rootOf } from '../../src/verify/merkle.js'
import { consistencyPath, stretchHash, subtreesFrom } from '../../src/verify/paths.js'
import {
  formatProofFile,
  parseProofFile,
  verifyBlock,
  verifyConsistency,
  verifyProof,
} from '../../src/verify/proof.js'
import { encodeBlock } from '../../src/verify/block.js'
import { LOG, sampleKey, sampleLedger, SampleLedger, signedCheckpoint } from './sample-ledger.js'

const trust = { key: LOG.key }
const ledger = sampleLedger(12)

test('verify: a proof shows a revision, its item, its block and the checkpoint', async () => {
  const { checkpoint, header, entry, item } = await verifyProof(ledger.proof(3, 1), trust)
  assert.equal(checkpoint.size, 12)
  assert.equal(header.block, 3)
  assert.equal((entry as RevisionEntry).version, 0)
  assert.deepEqual(item, { id: { S: 'car-3' }, owner: { S: 'owner-3' } })
})

test('verify: every entry of every block has a proof, at every size of the ledger that has it', async () => {
  for (let size = 1; size <= 12; size++)
    for (let block = 0; block < size; block++)
      for (const [at] of ledger.blocks[block]!.entries.entries())
        assert.equal((await verifyProof(ledger.proof(block, at, size), trust)).header.block, block)
})

test('verify: a proof of a block alone, of a delete and of a redacted revision has no item', async () => {
  assert.equal((await verifyProof(ledger.proof(3), trust)).entry, undefined)
  const gone = await verifyProof(ledger.proof(5, 1), trust)
  assert.deepEqual([(gone.entry as RevisionEntry).event, gone.item], ['REMOVE', undefined])
  const redacted = await verifyProof(ledger.proof(1, 1), trust)
  assert.deepEqual([(redacted.entry as RevisionEntry).event, redacted.item], ['INSERT', undefined])
})

test('verify: a proof with any one byte changed is refused', async () => {
  const proof = Buffer.from(ledger.proof(3, 1))
  for (let at = 0; at < proof.length; at++)
    for (const mask of [1, 0x20]) {
      const wrong = Buffer.from(proof)
      wrong[at]! ^= mask
      await assert.rejects(
        verifyProof(wrong.toString('utf8'), trust),
        { name: 'VerificationError' },
        `byte ${at}`,
      )
    }
})

test('verify: a proof with siblings exchanged, of another size, place or ledger is refused', async () => {
  const { extra, index, path, checkpoint } = parseProofFile(ledger.proof(3, 1))
  const made = (change: Partial<ReturnType<typeof parseProofFile>>): string =>
    formatProofFile({ extra: extra!, index, path, checkpoint, ...change })
  await verifyProof(made({}), trust)
  const root = rootOf(ledger.leaves)
  for (const [wrong, says] of [
    [made({ path: [path[1]!, path[0]!, ...path.slice(2)] }), /leads to another root/],
    [made({ path: path.slice(0, -1) }), /leads to another root/],
    [made({ index: 2 }), /leads to another root/],
    [made({ index: 300 }), /leads to another root/],
    [made({ checkpoint: signedCheckpoint(8, root) }), /leads to another root/],
    [made({ checkpoint: signedCheckpoint(17, root) }), /leads to another root/],
    [made({ checkpoint: signedCheckpoint(12, root, sampleKey('ledger.example/cars', 9)) }), /not signed by/],
    [formatProofFile({ index, path, checkpoint }), /header of the block in its extra line/],
    ['', /not a proof/],
  ] as const)
    await assert.rejects(verifyProof(wrong, trust), says)
})

test('verify: data without its salt, or of another revision, is refused', async () => {
  const proof = parseProofFile(ledger.proof(3, 1))
  const extra = JSON.parse(Buffer.from(proof.extra!).toString()) as Record<string, string>
  const other = JSON.parse(Buffer.from(parseProofFile(ledger.proof(4, 1)).extra!).toString()) as {
    data: string
  }
  const withData = (data: string): string =>
    formatProofFile({ ...proof, extra: Buffer.from(JSON.stringify({ ...extra, data })) })
  await verifyProof(withData(extra['data']!), trust)
  const unsalted = Buffer.from(extra['data']!, 'base64').subarray(16).toString('base64')
  for (const data of [unsalted, other.data, base64(new Uint8Array(16))])
    await assert.rejects(verifyProof(withData(data), trust), /its hash is another/)
})

test('verify: consistency of two checkpoints is shown, and a rewritten past is refused', async () => {
  const at = (size: number, of = ledger): string => signedCheckpoint(size, rootOf(of.leaves.slice(0, size)))
  const path = (old: number, size: number, of = ledger): string[] =>
    consistencyPath(old, size).map((stretch) => base64(stretchHash(stretch, subtreesFrom(of.leaves))))
  const { earlier, later } = await verifyConsistency(at(5), at(12), path(5, 12), trust)
  assert.deepEqual([earlier.size, later.size], [5, 12])
  await verifyConsistency(at(12), at(12), [], trust)
  await verifyConsistency(at(0), at(12), [], trust)
  // A backup of 4 blocks was restored, and other transactions followed.
  const fork = new SampleLedger()
  fork.blocks.push(...ledger.blocks.slice(0, 4))
  for (let block = 4; block < 13; block++) fork.commit({ other: `owner-${block}` })
  const rewritten = /does not begin with the one of 5 blocks/
  await assert.rejects(verifyConsistency(at(5), at(13, fork), path(5, 13, fork), trust), rewritten)
  await assert.rejects(verifyConsistency(at(5), at(12, fork), path(5, 12), trust), rewritten)
  await assert.rejects(verifyConsistency(at(5), at(5, fork), [], trust), rewritten)
  await assert.rejects(verifyConsistency(at(12), at(5), path(5, 12), trust), /does not begin/)
  await assert.rejects(verifyConsistency(at(5), at(12), ['x'], trust), /is of hashes/)
})

test('verify: the entries of a block are those of its header, and none else', () => {
  const { header, entries } = ledger.blocks[3]!
  const checked = verifyBlock(header, encodeBlock(entries))
  assert.deepEqual(
    checked.map(({ entry }) => entry.kind),
    ['info', 'revision', 'revision'],
  )
  assert.throws(() => verifyBlock(header, encodeBlock(entries.slice(1))), /has 2 entries, not 3/)
  assert.throws(() => verifyBlock(header, encodeBlock(entries.toReversed())), /not those of its header/)
  assert.throws(
    () => verifyBlock(header, encodeBlock(entries.map(({ bytes }) => ({ bytes, data: new Uint8Array(20) })))),
    /its hash is another/,
  )
  assert.throws(() => verifyBlock(header, encodeBlock(entries).subarray(0, -1)), /ends within an entry/)
})
