import assert from 'node:assert/strict'
import { test } from 'node:test'
import { run } from '../../src/cli/run.js'
import { processEnvironment } from '../../src/cli/process-environment.js'
import type { CommandEnvironment } from '../../src/cli/command/environment.js'
import { open } from '../../src/store/store.js'
import { locks, transactor } from '../../src/toolkit/index.js'

test('cli: locks says who holds and who waits, and breaks a lock', async () => {
  await using store = await open({ memory: true })
  const server = await store.listen({ port: 0 })
  const holder = locks(store.client(), { table: 'Locks', label: 'the night job' })
  await holder.setup()
  const out: string[] = []
  const errors: string[] = []
  const world: CommandEnvironment = {
    ...processEnvironment(),
    print: (line) => out.push(line),
    printError: (line) => errors.push(line),
  }
  const command = (...more: readonly string[]): Promise<number> =>
    run(['locks', '--endpoint', server.url, '--table', 'Locks', ...more], world)

  assert.equal(await command(), 0)
  assert.deepEqual(out.splice(0), ['No lock is held.'])
  const lock = await holder.acquire('report', { namespace: 'nightly' })
  const end = new AbortController()
  const waiting = holder.acquire('report', { namespace: 'nightly', shared: true, signal: end.signal })
  while ((await holder.inspect('report', { namespace: 'nightly' })).waiting.length === 0);
  assert.equal(await command(), 0)
  assert.match(out[0] ?? '', /^report in nightly {2}\(highest fence granted: 1\)$/)
  assert.match(
    out[1] ?? '',
    /^ {2}holds {2}1, exclusive, since \d{4}-.*Z \(\d+ s\), lease 30 s, the night job$/,
  )
  assert.match(out[2] ?? '', /^ {2}waits {2}2, shared, since .*, position 1$/)
  out.length = 0
  assert.equal(await command('--json'), 0)
  assert.equal((JSON.parse(out.splice(0).join('')) as { granted: string }[])[0]?.granted, '1')

  assert.equal(await command('--break', 'report'), 1)
  assert.equal(await command('--break', 'report', '--namespace', 'nightly'), 0)
  assert.deepEqual(out.splice(0), ['nobody holds report', 'broken: report in nightly, fence 1'])
  const second = await waiting
  await assert.rejects(lock.heartbeat(), { name: 'LockLost' })
  await second.release()

  assert.equal(await command('--sweep'), 0)
  assert.deepEqual(out, ['removed 0 dead rows'])
  assert.equal(await run(['locks', '--table', 'Locks'], world), 2)
  assert.equal(await run(['locks', '--table', 'Locks', '--endpoint', 'nowhere'], world), 2)
  assert.match(errors.join('\n'), /give both --endpoint URL and --table NAME\n.*must be a URL/)
})

test('cli: a table that is not there is named, and the endpoint where it is missing', async () => {
  await using store = await open({ memory: true })
  const { url } = await store.listen({ port: 0 })
  const errors: string[] = []
  const world: CommandEnvironment = { ...processEnvironment(), printError: (line) => errors.push(line) }
  for (const more of [[], ['--break', 'x'], ['--sweep']])
    assert.equal(await run(['locks', '--endpoint', url, '--table', 'Nowhere', ...more], world), 1)
  assert.equal(await run(['sweep', '--endpoint', url, '--for', '0'], world), 1)
  await transactor(store.client(), { protocol: 'intents' }).setup()
  assert.equal(await run(['sweep', '--endpoint', url, '--tables', 'Nowhere', '--for', '0'], world), 1)
  const missing = (table: string): string => `Requested resource not found: the table ${table} is not there`
  assert.deepEqual(errors, [
    ...[1, 2, 3].map(
      () => `seriatim locks: ${missing('Nowhere')}; setup() of a lock client creates it (at ${url})`,
    ),
    `seriatim sweep: ${missing('seriatim-transactions')} (at ${url})`,
    `seriatim sweep: ${missing('Nowhere')} (at ${url})`,
  ])
})
