// Signed notes, checkpoints and cosignatures of C2SP.
import assert from 'node:assert/strict'
import { verify, createPublicKey } from 'node:crypto'
import { test } from 'node:test'
import { openCheckpoint, parseCheckpoint } from '../../src/verify/checkpoint.js'
import { emptyRoot, leafHash } from '../../src/verify/merkle.js'
import { formatVerifierKey, parseNote, parseVerifierKey, signedBy } from '../../src/verify/note.js'
import { cosigned, LOG, ORIGIN, sampleKey, signedCheckpoint, WITNESS } from './sample-ledger.js'

const ROOT = leafHash(new Uint8Array(3))

test('verify: the example of C2SP signed-note is accepted with its key, and refused with a letter changed', async () => {
  const key = parseVerifierKey('example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k')
  const note =
    'This is an example message.\n\n— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n'
  assert.equal(await signedBy(parseNote(note), key), 0)
  await assert.rejects(signedBy(parseNote(note.replace('message', 'massage')), key), /not of its key/)
  assert.equal(await signedBy(parseNote(note.replace('foo U', 'fox U')), key), false)
})

test('verify: the key of a verifier reads as it was written, and with a wrong id it is refused', () => {
  assert.deepEqual(parseVerifierKey(LOG.key), LOG.verifier)
  assert.equal(formatVerifierKey(parseVerifierKey(`${WITNESS.key}\n`)), WITNESS.key)
  const [name, id, key] = LOG.key.split('+', 3)
  for (const wrong of ['', name!, `${name}+00000000+${key}`, `${name}+${id}+AAAA`, `+${id}+${key}`])
    assert.throws(() => parseVerifierKey(wrong), { name: 'VerificationError' }, wrong)
})

test('verify: a name with a Unicode space or a plus is none', () => {
  for (const space of [' ', '\u0085', '\u00a0', '\u2003', '\u3000', '+'])
    assert.throws(
      () => parseVerifierKey(`example.com/f${space}oo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k`),
      /not the public key/,
    )
})

test('verify: a checkpoint is opened by the key of its ledger only', async () => {
  const note = signedCheckpoint(12, ROOT)
  const { origin, size, root } = await openCheckpoint(note, { key: LOG.key })
  assert.deepEqual({ origin, size, root }, { origin: ORIGIN, size: 12, root: ROOT })
  const other = sampleKey(ORIGIN, 9)
  await assert.rejects(
    openCheckpoint(note, { key: other.key }),
    /not signed by the key of ledger.example\/cars/,
  )
  await assert.rejects(
    openCheckpoint(note, { key: sampleKey('other.example', 7).key }),
    /the checkpoint is of/,
  )
  await assert.rejects(openCheckpoint(note, { key: WITNESS.key }), /the checkpoint is of/)
  await assert.rejects(openCheckpoint(note.replace('12', '13'), { key: LOG.key }), /not of its key/)
})

test('verify: a checkpoint may be opened with Ed25519 of Node', async () => {
  const ed25519 = (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean =>
    verify(
      null,
      message,
      createPublicKey({
        key: Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), publicKey]),
        format: 'der',
        type: 'spki',
      }),
      signature,
    )
  const note = signedCheckpoint(12, ROOT)
  assert.equal((await openCheckpoint(note, { key: LOG.key, ed25519 })).size, 12)
  await assert.rejects(openCheckpoint(note.replace('12', '13'), { key: LOG.key, ed25519 }), /not of its key/)
})

test('verify: a checkpoint that is written in another way is refused, though it says the same', async () => {
  const note = signedCheckpoint(12, ROOT)
  const wrong = [
    note.replace('12', '012'),
    note.replace('12', '+12'),
    note.replace('12', '1e1'),
    note.replace('\n12\n', '\r\n12\n'),
    note.replace('=\n\n', '\n\n'),
    note.slice(0, -1),
    note.slice(0, note.indexOf('\n\n') + 2),
    note.replace('— ', '- '),
    note.replace('\n\n—', '\n\n\n—'),
    `${note}\n`,
  ]
  for (const text of wrong) assert.throws(() => parseCheckpoint(text), { name: 'VerificationError' }, text)
  const open = (root: Uint8Array): Promise<unknown> =>
    openCheckpoint(signedCheckpoint(0, root), { key: LOG.key })
  await open(emptyRoot())
  await assert.rejects(open(ROOT), /not that of the empty tree/)
})

test('verify: as many witnesses as are wanted must have cosigned, each with its own key', async () => {
  const note = signedCheckpoint(12, ROOT)
  const trust = { key: LOG.key, witnesses: [WITNESS.key] }
  const { witnesses } = await openCheckpoint(cosigned(note, 1_800_000_000), trust)
  assert.deepEqual(witnesses, [{ name: 'witness.example/w1', timeS: 1_800_000_000 }])
  await assert.rejects(openCheckpoint(note, trust), /cosigned by 0 of the witnesses, not by 1/)
  assert.deepEqual((await openCheckpoint(note, { ...trust, quorum: 0 })).witnesses, [])
  const twice = cosigned(cosigned(note, 1), 2)
  const other = sampleKey('witness.example/w2', 9, 4)
  await assert.rejects(
    openCheckpoint(twice, { key: LOG.key, witnesses: [WITNESS.key, WITNESS.key, other.key], quorum: 2 }),
    /cosigned by 1 of the witnesses, not by 2/,
  )
  const forged = cosigned(note, 1, { ...WITNESS, secret: other.secret })
  await assert.rejects(
    openCheckpoint(forged, trust),
    /the signature of witness.example\/w1 is not of its key/,
  )
  const ofOther = cosigned(signedCheckpoint(13, ROOT), 1)
  const moved = note + ofOther.slice(ofOther.lastIndexOf('— '))
  await assert.rejects(openCheckpoint(moved, trust), /witness.example\/w1 is not of its key/)
})
