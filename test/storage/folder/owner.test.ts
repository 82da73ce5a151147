import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { NoLocks } from '../../../src/runtime/kernel-lock.js'
import { takeLock } from '../../../src/runtime/process-lock.js'
import { realRuntime } from '../../../src/runtime/real-runtime.js'
import { FolderRefused } from '../../../src/line/errors.js'
import { takeFolder } from '../../../src/storage/folder/folder.js'
import { openLocalNode } from '../../../src/storage/folder/open-local-node.js'
import { testFolder } from '../../support/folder.js'
import { Contender, namespaceRefusal, type Outcome } from './contenders.js'
import { leaveStaleLock, race } from './races.js'
import { sized } from '../../support/sizes.js'

const open = (path: string): ReturnType<typeof openLocalNode> =>
  openLocalNode({ runtime: realRuntime(), path })
const opens = async (path: string): Promise<void> => (await open(path)).close()
const RACES = sized(15, 60)
const refusal = namespaceRefusal()
const inNamespaces = refusal === undefined ? {} : { skip: refusal }
const onLinux = process.platform === 'linux' ? {} : { skip: 'Linux alone has /proc and these locks' }

async function assertRefused(path: string, sentence: RegExp): Promise<void> {
  await assert.rejects(open(path), (error: Error) => {
    assert.ok(error instanceof FolderRefused, String(error))
    assert.match(error.message, sentence)
    return true
  })
}

test('owner: of three processes that race for a folder, with a lock left behind or none, one gets it', async () => {
  const contenders = await Promise.all([0, 1, 2].map(() => Contender.start()))
  const owners = await race(RACES, contenders)
  assert.deepEqual(owners, Array<number>(RACES).fill(1))
  for (const contender of contenders) contender.end()
})

test(
  'owner: of processes that race in pid namespaces of their own, one gets the folder',
  inNamespaces,
  async () => {
    const contenders = await Promise.all([
      Contender.start(),
      Contender.start('own namespace'),
      Contender.start('own namespace'),
    ])
    const owners = await race(RACES / 3, contenders)
    assert.deepEqual(owners, Array<number>(RACES / 3).fill(1))
    for (const contender of contenders) contender.end()
  },
)

test('owner: a process in another pid namespace is seen, and named', inNamespaces, async () => {
  const path = testFolder()
  const contender = await Contender.start('own namespace')
  assert.deepEqual(await contender.ask({ kind: 'open', path }), { kind: 'owner' })
  await assertRefused(path, /is in use by process 1 in another container\. Stop that process, or use another/)
  await contender.ask({ kind: 'close' })
  const node = await open(path)
  const outcome = (await contender.ask({ kind: 'open', path })) as Extract<Outcome, { kind: 'refused' }>
  assert.match(outcome.message, new RegExp(`is in use by process ${process.pid} in another container`))
  await node.close()
  contender.end()
})

test('owner: a worker thread of the same process is refused as another process is', async () => {
  const path = testFolder()
  const node = await open(path)
  const source = `
    const { parentPort, workerData } = require('node:worker_threads')
    import(workerData.module)
      .then(({ open }) => open({ path: workerData.path }))
      .then(() => parentPort.postMessage('owner'), (error) => parentPort.postMessage(error.name + ': ' + error.message))`
  const module = new URL('../../../src/index.js', import.meta.url).href
  const worker = new Worker(source, { eval: true, workerData: { module, path } })
  const said = await new Promise((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
  })
  assert.match(said as string, new RegExp(`^FolderRefused: .* is in use by process ${process.pid}\\.`))
  await worker.terminate()
  await node.close()
})

test('owner: the folder of a killed process is free at once, and its lock file stays', async () => {
  const path = testFolder()
  const contender = await Contender.start()
  assert.deepEqual(await contender.ask({ kind: 'open', path }), { kind: 'owner' })
  const { ino } = statSync(join(path, 'owner.lock'))
  await contender.kill()
  await opens(path)
  assert.equal(statSync(join(path, 'owner.lock')).ino, ino)
  assert.equal(readFileSync(join(path, 'owner.lock'), 'utf8'), '', 'a free folder names no owner')
})

test('owner: the folder of a killed process that was not waited for is free at once', onLinux, async () => {
  const path = testFolder()
  const script = fileURLToPath(new URL('holder.js', import.meta.url))
  // The shell becomes a program that never waits for its child.
  const shell = spawn(
    '/bin/sh',
    ['-c', `"$1" "$2" "$3" & exec sleep 1000`, 'sh', process.execPath, script, path],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  try {
    const lines = createInterface({ input: shell.stdout })[Symbol.asyncIterator]()
    const pid = Number((await lines.next()).value)
    process.kill(pid, 'SIGKILL')
    const state = (): string =>
      readFileSync(`/proc/${pid}/stat`, 'latin1')
        .replace(/^.*\) /s, '')
        .slice(0, 1)
    while (state() !== 'Z') await new Promise((resolve) => setImmediate(resolve))
    await opens(path)
    assert.equal(state(), 'Z')
    // Likewise if it was an earlier version, whose lock names the process.
    leavePidLock(path, pid)
    await opens(path)
  } finally {
    shell.kill('SIGKILL')
  }
})

test('owner: a process that the owner has started does not keep the folder', async () => {
  const path = testFolder()
  const contender = await Contender.start()
  await contender.ask({ kind: 'open', path })
  const child = (await contender.ask({ kind: 'leave-child' })) as Extract<Outcome, { kind: 'child' }>
  try {
    await contender.kill()
    await opens(path)
  } finally {
    process.kill(child.pid, 'SIGKILL')
  }
})

test(
  'owner: without its lock file, or under another name, a folder in use is still in use',
  onLinux,
  async () => {
    const path = testFolder()
    const contender = await Contender.start()
    await contender.ask({ kind: 'open', path })
    rmSync(join(path, 'owner.lock'))
    await assertRefused(path, /is in use by another process/)
    await contender.ask({ kind: 'close' })
    await contender.ask({ kind: 'open', path })
    const moved = join(testFolder(), 'moved')
    renameSync(path, moved)
    await assertRefused(moved, new RegExp(`is in use by process ${contender.pid}\\.`))
    await opens(path)
    await contender.kill()
    await opens(moved)
  },
)

test('owner: a lock on a file that has lost its name is not taken for a lock', async () => {
  const file = join(testFolder(), 'owner.lock')
  let attempts = 0
  const lock = await takeLock(file, () => {
    // Between the opening and the lock, as a process does that deletes the file of the one before it.
    if (attempts++ < 3) rmSync(file)
    return true
  })
  assert.ok('release' in lock)
  assert.equal(attempts, 4)
  assert.ok(existsSync(file))
  await lock.release()
  const never = await takeLock(file, () => {
    rmSync(file)
    return true
  })
  assert.deepEqual(never, { heldBy: {} })
})

test('owner: the writer of a killed owner is waited for, whichever node it writes', onLinux, async () => {
  const path = testFolder()
  const made = await takeFolder(path, { nodes: 2 })
  await made.begin()
  await made.release()
  const source = `
    import { lmdbMap } from '${new URL('../../../src/ordered-map/lmdb/lmdb-map.js', import.meta.url).href}'
    lmdbMap(process.argv[1])
    console.log('opened')
    setInterval(() => undefined, 1_000_000)`
  const args = ['--input-type=module', '-e', source, join(path, 'node-1', 'index')]
  const writer = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  await createInterface({ input: writer.stdout })[Symbol.asyncIterator]().next()
  let hasEnded = false
  setTimeout(() => {
    hasEnded = true
    writer.kill('SIGKILL')
  }, 200)
  const folder = await takeFolder(path, { nodes: 2 })
  assert.ok(hasEnded)
  await folder.release()
})

test('owner: a file system without locks is refused with a sentence that says what to do', async () => {
  for (const code of ['ENOLCK', 'EOPNOTSUPP', 'ENOTSUP', 'ENOSYS']) {
    const path = testFolder()
    const tryLock = (): never => {
      throw Object.assign(new Error('no'), { code })
    }
    await assert.rejects(takeLock(join(path, 'owner.lock'), tryLock), NoLocks)
    await assert.rejects(takeFolder(path, { locks: () => tryLock }), (error: Error) => {
      assert.ok(error instanceof FolderRefused)
      assert.match(
        error.message,
        new RegExp(`^The data folder ${path} cannot be locked: .* \\(${code}\\)\\.`),
      )
      assert.match(error.message, /Use a folder on a local disk, or mount the file system with locks\.$/)
      return true
    })
  }
})

test(
  'owner: a process of an earlier version that still runs is respected, and one that has gone is not',
  onLinux,
  async () => {
    const path = testFolder()
    const child = spawn('sleep', ['1000'])
    const gone = new Promise((resolve) => child.once('exit', resolve))
    leavePidLock(path, child.pid as number)
    await assertRefused(path, new RegExp(`is in use by process ${child.pid}\\. Stop that process`))
    child.kill('SIGKILL')
    await gone
    await opens(path)
    leaveStaleLock(path)
    await opens(path)
  },
)

test('owner: a store in memory does not load the module that locks', async () => {
  const source = `
    import { createRequire } from 'node:module'
    import { mkdtempSync } from 'node:fs'
    const { open } = await import(process.argv[1])
    const loaded = () => Object.keys(createRequire(process.argv[1]).cache).some((file) => file.includes('fs-native'))
    const seen = []
    for (const place of [{ memory: true }, { path: process.argv[2] }]) {
      await (await open(place)).close()
      seen.push(loaded())
    }
    console.log(seen.join())`
  const module = new URL('../../../src/index.js', import.meta.url).href
  const child = spawn(process.execPath, ['--input-type=module', '-e', source, module, testFolder()], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines: string[] = []
  for await (const line of createInterface({ input: child.stdout })) lines.push(line)
  assert.deepEqual(lines, ['false,true'])
})

/** As the version before this one wrote it. */
function leavePidLock(path: string, pid: number): void {
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const started = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  writeFileSync(join(path, 'lock'), `${pid} ${boot} ${started}`)
}
