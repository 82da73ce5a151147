// The ledger of a data folder: through restarts and kills, with a key of its own, refused where it was copied.
import assert from 'node:assert/strict'
import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { verifyDataFolder } from '../../src/cli/operate/verify-folder.js'
import { FolderRefused } from '../../src/line/errors.js'
import { open } from '../../src/store/store.js'
import { verifyConsistency, verifyProof } from '../../src/verify/proof.js'
import { killNow, start } from '../kill/killed-server.js'
import { testFolder } from '../support/folder.js'
import {
  asking,
  clientOf,
  type DigestAnswer,
  Key,
  ledgerTable,
  openLedger,
  own,
  type RevisionsAnswer,
} from './support.js'

test('ledger: a folder goes on with its ledger after a restart, under the same key', async (t) => {
  const path = join(testFolder(), 'data')
  const first = await openLedger(t, { path, nodes: 2 })
  await first.dynamodb.createTable(ledgerTable('Cars'))
  for (let at = 0; at < 300; at++) await own(first.dynamodb, 'Cars', `v${at % 4}`, `o${at}`)
  const before = await first.ask<DigestAnswer>('GetDigest', {})
  await own(first.dynamodb, 'Cars', 'v0', 'last')
  await first.store.close()
  const mode = statSync(join(path, 'ledger.key')).mode & 0o777
  assert.equal(mode, 0o600)
  assert.match(readFileSync(join(path, 'ledger.key'), 'utf8'), /^PRIVATE\+KEY\+seriatim\.local\//)

  const { ask, dynamodb } = await openLedger(t, { path, nodes: 2 })
  await own(dynamodb, 'Cars', 'v0', 'after')
  const after = await ask<DigestAnswer>('GetDigest', { OldSize: before.Size })
  assert.deepEqual([after.Key, after.Size], [before.Key, before.Size + 2])
  await verifyConsistency(before.Checkpoint, after.Checkpoint, after.ConsistencyProof!, { key: after.Key })
  const { Revisions } = await ask<RevisionsAnswer>('ListRevisions', {
    TableName: 'Cars',
    Key: Key('v0'),
    FromVersion: 75,
  })
  assert.deepEqual(
    Revisions.map(({ Data }) => Data!.owner!.S),
    ['last', 'after'],
  )
})

test('ledger: a copy of a folder is refused, and so is one whose key is gone; an owner may adopt the copy', async (t) => {
  const folder = testFolder()
  const path = join(folder, 'data')
  const copy = join(folder, 'copy')
  const first = await openLedger(t, { path })
  await first.dynamodb.createTable(ledgerTable('Cars'))
  const { key } = await first.store.ledger.digest()
  await first.store.close()
  cpSync(path, copy, { recursive: true })
  const refused = (message: RegExp) => (error: unknown) =>
    error instanceof FolderRefused && message.test(error.message)
  await assert.rejects(open({ path: copy }), refused(/is a copy, or was restored.*--adopt-ledger/))
  const adopted = await open({ path: copy, ledgerCopies: 'adopt' })
  assert.equal((await adopted.ledger.digest()).key, key)
  await adopted.close()
  // From then on it is the original.
  await (await open({ path: copy })).close()
  await (await open({ path })).close()
  rmSync(join(path, 'ledger.key'))
  await assert.rejects(open({ path }), refused(/key of the ledger is missing/))
})

test('ledger: a killed server has every acknowledged write in a block, and contradicts nothing that it signed', async (t) => {
  const path = join(testFolder(), 'data')
  let server = await start(path, 2)
  t.after(() => server.child.kill('SIGKILL'))
  await clientOf(server.url).createTable(ledgerTable('Cars'))
  let acknowledged = 0
  let signed: DigestAnswer | undefined
  for (let round = 0; round < 3; round++) {
    const dynamodb = clientOf(server.url)
    const ask = asking(server.url)
    const state = { isKilled: false }
    let tellReached: () => void = () => undefined
    const reached = new Promise<void>((resolve) => (tellReached = resolve))
    const write = async (vin: string): Promise<void> => {
      for (let at = 0; !state.isKilled; at++) {
        try {
          await own(dynamodb, 'Cars', `${vin}-${round}`, String(at))
          acknowledged++
          if (acknowledged >= 150 * (round + 1)) tellReached()
        } catch {
          return
        }
      }
    }
    const sign = async (): Promise<void> => {
      while (!state.isKilled) {
        try {
          const digest = await ask<DigestAnswer>('GetDigest', { OldSize: signed?.Size ?? 0 })
          if (signed !== undefined)
            await verifyConsistency(
              signed.Checkpoint,
              digest.Checkpoint,
              digest.ConsistencyProof!,
              keyOf(digest),
            )
          signed = digest
        } catch (error) {
          if (!state.isKilled && (error as Error).name === 'VerificationError') throw error
          return
        }
      }
    }
    const work = Promise.all([write('a'), write('b'), write('c'), sign()])
    await reached
    state.isKilled = true
    await killNow(server.child)
    await work
    dynamodb.destroy()
    server = await start(path, 2)
  }
  const ask = asking(server.url)
  const after = await ask<DigestAnswer>('GetDigest', { OldSize: signed!.Size })
  await verifyConsistency(signed!.Checkpoint, after.Checkpoint, after.ConsistencyProof!, keyOf(after))
  assert.ok(after.Size >= acknowledged + 1, `${after.Size} blocks, ${acknowledged} acknowledged writes`)
  for (const vin of ['a-0', 'b-1', 'c-2']) {
    const { Revisions } = await ask<RevisionsAnswer>('ListRevisions', { TableName: 'Cars', Key: Key(vin) })
    for (const [at, { Data, Metadata }] of Revisions.entries())
      assert.deepEqual([Metadata.Version, Data!.owner!.S], [at, String(at)])
    const { Proof } = await ask<{ readonly Proof: string }>('GetRevision', {
      TableName: 'Cars',
      Key: Key(vin),
      DigestSize: after.Size,
    })
    await verifyProof(Proof, keyOf(after))
  }
})

const keyOf = ({ Key: key }: DigestAnswer): { readonly key: string } => ({ key })

test('ledger: seriatim verify looks at the records of blocks, too', async (t) => {
  const path = join(testFolder(), 'data')
  const { dynamodb, store } = await openLedger(t, { path })
  await dynamodb.createTable(ledgerTable('Cars'))
  await own(dynamodb, 'Cars', 'v1', 'ann')
  await store.ledger.digest()
  await store.close()
  const { problems } = await verifyDataFolder(path)
  assert.deepEqual(problems, [])
})

test('ledger: seriatim verify names a damaged record of a block, and what is asked of it is refused and not answered wrongly', async (t) => {
  const path = join(testFolder(), 'data')
  const first = await openLedger(t, { path })
  await first.dynamodb.createTable(ledgerTable('Cars'))
  for (let at = 0; at < 5; at++) await own(first.dynamodb, 'Cars', 'v1', `owner ${at}`)
  await first.store.ledger.digest()
  await first.store.close()
  const [index] = readdirSync(path, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('data.mdb'),
  )
  flipIn(join(path, index!), '"kind":"revision"')
  const { problems } = await verifyDataFolder(path)
  assert.ok(problems.length > 0)
  assert.match(problems.join('\n'), /damaged/)

  const { ask, dynamodb } = await openLedger(t, { path })
  await assert.rejects(ask('GetBlock', { SequenceNumber: 1 }), /InternalServerError/)
  // Headers and hashes stand elsewhere, and items too.
  assert.equal((await ask<DigestAnswer>('GetDigest', {})).Size, 6)
  assert.equal((await dynamodb.getItem({ TableName: 'Cars', Key: Key('v1') })).Item!['owner']!.S, 'owner 4')
})

/** One bit of each place where the text stands. */
function flipIn(file: string, text: string): void {
  const bytes = readFileSync(file)
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) bytes[at + 3]! ^= 1
  writeFileSync(file, bytes)
}
