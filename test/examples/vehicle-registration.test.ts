// The registration office of examples/, and the two ways in which a stranger checks it.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { testFolder } from '../support/folder.js'

const run = promisify(execFile)
const ROOT = resolve(import.meta.dirname, '../../..')
const EXAMPLE = join(ROOT, 'examples/vehicle-registration')

const node = (...args: readonly string[]): Promise<{ readonly stdout: string }> =>
  run(process.execPath, ['--no-warnings', ...args], { cwd: ROOT })

test('examples: a title from the registration office is checked by a program that knows its key only', async () => {
  const folder = testFolder()
  const { stdout } = await node(join(EXAMPLE, 'registry.mjs'), folder)
  const lines = stdout.trim().split('\n')
  assert.equal(lines[0], 'sold: 1')
  assert.match(lines[1]!, /^version 0, block \d+: Raul$/)
  assert.match(lines[2]!, /^version 1, block \d+: (Brent|Alexis)$/)
  assert.match(lines[3]!, /^version 2, block \d+: (Brent|Alexis)$/)
  assert.deepEqual(lines.slice(4), ['exported: true', 'seen first: true'])

  const [title, key] = [join(folder, 'title.tlog-proof'), join(folder, 'office.key')]
  const checked = await node(join(EXAMPLE, 'check-title.mjs'), title, key)
  assert.match(checked.stdout, /^VehicleRegistration 1N4AL11D75C109151, plate LEWISR261LL, owner /)
  assert.match(checked.stdout, /version 2, committed at /)
  const paper = readFileSync(title, 'utf8')
  const at = Math.floor(paper.length / 2)
  writeFileSync(title, paper.slice(0, at) + (paper[at] === 'A' ? 'B' : 'A') + paper.slice(at + 1))
  await assert.rejects(node(join(EXAMPLE, 'check-title.mjs'), title, key), /Don't buy: /)

  const verify = (): Promise<{ readonly stdout: string }> =>
    node(join(ROOT, 'dist/src/cli/main.js'), 'ledger', 'verify', join(folder, 'ledger'), '--key', key)
  assert.match(
    (await verify()).stdout,
    /: all 12 blocks are as the checkpoint says: 10 revisions of 7 items, 1 redactions\n$/,
  )
  const block = join(folder, 'ledger/block/009')
  const bytes = readFileSync(block)
  bytes[bytes.length - 5]! ^= 1
  writeFileSync(block, bytes)
  await assert.rejects(
    verify(),
    /block 9, entry \d, block\/009: the hash of its data is not the one that it has/,
  )
})
