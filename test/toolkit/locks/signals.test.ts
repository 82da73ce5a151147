import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { open } from '../../../src/store/store.js'
import { locks } from '../../../src/toolkit/index.js'

const HOLDER = fileURLToPath(new URL('holder.js', import.meta.url))

test('locks: a process that is asked to end releases what it holds, and ends by the signal', async () => {
  await using store = await open({ memory: true })
  const { url } = await store.listen({ port: 0 })
  const admin = locks(store.client(), { table: 'Locks' })
  await admin.setup()
  const child = fork(HOLDER, [url, 'Locks'], { execArgv: ['--no-warnings'] })
  await once(child, 'message')
  assert.equal((await admin.inspect('a')).holders.length, 1)
  child.kill('SIGTERM')
  const [, signal] = (await once(child, 'exit')) as [number | null, string | null]
  assert.equal(signal, 'SIGTERM')
  assert.deepEqual(await admin.list(), [])
})
