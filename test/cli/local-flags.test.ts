// The flags of DynamoDB Local, as scripts and compose files have them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { translateLocalFlags } from '../../src/cli/server/local-flags.js'
import { run } from '../../src/cli/run.js'
import { ask, requestOf } from '../server/support.js'
import { testWorld } from './test-world.js'

const translated = (line: string): string => translateLocalFlags(line.split(' ')).args.join(' ')

test("DynamoDB Local's flags become the options that say the same", () => {
  for (const [given, ours] of [
    ['-port 9000', '--port 9000'],
    ['-port=9000', '--port 9000'],
    ['-inMemory', '--memory'],
    ['-dbPath ./data', '--path ./data'],
    ['-sharedDb -inMemory', '--memory'],
    [
      '-cors http://localhost:3000,https://app.example',
      '--allow-origin http://localhost:3000 --allow-origin https://app.example',
    ],
    ['--port 1 -inMemory --nodes 2', '--port 1 --memory --nodes 2'],
    ['--path here', '--path here'],
  ] as const) {
    assert.equal(translated(given), ours, given)
  }
})

test("DynamoDB Local's flags may follow java and its options, as its users write them", () => {
  const line =
    '-Djava.library.path=./DynamoDBLocal_lib -Xmx1g -jar DynamoDBLocal.jar -sharedDb -dbPath ./data'
  assert.equal(translated(line), '--path ./data')
  assert.equal(translated(`java ${line} -port 8001`), '--path ./data --port 8001')
  assert.equal(translated('-jar DynamoDBLocal.jar -inMemory'), '--memory')
  const { notes } = translateLocalFlags(line.split(' '))
  assert.deepEqual(notes, [
    '-Djava.library.path=./DynamoDBLocal_lib is an option of Java and changes nothing here',
    '-Xmx1g is an option of Java and changes nothing here',
  ])
})

test("DynamoDB Local's flags that change nothing here are ignored with a sentence", async () => {
  const ignored = ['-disableTelemetry', '-delayTransientStatuses', '-optimizeDbBeforeStartup']
  const cli = testWorld()
  const code = run(['start', '-port', '0', '-inMemory', '-sharedDb', ...ignored], cli.world)
  await cli.listening
  cli.signal('SIGTERM')
  assert.equal(await code, 0)
  assert.deepEqual(cli.opened, [{ memory: true }])
  assert.equal(cli.out.length, 1)
  assert.deepEqual(
    cli.errors.map((line) => line.split(':', 2).join(':')),
    ignored.map((flag) => `seriatim: ${flag} changes nothing here`),
  )
})

test('-dbPath says where the data is kept, and of it and -inMemory the last one counts', async () => {
  for (const [args, opened] of [
    [['-dbPath', 'here'], { path: 'here' }],
    [['--path', '/data', '-inMemory'], { memory: true }],
    [['-inMemory', '-dbPath', 'here'], { path: 'here' }],
  ] as const) {
    const cli = testWorld()
    const code = run(['start', '-port', '0', ...args], cli.world)
    await cli.listening
    cli.signal('SIGTERM')
    assert.equal(await code, 0)
    assert.deepEqual(cli.opened, [opened])
  }
})

test('-cors admits pages of the origins that it lists, and of no others', async (t) => {
  const cli = testWorld()
  const code = run(['start', '-port', '0', '-inMemory', '-cors', 'https://app.example'], cli.world)
  const server = { port: await cli.listening } as Parameters<typeof ask>[1]
  const status = async (origin: string): Promise<number> =>
    (await ask(t, server, requestOf({ headers: { origin, 'sec-fetch-site': 'cross-site' } }))).status
  assert.deepEqual(
    [await status('https://app.example'), await status('https://evil.example'), await status('null')],
    [200, 403, 403],
  )
  cli.signal('SIGTERM')
  assert.equal(await code, 0)
})

test("-cors '*' lets no web page in, and the server says so and starts", async (t) => {
  const cli = testWorld()
  const code = run(['start', '-port', '0', '-inMemory', '-cors', '*'], cli.world)
  const server = { port: await cli.listening } as Parameters<typeof ask>[1]
  const origin = 'https://evil.example'
  assert.equal((await ask(t, server, requestOf({ headers: { origin } }))).status, 403)
  cli.signal('SIGTERM')
  assert.equal(await code, 0)
  assert.match(cli.errors.join(), /-cors '\*' is not followed: every web page/)
})

test('flags that DynamoDB Local does not have, or without their value, are a sentence and exit code 2', async () => {
  for (const [args, sentence] of [
    [['-prot', '1'], /Unknown option '-prot'; of DynamoDB Local's, -port, /],
    [['-port'], /-port needs a value/],
    [['-dbPath='], /-dbPath needs a value/],
    [['-port', 'http'], /--port must be a whole number/],
    [
      ['-cors', 'app.example'],
      /--allow-origin takes an origin such as http:\/\/localhost:3000, not 'app\.example'/,
    ],
  ] as const) {
    const cli = testWorld()
    assert.equal(await run(['start', ...args], cli.world), 2, args.join(' '))
    assert.match(cli.errors.join(), sentence)
    assert.deepEqual(cli.opened, [])
  }
})

test('start -help shows the options, as DynamoDB Local does', async () => {
  const cli = testWorld()
  assert.equal(await run(['start', '-help'], cli.world), 0)
  assert.match(cli.out.join('\n'), /-inMemory, -dbPath DIR, -sharedDb, -cors LIST/)
})
