// Runs test files one after another in this process: node scripts/test-group.mjs FILE... (scripts/test.mjs starts it).
// Node 20 can only give each file a process of its own, and half a second of imports with it.
import { appendFileSync } from 'node:fs'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { END_OF_FILE } from './test-events.mjs'

const files = process.argv.slice(2)
const events = process.env['SERIATIM_TEST_EVENTS']

for (const [at, file] of files.entries()) {
  try {
    await import(pathToFileURL(file).href)
  } catch (error) {
    process.exitCode = 1
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
    appendFileSync(events, `${JSON.stringify({ type: 'broken', file, text })}\n`)
  }
  // Tests at the top run one after another: when this one runs, those of the file have ended, and the next file may begin.
  if (at < files.length - 1) await new Promise((resolve) => void test(END_OF_FILE, () => resolve()))
}
