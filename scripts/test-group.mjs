// Runs test files one after another in this process: node scripts/test-group.mjs FILE... (scripts/test.mjs starts it).
// Node 20 can only give each file a process of its own, and half a second of imports with it.
import { appendFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { END_OF_FILE } from './test-events.mjs'
import { withoutHooks } from './test-hooks.mjs'
import { spentMs } from './test-spent.mjs'

const { test } = await withoutHooks(() => import('node:test'))

const files = process.argv.slice(2)
const tell = (event) => appendFileSync(process.env['SERIATIM_TEST_EVENTS'], `${JSON.stringify(event)}\n`)
let began = spentMs()
const ended = (file) => {
  const now = spentMs()
  tell({ type: 'spent', file, wallMs: now.wallMs - began.wallMs, cpuMs: now.cpuMs - began.cpuMs })
  began = now
}
process.on('exit', () => ended(files.at(-1)))

for (const [at, file] of files.entries()) {
  // A new process runs no test before the first file is loaded. Later ones wait behind a test that stands between the files:
  // it begins when all tests before it have ended, and ends when the file is loaded.
  const loaded = at === 0 ? () => undefined : await betweenFiles(files[at - 1])
  try {
    await import(pathToFileURL(file).href)
  } catch (error) {
    process.exitCode = 1
    tell({
      type: 'broken',
      file,
      text: error instanceof Error ? (error.stack ?? error.message) : String(error),
    })
  }
  loaded()
}

async function betweenFiles(before) {
  let loaded
  const next = new Promise((resolve) => (loaded = resolve))
  await new Promise((begin) => {
    void test(END_OF_FILE, () => {
      begin()
      return next
    })
  })
  ended(before)
  return loaded
}
