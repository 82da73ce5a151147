import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { encodeChanges, forEachChange } from '../../src/ordered-map/change-bytes.js'
import { CHECKSUM_BYTES } from '../../src/ordered-map/checksum.js'
import { lmdbMap } from '../../src/ordered-map/lmdb/lmdb-map.js'
import type { IndexChange, OrderedMap } from '../../src/ordered-map/ordered-map.js'
import type { KeyBytes } from '../../src/model/brand.js'
import { encodeHead } from '../../src/ordered-map/lmdb/writer/writer-requests.js'
import { testFolder } from '../support/folder.js'

const WRITER = fileURLToPath(
  new URL('../../src/ordered-map/lmdb/writer/lmdb-writer-process.js', import.meta.url),
)

const key = (name: string): KeyBytes => name as KeyBytes

/** More than one piece. */
const many = (fill: number): IndexChange[] =>
  Array.from({ length: 3000 }, (_, n) => [key(`k${n}`), Buffer.alloc(900, fill)])

/** What the values of `many` are filled with, each once. */
function fills(index: OrderedMap): number[] {
  const seen = new Set<number>()
  for (const [, value] of index.range({ from: key('k'), to: key('l'), reverse: false }))
    seen.add(value[0] ?? -1)
  return [...seen]
}

test('index: changes are the same after their way through pieces, however small these are', () => {
  const changes: IndexChange[] = [
    [key('a'), Buffer.from('x')],
    [key('b\u00ff\u0000c'), undefined],
    [key('empty'), Buffer.alloc(0)],
    [key('k'.repeat(1900)), Buffer.alloc(5000, 7)],
    [key('z'), Buffer.from([0, 255])],
  ]
  for (const bytes of [1, 16, 2000, 100_000]) {
    const found: IndexChange[] = []
    for (const piece of encodeChanges(changes, (bytesMin) => new ArrayBuffer(Math.max(bytes, bytesMin))))
      forEachChange(piece, (keyBytes, record) =>
        // The room behind the value is for its checksum.
        found.push([
          key(Buffer.from(keyBytes).toString('latin1')),
          record && Buffer.from(record.subarray(0, -CHECKSUM_BYTES)),
        ]),
      )
    assert.deepEqual(found, changes)
  }
})

test('index: while many changes are on their way readers see all of the commit before, then all of theirs', async () => {
  const index = lmdbMap(testFolder())
  await index.apply(many(1), 1)
  const progress = { isDone: false }
  const applying = index.apply(many(2), 2).then(() => (progress.isDone = true))
  let looks = 0
  for (; !progress.isDone; looks++) {
    assert.equal(fills(index).length, 1)
    await new Promise(setImmediate)
  }
  await applying
  assert.ok(looks > 1)
  assert.deepEqual(fills(index), [2])
  await index.close()
})

test('index: changes that cannot be had leave nothing behind, and others may follow', async () => {
  const index = lmdbMap(testFolder())
  await index.apply(many(1), 1)
  function* broken(): Iterable<IndexChange> {
    yield* many(2)
    throw new Error('no more of them')
  }
  await assert.rejects(index.apply(broken(), 2), /no more of them/)
  assert.deepEqual(fills(index), [1])
  await index.apply([[key('other'), Buffer.from('x')]], 3)
  assert.deepEqual([fills(index), index.appliedUpTo], [[1], 3])
  await index.close()
})

test('index: several indexes are written side by side, each with its own changes', async () => {
  const indexes = [1, 2, 3].map(() => lmdbMap(testFolder()))
  await Promise.all(indexes.map((index, at) => index.apply(many(at), at)))
  assert.deepEqual(
    indexes.map((index) => fills(index)),
    [[0], [1], [2]],
  )
  await Promise.all(indexes.map((index) => index.close()))
})

const INDEX = new URL('../../src/ordered-map/lmdb/lmdb-map.js', import.meta.url).href

/** Writes without end, in a process of its own, until `last` ends it. */
const writing = (last: string): string => `
import { lmdbMap } from '${INDEX}'
const index = lmdbMap(process.argv[1])
const changes = Array.from({ length: 8000 }, (_, n) => ['k' + n, Buffer.alloc(900, 1)])
await index.apply(changes, 1)
void (async () => { for (let end = 2; ; end++) await index.apply(changes, end) })()
${last}`

function ended(last: string, ms: number): { status: number | null; stdout: string } {
  const args = ['--input-type=module', '-e', writing(last), testFolder(), String(ms)]
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 30_000 })
  return { status, stdout: stdout.trim() }
}

test('index: a process exits in the middle of a commit as well', () => {
  for (const ms of [0, 3, 10, 25, 60]) {
    const exits = ended('setTimeout(() => process.exit(7), Number(process.argv[2]))', ms)
    assert.deepEqual(exits, { status: 7, stdout: '' }, `after ${ms} ms`)
  }
})

test('index: a worker is terminated in the middle of a commit as well', () => {
  const worker = `import { Worker, isMainThread } from 'node:worker_threads'
const inner = ${JSON.stringify(writing(''))}
const worker = new Worker(new URL('data:text/javascript,' + encodeURIComponent(inner)), { argv: [process.argv[1]] })
worker.on('error', (error) => console.log(error.message))
setTimeout(async () => { await worker.terminate(); console.log('terminated') }, Number(process.argv[2]))`
  for (const ms of [150, 250, 400]) {
    const args = ['--input-type=module', '-e', worker, testFolder(), String(ms)]
    const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 30_000 })
    assert.deepEqual([status, stdout.trim()], [0, 'terminated'], `after ${ms} ms`)
  }
})

test('index: a process that has nothing else to do ends when its changes are written', () => {
  const { status, stdout } = spawnSync(
    process.execPath,
    [
      '--input-type=module',
      '-e',
      `import { lmdbMap } from '${INDEX}'
      const index = lmdbMap(process.argv[1])
      void index.apply([['k', Buffer.from('v')]], 5).then(() => console.log(index.appliedUpTo))`,
      testFolder(),
    ],
    { encoding: 'utf8', timeout: 30_000 },
  )
  assert.deepEqual([status, stdout.trim()], [0, '5'])
})

/** Few, so that a script can use them up. */
const DESCRIPTORS_MAX = 256

/** Prints the result of a script in a process of its own, in which others are started as the first argument has it. */
function withProcesses(spawned: string, script: string): unknown {
  const whole = `
import { createRequire, syncBuiltinESMExports } from 'node:module'
const processes = createRequire(import.meta.url)('node:child_process')
const { spawn } = processes
const children = []
processes.spawn = (...args) => {
  const child = spawn(...args)
  children.push(child)
  return child
}
${spawned}
syncBuiltinESMExports()
const { lmdbMap } = await import('${INDEX}')
${script}`
  const node = [process.execPath, '--input-type=module', '-e', whole, testFolder()]
  const args = ['-c', `ulimit -n ${DESCRIPTORS_MAX}; exec "$@"`, 'sh', ...node]
  const { status, stdout, stderr } = spawnSync('/bin/sh', args, { encoding: 'utf8', timeout: 60_000 })
  assert.equal(status, 0, stderr)
  return JSON.parse(stdout)
}

test('index: a writing process that has ended is replaced by another, whenever it was killed', () => {
  const script = `
const index = lmdbMap(process.argv[1])
const changes = Array.from({ length: 8000 }, (_, n) => ['k' + n, Buffer.alloc(900, 1)])
await index.apply([['a', Buffer.from('x')]], 1)
children[0].kill('SIGKILL')
const failed = []
for (let position = 2; position < 12; position++) {
  const child = children.at(-1)
  if (position % 2 === 0) setTimeout(() => child.kill('SIGKILL'), position)
  for (;;) {
    try { await index.apply(changes, position); break } catch (error) { failed.push(error.message) }
  }
}
const told = failed.every((message) => message.startsWith('the index could not be written: the process that writes it was ended by SIGKILL'))
console.log(JSON.stringify([children.length > 1, failed.length > 0, told, index.get('a').length, index.get('k7').length, index.appliedUpTo]))
await index.close()`
  assert.deepEqual(withProcesses('', script), [true, true, true, 1, 900, 11])
})

test('index: where no process can be started, changes are written without one', () => {
  const script = `
const index = lmdbMap(process.argv[1])
await index.apply([['a', Buffer.from('x')]], 1)
await index.apply([['b', Buffer.from('y')]], 2)
console.log(JSON.stringify([index.get('a').length, index.get('b').length, index.appliedUpTo]))
await index.close()`
  const forbidden = `processes.spawn = () => { throw new Error('forbidden') }`
  assert.deepEqual(withProcesses(forbidden, script), [1, 1, 2])
  const missing = `processes.spawn = (command, args, options) => spawn(command, ['/nowhere/process.js'], options)`
  assert.deepEqual(withProcesses(missing, script), [1, 1, 2])
  const noCommand = `processes.spawn = (command, args, options) => spawn('/nowhere/node', args, options)`
  assert.deepEqual(withProcesses(noCommand, script), [1, 1, 2])
})

test('index: where no process can be started, that is said in one sentence, once for all indexes', () => {
  const script = `
const said = []
process.on('warning', ({ name, message }) => said.push(name + ': ' + message))
const { mkdirSync } = await import('node:fs')
for (const name of ['one', 'two']) {
  mkdirSync(process.argv[1] + '/' + name)
  const index = lmdbMap(process.argv[1] + '/' + name)
  await index.apply([['a', Buffer.from('x')]], 1)
  await index.apply([['b', Buffer.from('y')]], 2)
  await index.close()
}
setImmediate(() => console.log(JSON.stringify(said)))`
  const said = withProcesses(`processes.spawn = () => { throw new Error('forbidden') }`, script) as string[]
  assert.equal(said.length, 1)
  assert.match(
    said[0]!,
    /^SeriatimWarning: The process that writes the index cannot be started \(forbidden\): until it is restarted, the server writes the index itself/,
  )
})

test('index: a writer that its owner has left behind does not write over what the next owner has written', async () => {
  const folder = testFolder()
  const [left, next] = [lmdbMap(folder), lmdbMap(folder)]
  await next.apply([[key('k'), Buffer.from('new')]], 5)
  await assert.rejects(left.apply([[key('k'), Buffer.from('old')]], 3), /another process has written it/)
  assert.equal(Buffer.from(next.get(key('k')) ?? []).toString(), 'new')
  // The same changes once more, because their answer was lost, are no harm.
  await left.apply([[key('k'), Buffer.from('new')]], 5)
  await left.close()
  await next.close()
})

test('index: what outgrows the map of its reader is read on', async () => {
  const index = lmdbMap(testFolder(), { mapBytes: 1024 * 1024 })
  for (let round = 1; round <= 4; round++) {
    const applying = index.apply(
      [...many(round), [key(`grown${round}`), Buffer.alloc(3_000_000, round)]],
      round,
    )
    const seen = fills(index)
    await applying
    assert.deepEqual([seen, fills(index)], [round === 1 ? [] : [round - 1], [round]])
  }
  for (let round = 1; round <= 4; round++) assert.equal(index.get(key(`grown${round}`))?.[2_999_999], round)
  await index.close()
})

test('index: changes go to the folder that was opened, wherever the process goes', () => {
  const script = `
const { chdir } = await import('node:process')
const { existsSync } = await import('node:fs')
chdir(process.argv[1])
const index = lmdbMap('index')
chdir('..')
await index.apply([['a', Buffer.from('x')]], 1)
console.log(JSON.stringify([index.get('a').length, existsSync('index')]))
await index.close()`
  assert.deepEqual(withProcesses('', script), [1, false])
})

test('index: what is under way when it is closed is written whole, and nothing after it', async () => {
  const folder = testFolder()
  const index = lmdbMap(folder)
  const applying = index.apply(many(1), 1)
  await index.close()
  await applying
  await assert.rejects(index.apply(many(2), 2), /closed/)
  const again = lmdbMap(folder)
  assert.deepEqual([fills(again), again.appliedUpTo], [[1], 1])
  await again.close()
})

test('index: the writing process ends with the last index, and begins again with the next', () => {
  const script = `
const seen = []
const running = () => children.filter((child) => child.exitCode === null).length
for (let round = 0; round < 2; round++) {
  const indexes = ['a', 'b'].map((name) => lmdbMap(process.argv[1] + '/' + name))
  for (const index of indexes) await index.apply([['k', Buffer.from('x')]], round)
  seen.push(running())
  for (const index of indexes) await index.close()
  seen.push(running())
}
console.log(JSON.stringify(seen))`
  assert.deepEqual(withProcesses('', script), [1, 0, 1, 0])
})

test('index: the writing process ends when its owner is killed', () => {
  const script = `
const index = lmdbMap(process.argv[1])
await index.apply([['k', Buffer.from('x')]], 1)
console.log(JSON.stringify(children[0].pid))
process.exitCode = 0
setInterval(() => undefined, 1000)
setImmediate(() => process.kill(process.pid, 'SIGKILL'))`
  const whole = `
import { createRequire, syncBuiltinESMExports } from 'node:module'
const processes = createRequire(import.meta.url)('node:child_process')
const { spawn } = processes
const children = []
processes.spawn = (...args) => { children.push(spawn(...args)); return children.at(-1) }
syncBuiltinESMExports()
const { lmdbMap } = await import('${INDEX}')
${script}`
  const args = ['--input-type=module', '-e', whole, testFolder()]
  // Its streams are closed only when the last process that has them has ended.
  const { signal, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 60_000 })
  assert.equal(signal, 'SIGKILL')
  const pid = Number(stdout)
  for (let isThere = true; isThere;) {
    try {
      process.kill(pid, 0)
    } catch {
      isThere = false
    }
  }
})

test('index: a commit whose answer was lost is no obstacle to one that goes further', async () => {
  const folder = testFolder()
  const [left, next] = [lmdbMap(folder), lmdbMap(folder)]
  await left.apply([[key('k'), Buffer.from('first')]], 3)
  // What it knows of the index is older than the index; what it writes is newer.
  await next.apply([[key('k'), Buffer.from('second')]], 5)
  assert.deepEqual([Buffer.from(left.get(key('k')) ?? []).toString(), next.appliedUpTo], ['second', 5])
  await assert.rejects(left.apply([[key('k'), Buffer.from('older')]], 4), /another process has written it/)
  await left.close()
  await next.close()
})

test('index: while there are no descriptors left a process cannot be started, and later it is', () => {
  const script = `
const { closeSync, openSync } = await import('node:fs')
const index = lmdbMap(process.argv[1])
const taken = []
try { for (;;) taken.push(openSync('/dev/null')) } catch {}
const refused = await index.apply([['a', Buffer.from('x')]], 1).then(() => 'written', (error) => error.code ?? error.message)
for (const descriptor of taken) closeSync(descriptor)
await index.apply([['a', Buffer.from('x')]], 1)
console.log(JSON.stringify([/EMFILE/.test(refused), children.at(-1).exitCode, index.get('a').length]))
await index.close()`
  assert.deepEqual(withProcesses('', script), [true, null, 1])
})

test('index: it is closed although the process that writes it was killed a moment before', () => {
  const script = `
const index = lmdbMap(process.argv[1])
await index.apply([['a', Buffer.from('x')]], 1)
children[0].kill('SIGKILL')
console.log(JSON.stringify(await index.close().then(() => 'closed', String)))`
  assert.equal(withProcesses('', script), 'closed')
})

test('index: a program that is its own interpreter is not started again and again', () => {
  const folder = testFolder()
  const [program, log] = [join(folder, 'program'), join(folder, 'log')]
  const app = `
import { lmdbMap } from '${INDEX}'
import { appendFileSync, mkdtempSync, readFileSync } from 'node:fs'
appendFileSync('${log}', 'started\\n')
if (readFileSync('${log}', 'utf8').length > 50) process.exit(1)
process.execPath = '${program}'
const index = lmdbMap(mkdtempSync('${folder}/'))
await index.apply([['a', Buffer.from('x')]], 1)
await index.close()`
  writeFileSync(join(folder, 'app.mjs'), app)
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${folder}/app.mjs"\n`, { mode: 0o755 })
  const { status, stderr } = spawnSync(program, { encoding: 'utf8', timeout: 60_000 })
  assert.equal(status, 0, stderr)
  assert.equal(readFileSync(log, 'utf8'), 'started\n'.repeat(2), 'itself, and once to find that out')
})

test('index: a writing process that does not answer is ended, and another one writes', () => {
  const script = `
const index = lmdbMap(process.argv[1])
await index.apply([['a', Buffer.from('x')]], 1)
children[0].kill('SIGSTOP')
const { setTimeout } = globalThis
let waitedMs
globalThis.setTimeout = (callback, ms) => { waitedMs = ms; return setTimeout(callback, 0) }
const refused = await index.apply([['a', Buffer.from('y')]], 2).catch((error) => error.message)
globalThis.setTimeout = setTimeout
await index.apply([['a', Buffer.from('y')]], 2)
console.log(JSON.stringify([waitedMs, /had not answered for 120 s/.test(refused), children.length, index.appliedUpTo]))
await index.close()`
  assert.deepEqual(withProcesses('', script), [120_000, true, 2, 2])
})

test('index: a writing process whose input and output do not block waits for them', async () => {
  const unblocked =
    'import os, sys; os.set_blocking(0, False); os.set_blocking(1, False); os.execv(sys.argv[1], sys.argv[1:])'
  const child = spawn('python3', ['-c', unblocked, process.execPath, WRITER], {
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const answer = async (): Promise<unknown> => {
    const { value, done } = await answers.next()
    return done === true ? 'it has ended' : (JSON.parse(value) as unknown)
  }
  assert.deepEqual(await answer(), { number: 0 })
  const path = Buffer.from(join(testFolder(), 'data.mdb'))
  const request = { kind: 'open', number: 1, index: 0, appliedUpTo: 0, appliedBefore: 0 } as const
  child.stdin.write(Buffer.concat([encodeHead({ ...request, length: path.length }), path]))
  assert.deepEqual(await answer(), { number: 1 })
  child.stdin.end()
  const code = await new Promise((resolve) => child.on('close', resolve))
  assert.equal(code, 0)
})
