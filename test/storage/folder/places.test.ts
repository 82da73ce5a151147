// Places at which there can be no data folder: a sentence each, from open() and on the command line.
import assert from 'node:assert/strict'
import { spawnSync, type SpawnSyncOptions } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { MAIN } from '../../support/spawned-server.js'
import { FolderRefused, open } from '../../../src/index.js'
import { testFolder } from '../../support/folder.js'

async function assertRefused(path: string, sentence: RegExp): Promise<void> {
  await assert.rejects(open({ path }), (error: Error) => {
    assert.ok(error instanceof FolderRefused, String(error))
    assert.match(error.message, sentence)
    return true
  })
  assertCommandRefused('start', path, sentence)
}

interface Started extends SpawnSyncOptions {
  /** What the command is started by. */
  readonly through?: readonly string[]
}

function assertCommandRefused(
  name: string,
  path: string,
  sentence: RegExp,
  { through = [], ...options }: Started = {},
): void {
  const port = name === 'start' ? ['--port', '0'] : []
  const [command, ...args] = [...through, process.execPath, MAIN, name, '--path', path, ...port]
  const { status, stdout, stderr } = spawnSync(command as string, args, { ...options, encoding: 'utf8' })
  assert.equal(status, 1, `${stdout}${stderr}`)
  assert.equal(stdout, '')
  const [line = '', ...more] = stderr.trimEnd().split('\n')
  assert.deepEqual(more, [], 'one line')
  assert.ok(line.startsWith(`seriatim ${name}: `), line)
  assert.match(line.slice(`seriatim ${name}: `.length), sentence)
}

test('place: a folder with other files in it is refused, and nothing is written into it', async () => {
  const path = testFolder()
  for (const name of ['a.txt', 'b.txt', 'c.txt', 'd.txt']) writeFileSync(join(path, name), name)
  const before = { names: readdirSync(path), changed: statSync(path).mtimeMs }
  const sentence =
    /^The folder \S+ is not a data folder: it holds a\.txt, b\.txt, c\.txt and 1 more, and no seriatim\.json\./
  await assertRefused(path, sentence)
  assertCommandRefused('verify', path, sentence)
  assert.deepEqual({ names: readdirSync(path), changed: statSync(path).mtimeMs }, before)
})

test('place: an empty folder, one with lost+found alone, and one that does not exist yet are fine', async () => {
  const path = testFolder()
  await (await open({ path })).close()
  const mounted = testFolder()
  mkdirSync(join(mounted, 'lost+found'))
  await (await open({ path: mounted })).close()
  const fresh = join(testFolder(), 'not', 'yet')
  await (await open({ path: fresh })).close()
  await (await open({ path: fresh })).close()
})

test('place: a path that is a file, or below a file, is refused', async () => {
  const file = join(testFolder(), 'file')
  writeFileSync(file, 'mine')
  await assertRefused(
    file,
    /^The data folder \S+ cannot be made: \S+\/file is a file\. Name a folder instead\.$/,
  )
  await assertRefused(
    join(file, 'a', 'b'),
    /^The data folder \S+\/a\/b cannot be made: \S+\/file is a file\./,
  )
  assertCommandRefused('verify', file, /is a file\. Name a folder instead\.$/)
  assert.equal(readFileSync(file, 'utf8'), 'mine')
})

test('place: verify makes no folder', () => {
  const missing = join(testFolder(), 'missing')
  assertCommandRefused('verify', missing, /^there is no folder \S+$/)
  const empty = testFolder()
  assertCommandRefused('verify', empty, /^There is no data folder at \S+\.$/)
  assert.deepEqual(readdirSync(empty), [])
})

test('place: a folder that the user may not write to is refused', () => {
  const path = testFolder()
  chmodSync(path, 0o555)
  const asUser = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
  const sentence =
    /^The data folder \S+ cannot be read and written by this user \(EACCES\)\. Give this user access/
  assertCommandRefused('start', path, sentence, asUser)
  assertCommandRefused('start', join(path, 'below'), sentence, asUser)
})

const mountRefusal = (): string | undefined => {
  const { status, error, stderr } = spawnSync('unshare', ['--mount', 'true'], { encoding: 'utf8' })
  return status === 0 ? undefined : `unshare is not permitted here: ${error?.message ?? stderr.trim()}`
}
const refusal = mountRefusal()

test('place: a read-only mount is refused', refusal === undefined ? {} : { skip: refusal }, async () => {
  const empty = testFolder()
  const used = testFolder()
  await (await open({ path: used })).close()
  for (const path of [empty, used, join(empty, 'below')]) {
    const mount = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'
    const mounted = path === used ? used : empty
    const through = ['unshare', '--mount', '/bin/sh', '-c', mount, mounted]
    const sentence =
      /^The data folder \S+ is on a read-only file system\. Mount it for writing, or use another folder\.$/
    assertCommandRefused('start', path, sentence, { through })
  }
  assert.deepEqual(readdirSync(empty), [])
})
