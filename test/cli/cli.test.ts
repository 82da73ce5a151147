import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { run } from '../../src/cli/run.js'
import type { StoreLocation, CommandEnvironment } from '../../src/cli/command/environment.js'
import { ask, heldRouter, RawClient, requestOf } from '../server/support.js'
import { makeCertificate, noCertificates } from '../support/certificate.js'
import { testFolder } from '../support/folder.js'
import { testWorld } from './test-world.js'

test('cli: start prints one line when it is ready, serves, and ends with 0 at a signal', async (t) => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const cli = testWorld()
    const code = run(['start', '--port', '0', '--memory'], cli.world)
    const port = await cli.listening
    const server = { port } as Parameters<typeof ask>[1]
    assert.equal((await ask(t, server, requestOf())).status, 200)
    cli.signal(signal)
    assert.equal(await code, 0)
    assert.deepEqual(cli.out, [`seriatim listening on http://127.0.0.1:${port}`])
    assert.deepEqual(cli.errors, [])
    assert.equal(cli.closes(), 1)
  }
})

test('cli: a signal lets the request in flight finish before the store is closed; a second ends at once', async (t) => {
  const held = heldRouter()
  const cli = testWorld(held.router)
  const code = run(['start', '--port', '0', '--memory'], cli.world)
  const client = await RawClient.open(t, { port: await cli.listening } as Parameters<typeof ask>[1])
  client.write(requestOf())
  await held.arrival()
  cli.signal('SIGTERM')
  assert.equal(cli.closes(), 0)
  cli.signal('SIGTERM')
  assert.deepEqual(cli.exits, [143])
  held.answer('{"finished":true}')
  assert.deepEqual((await client.response())!.json, { finished: true })
  client.socket.end()
  assert.equal(await code, 0)
  assert.equal(cli.closes(), 1)
})

test('cli: a signal while the store is being opened closes it again without listening', async () => {
  const cli = testWorld()
  const world: CommandEnvironment = {
    ...cli.world,
    openStore: (options) => {
      cli.signal('SIGTERM')
      return cli.world.openStore(options)
    },
  }
  assert.equal(await run(['start', '--port', '0'], world), 0)
  assert.deepEqual(cli.out, [])
  assert.equal(cli.closes(), 1)
})

test('cli: the data is in ./data unless told otherwise, and the last of --path, --memory and --engine counts', async () => {
  const cases: readonly (readonly [readonly string[], StoreLocation])[] = [
    [[], { path: './data' }],
    [['--path', 'here'], { path: 'here' }],
    [['--memory'], { memory: true }],
    [['--path', './data', '--memory'], { memory: true }],
    [['--memory', '--path', 'here', '--nodes', '4'], { path: 'here', nodes: 4 }],
    [
      ['--path', './data', '--engine', 'cassandra://a,b/shop'],
      { engine: { contactPoints: ['a', 'b'], keyspace: 'shop' } },
    ],
  ]
  for (const [args, options] of cases) {
    const cli = testWorld()
    const code = run(['start', '--port', '0', ...args], cli.world)
    await cli.listening
    cli.signal('SIGTERM')
    assert.equal(await code, 0)
    assert.deepEqual(cli.opened, [options])
  }
})

test('cli: wrong usage is a sentence and exit code 2, and opens nothing', async () => {
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [['start', '--engine', 'redis://a/b'], /--engine: .* is not an engine: cassandra:/],
    [
      ['start', '--engine', 'cassandra://a/b', '--workers', '2'],
      /start several servers instead of --workers/,
    ],
    [['start', '--prot', '1'], /Unknown option '--prot'; the options are --port, /],
    [['start', 'now'], /Unexpected argument 'now'/],
    [['start', '--port', 'http'], /--port must be a whole number from 0 to 65535, not 'http'/],
    [['start', '--port', '65536'], /--port/],
    [['start', '--port=-1'], /--port/],
    [['start', '--nodes', '0'], /--nodes/],
    [['start', '--path', ''], /--path must name a folder/],
    [['start', '--host', '0.0.0.0'], /without authentication .* --auth FILE, or say --no-auth/],
    [['start', '--no-auth', '--auth', 'keys.json'], /contradict/],
    [['start', '--allow-host', 'a.example:80'], /--allow-host takes the name of a host without a port/],
    [['start', '--lock-ms-max', '0'], /--lock-ms-max/],
    [['start', '--shard-minutes', '0'], /--shard-minutes/],
    [['start', '--shard-minutes', '1441'], /--shard-minutes/],
    [['start', '--tls-cert', 'cert.pem'], /--tls-cert and --tls-key are given together/],
    [['fly'], /there is no command 'fly'; the commands are start, /],
    [['--fly'], /there is no option '--fly'/],
  ]
  for (const [args, message] of cases) {
    const cli = testWorld()
    assert.equal(await run(args, cli.world), 2, args.join(' '))
    assert.equal(cli.errors.length, 1)
    assert.match(cli.errors[0]!, message)
    assert.deepEqual(cli.opened, [])
  }
})

test('cli: a port in use is a sentence and exit code 1, and the store is closed', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1')
  t.after(() => taken.close())
  await new Promise((resolve) => taken.once('listening', resolve))
  const { port } = taken.address() as AddressInfo
  const cli = testWorld()
  assert.equal(await run(['start', '--port', String(port)], cli.world), 1)
  assert.deepEqual(cli.errors, [
    `seriatim start: port ${port} of 127.0.0.1 is already in use; choose another with --port`,
  ])
  assert.equal(cli.closes(), 1)
})

test('cli: a file of keys is asked for signatures, and warned about if others can read it', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'seriatim-cli-'))
  t.after(() => rm(folder, { recursive: true }))
  const path = join(folder, 'keys.json')
  const key = { accessKeyId: 'A', secretAccessKey: 's', tables: ['*'], access: ['read'] }
  await writeFile(path, JSON.stringify({ keys: [key] }), { mode: 0o644 })
  const cli = testWorld()
  const code = run(['start', '--port', '0', '--auth', path], cli.world)
  const port = await cli.listening
  const { json } = await ask(t, { port } as Parameters<typeof ask>[1], requestOf())
  assert.match(String(json['__type']), /MissingAuthenticationTokenException$/)
  cli.signal('SIGTERM')
  assert.equal(await code, 0)
  if (process.platform !== 'win32') assert.match(cli.errors.join(), /warning: .*chmod 600/)

  const without = testWorld()
  assert.equal(await run(['start', '--auth', join(folder, 'absent')], without.world), 1)
  assert.match(without.errors[0]!, /cannot read the file of keys/)
  assert.deepEqual(without.opened, [])
})

test('cli: another host without keys is listened on if that is said expressly', async (t) => {
  const cli = testWorld()
  const hosts = ['--allow-host', 'host.docker.internal', '--allow-host', 'db']
  const code = run(['start', '--port', '0', '--host', '0.0.0.0', '--no-auth', ...hosts], cli.world)
  const server = { port: await cli.listening } as Parameters<typeof ask>[1]
  const status = async (host: string): Promise<number> =>
    (await ask(t, server, requestOf({ headers: { host } }))).status
  assert.deepEqual(
    [await status('db:8000'), await status('host.docker.internal'), await status('other')],
    [200, 200, 403],
  )
  cli.signal('SIGTERM')
  assert.equal(await code, 0)
})

test('cli: a certificate that is not there, or is none, is a sentence', async () => {
  const folder = testFolder()
  const files = ['--tls-cert', join(folder, 'cert.pem'), '--tls-key', join(folder, 'key.pem')]
  const absent = testWorld()
  assert.equal(await run(['start', '--port', '0', ...files], absent.world), 1)
  assert.match(absent.errors.join(), /cannot read the certificate .*cert\.pem/)
  assert.deepEqual(absent.opened, [])
  for (const name of ['cert.pem', 'key.pem']) await writeFile(join(folder, name), 'nonsense', { mode: 0o600 })
  const wrong = testWorld()
  assert.equal(await run(['start', '--port', '0', ...files], wrong.world), 1)
  assert.match(wrong.errors.join(), /the certificate and its key cannot be used/)
  assert.equal(wrong.closes(), 1)
})

test(
  'cli: a SIGHUP while the store is being opened is acted upon when the server is there',
  { skip: noCertificates },
  async () => {
    const { certPath, keyPath } = makeCertificate()
    const cli = testWorld()
    const world: CommandEnvironment = {
      ...cli.world,
      openStore: (options) => {
        cli.hangup()
        return cli.world.openStore(options)
      },
    }
    const code = run(['start', '--port', '0', '--tls-cert', certPath, '--tls-key', keyPath], world)
    await cli.listening
    while (!cli.errors.join().includes('from now on')) await new Promise((resolve) => setImmediate(resolve))
    cli.signal('SIGTERM')
    assert.equal(await code, 0)
  },
)

test('cli: help and version are said', async () => {
  const said = async (...args: string[]): Promise<string> => {
    const cli = testWorld()
    assert.equal(await run(args, cli.world), 0)
    return cli.out.join('\n')
  }
  assert.match(await said('--help'), /seriatim start [^]*seriatim transactions [^]*seriatim verify/)
  assert.match(await said('start', '--help'), /--port PORT[^]*\.\/data/)
  assert.match(await said('--version'), /^\d+\.\d+\.\d+/)
})

test('cli: verify tells what it found and ends with 0 only if that is nothing', async () => {
  const sound = testWorld()
  assert.equal(await run(['verify', '--path', 'sound'], sound.world), 0)
  assert.deepEqual(sound.out, ['looked at sound'])
  const torn = testWorld()
  assert.equal(await run(['verify', '--path', 'torn'], torn.world), 1)
  assert.deepEqual(torn.errors, ['seriatim verify: the journal is torn'])
})
