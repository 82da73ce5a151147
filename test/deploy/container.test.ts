// What the container image, the compose file, the unit of systemd and the GitHub Action say is true of this program. An
// image is built by the workflow that runs on a machine with Docker.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import { help } from '../../src/cli/server/start.js'
import { cassandraOptionsOf } from '../../src/engine/cassandra/options.js'
import { testFolder } from '../support/folder.js'

const ROOT = resolve(import.meta.dirname, '../../..')
const run = promisify(execFile)
const textOf = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

/** What the entry point of the image would run, said by a `seriatim` that only repeats its arguments. */
async function entryOf(...args: string[]): Promise<string> {
  const folder = testFolder()
  writeFileSync(join(folder, 'seriatim'), '#!/bin/sh\necho "$@"\n', { mode: 0o755 })
  const { stdout } = await run(join(ROOT, 'docker/entrypoint.sh'), args, {
    env: { ...process.env, PATH: `${folder}:${process.env['PATH']}` },
  })
  return stdout.trim()
}

const OPEN = 'start --host 0.0.0.0 --no-auth --allow-service-names --path /data'

test('container: without options it serves the store in /data to every client that reaches it', async () => {
  assert.equal(await entryOf(), OPEN)
})

test("container: DynamoDB Local's flags are passed on as they are", async () => {
  const flags = ['-jar', 'DynamoDBLocal.jar', '-sharedDb', '-dbPath', './data']
  assert.equal(await entryOf(...flags), `${OPEN} ${flags.join(' ')}`)
  assert.equal(await entryOf('java', ...flags), `${OPEN} ${flags.join(' ')}`)
  assert.equal(await entryOf('-inMemory'), `${OPEN} -inMemory`)
})

test('container: with keys it does not say that there are none', async () => {
  assert.equal(
    await entryOf('--auth', 'keys.json', '--nodes', '2'),
    'start --host 0.0.0.0 --path /data --auth keys.json --nodes 2',
  )
  assert.equal(await entryOf('--auth=keys.json'), 'start --host 0.0.0.0 --path /data --auth=keys.json')
})

test('container: another command is run as it is', async () => {
  assert.equal(await entryOf('verify', '--path', '/data'), 'verify --path /data')
  assert.equal(await entryOf('start', '--nodes', '2'), `${OPEN} --nodes 2`)
})

test('container: the image runs without root, declares its volume, and asks for health by the subcommand', () => {
  const lines = textOf('Dockerfile').split('\n')
  const last = lines.findLastIndex((line) => line.startsWith('FROM '))
  const image = lines.slice(last).join('\n')
  assert.match(image, /^USER [1-9]\d*:[1-9]\d*$/m)
  assert.match(image, /^VOLUME \/data$/m)
  assert.match(image, /^HEALTHCHECK [^]*? CMD seriatim health --endpoint /m)
  assert.match(image, /^ENTRYPOINT \["seriatim-container"\]$/m)
})

test('container: all that the Dockerfile copies is let through by .dockerignore', () => {
  const copied = [...textOf('Dockerfile').matchAll(/^COPY (?!--from)(?:--\S+ )*(.+) \S+$/gm)].flatMap(
    ([, paths]) => paths!.split(' '),
  )
  const admitted = textOf('.dockerignore').split('\n')
  assert.ok(copied.length >= 5)
  for (const path of copied) {
    assert.ok(existsSync(join(ROOT, path)), path)
    assert.ok(admitted.includes(`!${path.split('/')[0]}`), path)
  }
})

test('container: it has the driver of Cassandra with all that the driver needs', () => {
  const [, saved = ''] = /^RUN mkdir \/driver && cp -R (.+) \/driver$/m.exec(textOf('Dockerfile')) ?? []
  const { dependencies } = JSON.parse(textOf('node_modules/cassandra-driver/package.json')) as {
    readonly dependencies: Readonly<Record<string, string>>
  }
  const needed = ['cassandra-driver', ...Object.keys(dependencies)]
  assert.deepEqual(saved.split(' ').toSorted(), needed.map((name) => `node_modules/${name}`).toSorted())
})

interface ComposeFile {
  readonly services: Readonly<
    Record<
      string,
      {
        readonly read_only?: boolean
        readonly ports?: readonly string[]
        readonly command?: string | readonly string[]
      }
    >
  >
}

test('compose: the example has a read-only root and publishes its port on loopback only', () => {
  const { services } = parse(textOf('examples/deploy/compose.yaml')) as ComposeFile
  const { dynamodb } = services
  assert.equal(dynamodb?.read_only, true)
  assert.deepEqual(dynamodb?.ports, ['127.0.0.1:8000:8000'])
})

test('compose: the fleet has three nodes with Paxos v2, two servers on all of them, and a balancer on loopback', () => {
  const file = parse(textOf('examples/deploy/compose.fleet.yaml'), { merge: true }) as ComposeFile & {
    readonly configs: { readonly balancer: { readonly content: string } }
  }
  const nodes = ['cassandra-1', 'cassandra-2', 'cassandra-3']
  for (const node of nodes) assert.match(String(file.services[node]?.command), /paxos_variant: v2/)
  for (const name of ['seriatim-1', 'seriatim-2']) {
    const { command, read_only: isReadOnly, ports } = file.services[name]!
    const [option, address, ...rest] = String(command).split(' ')
    assert.deepEqual([option, rest], ['--engine', []])
    assert.deepEqual(cassandraOptionsOf(String(address)).contactPoints, nodes)
    assert.equal(isReadOnly, true)
    assert.equal(ports, undefined)
    assert.match(file.configs.balancer.content, new RegExp(`server ${name}:8000 `))
  }
  assert.deepEqual(file.services['balancer']?.ports, ['127.0.0.1:8000:8000'])
  assert.match(file.configs.balancer.content, /proxy_set_header Host \$\$http_host;/)
})

test('systemd: the unit starts the server with options that exist', () => {
  const unit = textOf('examples/deploy/seriatim.service')
  const [, command = ''] = /^ExecStart=\/usr\/bin\/env seriatim start (.+)$/m.exec(unit) ?? []
  const options = command.match(/--[\w-]+/g) ?? []
  assert.deepEqual(options, ['--port', '--path', '--auth'])
  for (const option of options) assert.ok(help.includes(`  ${option} `), option)
  assert.match(unit, /^DynamicUser=yes$/m)
})

test('systemd: the port is in one place, from which the server and its health check have it', () => {
  const unit = textOf('examples/deploy/seriatim.service').replaceAll(/^#.*\n/gm, '')
  assert.deepEqual(unit.match(/\b8000\b/g), ['8000'])
  assert.match(unit, /^Environment=SERIATIM_PORT=8000$/m)
  assert.match(unit, /^ExecStart=.* --port \$\{SERIATIM_PORT\} /m)
  assert.match(
    unit,
    /^ExecStartPost=.* seriatim health --endpoint \$\{SERIATIM_ORIGIN\}:\$\{SERIATIM_PORT\};/m,
  )
})

interface ActionFile {
  readonly inputs: Readonly<Record<string, { readonly default?: string }>>
  readonly runs: {
    readonly steps: readonly { readonly run: string; readonly env: Readonly<Record<string, string>> }[]
  }
}

const action = parse(textOf('action.yml')) as ActionFile

test('action: no input stands in a script, where it would be run as code', () => {
  for (const { run: script } of action.runs.steps) assert.ok(!script.includes('${{'))
})

/** The last step, on a temporary folder in which this build is installed. */
async function startStep(env: Readonly<Record<string, string>>) {
  const temporary = testFolder()
  const bin = join(temporary, 'seriatim/node_modules/.bin')
  mkdirSync(bin, { recursive: true })
  writeFileSync(
    join(bin, 'seriatim'),
    `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, 'lib/main.js')}" "$@"\n`,
    { mode: 0o755 },
  )
  const output = join(temporary, 'output')
  writeFileSync(output, '')
  const step = action.runs.steps.at(-1)!
  const defaults = { PORT: '0', DATA_PATH: '', OPTIONS: '' }
  assert.deepEqual(Object.keys(step.env), Object.keys(defaults))
  const ran = await run('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', step.run], {
    env: { ...process.env, ...defaults, ...env, RUNNER_TEMP: temporary, GITHUB_OUTPUT: output },
  }).then(
    ({ stdout }) => ({ code: 0, stdout }),
    ({ code, stdout }: { code: number; stdout: string }) => ({ code, stdout }),
  )
  const [, endpoint, pid] = /^endpoint=(.+)\npid=(\d+)\n$/.exec(readFileSync(output, 'utf8')) ?? []
  return { ...ran, endpoint, pid: Number(pid) }
}

test('action: it starts a server, waits until it is healthy, and says where it is', async () => {
  const { code, endpoint, pid } = await startStep({ OPTIONS: '--nodes 2' })
  assert.equal(code, 0)
  try {
    assert.deepEqual(await (await fetch(`${endpoint}/health`)).json(), { status: 'ok' })
  } finally {
    process.kill(pid)
  }
})

test('action: a server that does not start fails the step and says why', async () => {
  const { code, stdout } = await startStep({ OPTIONS: '--no-such-option' })
  assert.equal(code, 1)
  assert.match(stdout, /::error::[^]*Unknown option '--no-such-option'/)
})

test('workflows: CI runs the tests on every supported Node, and the whole check once', () => {
  const { jobs } = parse(textOf('.github/workflows/ci.yml')) as {
    readonly jobs: {
      readonly test: {
        readonly strategy: { readonly matrix: { readonly node: readonly number[] } }
        readonly steps: readonly { readonly run?: string; readonly env?: { readonly CI?: string } }[]
      }
      readonly check: { readonly container: string; readonly steps: readonly { readonly run?: string }[] }
    }
  }
  assert.deepEqual(jobs.test.strategy.matrix.node, [20, 22, 24])
  const last = jobs.test.steps.at(-1)
  assert.equal(last?.run, 'npm test')
  assert.equal(last?.env?.CI, 'false', 'nothing installs the clients there that a test may not lack in CI')
  assert.equal(jobs.check.steps.at(-1)?.run, '.ci/run')
})

test('workflows: the check, the release and the image have the Node of .nvmrc, on Debian', () => {
  const version = textOf('.nvmrc').trim()
  for (const [file, job] of [
    ['ci.yml', 'check'],
    ['release.yml', 'publish'],
  ] as const) {
    const { jobs } = parse(textOf(`.github/workflows/${file}`)) as {
      readonly jobs: Readonly<Record<string, { readonly container: string }>>
    }
    assert.equal(jobs[job]?.container, `node:${version}-bookworm`)
  }
  assert.match(textOf('Dockerfile'), new RegExp(`^ARG NODE_VERSION=${version}$`, 'm'))
})
