import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { testFolder } from '../support/folder.js'

const INDEX = new URL('../../src/ordered-map/lmdb/lmdb-map.js', import.meta.url).href

/** Run with a limit on the length of a file, in a process of its own. */
const script = `
import { lmdbMap } from '${INDEX}'
const index = lmdbMap(process.argv[1])
const outcomes = []
for (let round = 1; round <= 4; round++) {
  const changes = Array.from({ length: 20 }, (_, n) => [round + '-' + n, Buffer.alloc(20_000, round)])
  await index.apply(changes, round).then(() => outcomes.push('done'), (error) => outcomes.push(error.message.split(':', 1)[0]))
}
const { appliedUpTo } = index
await index.apply([['small', Buffer.from('x')]], 9)
const seen = ['1-3', '4-3', 'small'].map((key) => index.get(key)?.length)
await index.close()
console.log(JSON.stringify({ outcomes, appliedUpTo, seen }))
`

test('index: a commit that fails is told to its caller and to nobody else, changes nothing, and others may follow', async () => {
  const { stdout } = await promisify(execFile)('/bin/sh', [
    '-c',
    'ulimit -f 2000; exec "$@"',
    'sh',
    process.execPath,
    '--input-type=module',
    '-e',
    script,
    testFolder(),
  ])
  const failed = 'the index could not be written'
  assert.deepEqual(JSON.parse(stdout.trim().split('\n').at(-1) as string), {
    outcomes: ['done', 'done', failed, failed],
    appliedUpTo: 2,
    seen: [20_000, null, 1],
  })
})
