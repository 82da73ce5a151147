// The runner of the tests, on small folders of test files: what fails, crashes or never ran fails the run, and is named.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { testFolder } from '../support/folder.js'

const SCRIPTS = new URL('../../../scripts/', import.meta.url)
const RUNNER = fileURLToPath(new URL('test.mjs', SCRIPTS))

const passing = (name: string): string =>
  `import { test } from 'node:test'\ntest('${name}', () => undefined)\n`
const running = (body: string): string =>
  `import assert from 'node:assert/strict'\nimport { after, afterEach, beforeEach, describe, test } from 'node:test'\n${body}\n`

interface Run {
  readonly status: number | null
  readonly output: string
  /** The last line that is not empty. */
  readonly counts: string | undefined
}

function run(files: Readonly<Record<string, string>>, ...args: readonly string[]): Run {
  const folder = testFolder()
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [RUNNER, '--folder', folder, '--brief', ...args],
    { encoding: 'utf8' },
  )
  return { status, output: stdout + stderr, counts: stdout.trimEnd().split('\n').at(-1) }
}

test('test runner: files of one folder share a process, and all of their tests count', () => {
  const says = running(
    `test('where', () => console.error('process ' + process.pid)); test('no', { skip: 'later' })`,
  )
  const { status, output, counts } = run({
    'room/a.test.js': says,
    'room/b.test.js': says,
    'room/c.test.js': running(`test('bad', () => { throw new Error('shows what was printed') })`),
  })
  assert.equal(status, 1)
  assert.equal(new Set(output.match(/process \d+/g)).size, 1, output)
  assert.equal(counts, '2 passed, 1 failed, 2 skipped')
})

test('test runner: when all pass it ends with 0, and its last line is the count', () => {
  const { status, counts } = run({ 'a.test.js': passing('one'), 'b/c.test.js': passing('two') })
  assert.deepEqual([status, counts], [0, '2 passed, 0 failed, 0 skipped'])
})

test('test runner: no test of a file begins before the file is loaded, whichever place it has in its process', () => {
  const uses = running(`test('uses what stands below', () => assert.equal(below, 1))\nconst below = 1`)
  const { counts } = run({ 'room/a.test.js': uses, 'room/b.test.js': uses, 'room/c.test.js': uses })
  assert.equal(counts, '3 passed, 0 failed, 0 skipped')
})

test('test runner: a failing test is named with its file and its error, and those after it run', () => {
  const { status, output, counts } = run({
    'room/a.test.js': running(`test('a sum', () => assert.equal(1 + 1, 3))`),
    'room/b.test.js': passing('after it'),
  })
  assert.equal(status, 1)
  assert.match(output, /✖ \S+room\/a\.test\.js: a sum\nAssertionError[^]*\n2 !== 3/)
  assert.equal(counts, '1 passed, 1 failed, 0 skipped')
})

test('test runner: the stack of what failed names the lines of the source', () => {
  // Each line of the built file is ten lines further down in its source.
  const map = { version: 3, sources: ['../../src/a.test.ts'], names: [], mappings: 'AAUA;AACA;AACA;AACA' }
  const { output } = run({
    'room/a.test.js': `import { test } from 'node:test'\n\ntest('bad', () => { throw new Error('at line 13') })\n`,
    'room/a.test.js.map': JSON.stringify(map),
  })
  assert.match(output, /Error: at line 13\n.*src\/a\.test\.ts:13:1/)
})

test('test runner: a process that goes on long after its tests is named with its files', async () => {
  const { openReport } = (await import(new URL('test-progress.mjs', SCRIPTS).href)) as {
    readonly openReport: (options: { readonly isBrief: boolean; readonly write: (text: string) => void }) => {
      lingered(files: readonly string[], ms: number): void
      end(cpuMs: number): boolean
    }
  }
  let said = ''
  const report = openReport({ isBrief: true, write: (text) => void (said += text) })
  report.lingered(['dist/test/a.test.js', 'dist/test/b.test.js'], 4_200)
  report.lingered(['dist/test/c.test.js'], 20)
  assert.ok(report.end(0))
  assert.match(
    said,
    /4\.2 {2}after the last test of test\/a\.test\.js, test\/b\.test\.js, before its process ended/,
  )
  assert.doesNotMatch(said, /c\.test/)
})

for (const [how, body, told] of [
  ['ends its process with 0', 'process.exit(0)', /ended with code 0 before its tests had ended/],
  ['ends its process with 7', 'process.exit(7)', /ended with code 7 before its tests had ended/],
  ['is killed', `process.kill(process.pid, 'SIGKILL')`, /was ended by SIGKILL before its tests had ended/],
] as const) {
  test(`test runner: a file that ${how} is named, with its output and with the files that did not run`, () => {
    const { status, output, counts } = run({
      'room/a.test.js': passing('before it'),
      'room/b.test.js': running(`test('the end', async () => {
        console.error('last words')
        await new Promise((resolve) => setTimeout(resolve, 50))
        ${body}
        await new Promise((resolve) => setTimeout(resolve, 5000))
      })`),
      'room/c.test.js': passing('never'),
      'other/d.test.js': passing('elsewhere'),
    })
    assert.equal(status, 1)
    assert.match(output, told)
    assert.match(output, /✖ \S+room\/b\.test\.js\n/)
    assert.match(output, /last words/)
    assert.match(output, /✖ \S+room\/c\.test\.js\ndid not run/)
    assert.equal(counts, '2 passed, 2 failed, 0 skipped')
  })
}

test('test runner: a file that cannot be loaded is named, and those after it run', () => {
  const { status, output, counts } = run({
    'room/a.test.js': `import './nowhere.js'\n`,
    'room/b.test.js': `throw new Error('at the top')\n`,
    'room/c.test.js': passing('after them'),
  })
  assert.equal(status, 1)
  assert.match(output, /✖ \S+room\/a\.test\.js\n.*nowhere\.js/)
  assert.match(output, /✖ \S+room\/b\.test\.js\nError: at the top/)
  assert.equal(counts, '1 passed, 2 failed, 0 skipped')
})

test('test runner: an error that no test awaits fails the run', () => {
  const { status, output } = run({
    'a.test.js': running(`test('leaves a promise', () => void Promise.reject(new Error('left behind')))`),
    'b.test.js': passing('other'),
  })
  assert.equal(status, 1, output)
  assert.match(output, /left behind/)
})

test('test runner: an error in a callback, which no test can catch, fails the run', () => {
  const { status, output } = run({
    'a.test.js': running(
      `test('waits', () => new Promise(() => setTimeout(() => { throw new Error('in a callback') })))`,
    ),
  })
  assert.equal(status, 1, output)
  assert.match(output, /in a callback/)
})

const isNode20 = process.versions.node.startsWith('20.')
test(
  'test runner: nothing follows the promises of a process, and a test still knows its suite',
  { skip: !isNode20 && 'it is Node 20 that follows them' },
  () => {
    // A promise that is followed has an id of its own.
    const { output, counts } = run({
      'a.test.js': `import { executionAsyncId } from 'node:async_hooks'\n${running(`
        describe('a suite', () => {
          test('awaits', async () => {
            const ids = new Set()
            for (let turn = 0; turn < 3; turn++) ids.add((await turn, executionAsyncId()))
            console.error('ids: ' + ids.size)
          })
          test('bad', () => assert.fail('no'))
        })`)}`,
    })
    assert.match(output, /ids: 1\n/)
    assert.equal(counts, '1 passed, 1 failed, 0 skipped')
  },
)

test('test runner: hooks that fail fail the run, though no test of the suite did', () => {
  const { status, output } = run({
    'a.test.js': running(
      `describe('a suite', () => { after(() => { throw new Error('after all') }); test('fine', () => undefined) })`,
    ),
  })
  assert.equal(status, 1, output)
  assert.match(output, /✖ \S+a\.test\.js: a suite\n[^]*after all/)
})

test('test runner: a file with hooks at its top, or one that says so, has a process of its own', () => {
  const says = running(
    `test('where', () => console.error('process ' + process.pid))\ntest('bad', () => assert.fail('no'))`,
  )
  const { output, counts } = run({
    'room/a.test.js': says,
    'room/b.test.js': `${says}beforeEach(() => undefined)\n`,
    'room/c.test.js': `// Runs alone: it says so.\n${says}`,
    'room/d.test.js': says,
  })
  assert.equal(new Set(output.match(/process \d+/g)).size, 3, output)
  assert.equal(counts, '4 passed, 4 failed, 0 skipped')
})

test('test runner: arguments choose files by their path, and none at all is an error', () => {
  const files = { 'journal/a.test.js': passing('one'), 'router/b.test.js': passing('two') }
  assert.equal(run(files, 'journal/').counts, '1 passed, 0 failed, 0 skipped')
  const none = run(files, 'nowhere')
  assert.equal(none.status, 1)
  assert.match(none.output, /no test file matches: nowhere/)
})

test('test runner: asked for the whole size, it says so to the files; asked for those of two sizes, it runs no other', () => {
  const sizes = `export const size = process.env['SERIATIM_TESTS'] ?? 'quick'\n`
  const sized = running(
    `import { size } from './support/sizes.js'\ntest('size', () => assert.equal(size, 'whole'))`,
  )
  const files = { 'support/sizes.js': sizes, 'a.test.js': sized, 'b.test.js': passing('other') }
  assert.equal(run(files, '--whole').counts, '2 passed, 0 failed, 0 skipped')
  assert.equal(run(files, '--whole', '--sized').counts, '1 passed, 0 failed, 0 skipped')
  assert.equal(run(files).counts, '1 passed, 1 failed, 0 skipped')
})
