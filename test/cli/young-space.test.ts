import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { nodesIn, youngSpaceBytesFor } from '../../src/cli/server/young-space.js'

const BYTES_MAX = 8 * 1024 * 1024
const YOUNG_SPACE = fileURLToPath(new URL('../../src/cli/server/young-space.js', import.meta.url))

/** Lets many objects live for a while, in turns as a server does, and prints how large the space became. */
const script = (bounded: string, halfWay: string): string => `
  import { boundYoungSpace, youngSpaceBytes } from ${JSON.stringify(YOUNG_SPACE)}
  ${bounded}
  let kept = []
  let most = 0
  for (let turn = 0; turn < 600; turn++) {
    const some = Array.from({ length: 2000 }, (_, at) => ({ turn, at, text: [at] }))
    kept.push(some)
    if (kept.length > 20) kept.shift()
    if (turn === 300) {
      ${halfWay}
    }
    most = Math.max(most, youngSpaceBytes())
    await new Promise(setImmediate)
  }
  console.log(most)`

async function mostBytes(bounded: string, flags: readonly string[] = [], halfWay = ''): Promise<number> {
  const args = [...flags, '--input-type=module', '--eval', script(bounded, halfWay)]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  return Number(stdout)
}

test('cli: the young space stays within its bound, which it would leave', async () => {
  assert.ok((await mostBytes('')) > 2 * BYTES_MAX)
  const bounded = await mostBytes(`boundYoungSpace(${BYTES_MAX})`)
  // It may have grown once more before its size was looked at.
  assert.ok(bounded <= 2 * BYTES_MAX, `${bounded} bytes`)
  const own = await mostBytes(`boundYoungSpace(${BYTES_MAX})`, ['--max-semi-space-size=16'])
  assert.ok(own > 2 * BYTES_MAX, `${own} bytes`)
})

test('cli: the young space stays within its bound when a thread is started', async () => {
  const start = `const { Worker } = await import('node:worker_threads')
    await new Promise((resolve) => new Worker('0', { eval: true }).once('exit', resolve))`
  const bounded = await mostBytes(`boundYoungSpace(${BYTES_MAX})`, [], start)
  assert.ok(bounded <= 2 * BYTES_MAX, `${bounded} bytes`)
})

test('cli: the young space may be larger with several nodes', async () => {
  assert.equal(youngSpaceBytesFor(1), 2 * BYTES_MAX)
  assert.equal(youngSpaceBytesFor(4), 4 * BYTES_MAX)
  assert.ok((await mostBytes(`boundYoungSpace(${4 * BYTES_MAX})`)) > 2 * BYTES_MAX)
  assert.equal(nodesIn(['start', '--nodes', '4', '--port', '0']), 4)
  assert.equal(nodesIn(['start', '--nodes=3']), 3)
  assert.equal(nodesIn(['start', '--path', 'data']), 1)
  assert.equal(nodesIn(['start', '--nodes', 'many']), 1)
})
