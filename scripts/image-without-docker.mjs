// Builds and tries the container image where no Docker runs: the steps of the Dockerfile, one by one, in copies of a Debian
// root, and then the entry point as the user of the image on a read-only root.
//
//   debootstrap --variant=minbase bookworm ROOT && install NODE ROOT/usr/local/bin/ ...    (with npm beside it)
//   sudo node scripts/image-without-docker.mjs ROOT WORK
//
// ROOT stands for the base image: Debian with Node, npm and a user node (1000). WORK is made, and holds a root for each
// stage. It needs root and Linux (chroot, mount namespaces). It proves the steps, not Docker's own part of the work.
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const CHECKOUT = join(dirname(fileURLToPath(import.meta.url)), '..')
const [base, work] = process.argv.slice(2)
if (base === undefined || work === undefined) {
  console.error('usage: node scripts/image-without-docker.mjs ROOT WORK')
  process.exit(2)
}
const HEALTHY_ATTEMPTS = 60

const image = build()
await tryOut(image)

function build() {
  const stages = new Map()
  const args = new Map()
  let stage
  for (const { instruction, rest } of instructions()) {
    const text = rest.replaceAll(/\$\{(\w+)\}/g, (all, name) => args.get(name) ?? all)
    switch (instruction) {
      case 'ARG': {
        const [name, value] = text.split('=')
        args.set(name, value)
        break
      }
      case 'FROM': {
        const [, , name = 'image'] = /^(\S+)(?: AS (\S+))?$/.exec(text)
        stage = { root: join(work, name), cwd: '/', env: {}, user: '0:0' }
        stages.set(name, stage)
        rmSync(stage.root, { recursive: true, force: true })
        mkdirSync(work, { recursive: true })
        must('cp', ['-a', base, stage.root])
        break
      }
      case 'WORKDIR':
        stage.cwd = posix.resolve(stage.cwd, text)
        mkdirSync(join(stage.root, stage.cwd), { recursive: true })
        break
      case 'ENV':
        Object.assign(stage.env, Object.fromEntries([text.split('=')]))
        break
      case 'COPY':
        copy(stage, text, stages)
        break
      case 'RUN':
        console.log(`RUN ${text}`)
        must(...inRoot(stage, ['/bin/sh', '-c', rest], { network: true }))
        break
      case 'USER':
        stage.user = text
        break
      case 'HEALTHCHECK':
        stage.health = rest.replace(/^.*?\bCMD /, '')
        break
      case 'ENTRYPOINT':
        stage.entry = JSON.parse(text)
        break
      case 'LABEL':
      case 'VOLUME':
      case 'EXPOSE':
        break
      default:
        throw new Error(`${instruction} is not known here`)
    }
  }
  return stage
}

/** Lines that end in a backslash go on. */
function instructions() {
  const lines = readFileSync(join(CHECKOUT, 'Dockerfile'), 'utf8')
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
  return lines
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, instruction, rest] = /^(\w+) (.*)$/.exec(line)
      return { instruction, rest }
    })
}

function copy(stage, text, stages) {
  const words = text.split(' ')
  const option = (name) => words.find((word) => word.startsWith(`--${name}=`))?.split('=')[1]
  const from = option('from') === undefined ? CHECKOUT : stages.get(option('from')).root
  const paths = words.filter((word) => !word.startsWith('--'))
  const to = paths.pop()
  for (const path of paths) {
    const target = posix.resolve(
      stage.cwd,
      to,
      paths.length > 1 || to.endsWith('/') ? posix.basename(path) : '',
    )
    mkdirSync(dirname(join(stage.root, target)), { recursive: true })
    cpSync(join(from, path), join(stage.root, target), { recursive: true, verbatimSymlinks: true })
    must('chown', ['-R', '0:0', join(stage.root, target)])
    if (option('chmod') !== undefined) must('chmod', [option('chmod'), join(stage.root, target)])
  }
}

/** A command line that runs in the root of a stage, with a /proc and a /dev there; read-only but for what is bound. */
function inRoot(stage, command, { user = stage.user, readOnly = false, binds = [], network = false } = {}) {
  const { root, cwd, env } = stage
  const [uid, gid] = user.split(':')
  const steps = [
    `mount --bind '${root}' '${root}'`,
    `mount -t proc proc '${root}/proc'`,
    `mount --rbind /dev '${root}/dev'`,
  ]
  for (const [outside, inside] of binds) steps.push(`mount --bind '${outside}' '${root}${inside}'`)
  if (network)
    steps.push(`touch '${root}/etc/resolv.conf' && mount --bind /etc/resolv.conf '${root}/etc/resolv.conf'`)
  const certificates = network ? process.env['NODE_EXTRA_CA_CERTS'] : undefined
  if (certificates !== undefined) {
    const inside = `${root}${certificates}`
    steps.push(
      `mkdir -p '${dirname(inside)}'`,
      `touch '${inside}'`,
      `mount --bind '${certificates}' '${inside}'`,
    )
  }
  if (readOnly) steps.push(`mount -o remount,ro,bind '${root}'`)
  // npm asks the same registry as outside.
  const outer = network ? ['npm_config_registry', 'NODE_EXTRA_CA_CERTS'] : []
  const passed = outer.flatMap((name) =>
    process.env[name] === undefined ? [] : [`${name}=${process.env[name]}`],
  )
  const inner = [
    'chroot',
    root,
    'setpriv',
    `--reuid=${uid}`,
    `--regid=${gid}`,
    '--clear-groups',
    ...(uid === '0' ? [] : ['--no-new-privs', '--bounding-set=-all', '--inh-caps=-all']),
    'env',
    '-i',
    'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    'HOME=/tmp',
    ...passed,
    ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
    'sh',
    '-c',
    `cd '${cwd}' && exec "$@"`,
    'sh',
    ...command,
  ]
  const script = `set -e; ${steps.join('; ')}; exec "$@"`
  return ['unshare', ['--mount', '--propagation', 'private', 'sh', '-c', script, 'sh', ...inner]]
}

function must(program, args) {
  const { status } = spawnSync(program, args, { stdio: 'inherit' })
  if (status !== 0) throw new Error(`${program} ended with ${status}`)
}

async function tryOut(stage) {
  const data = join(work, 'data')
  rmSync(data, { recursive: true, force: true })
  mkdirSync(data, { recursive: true })
  must('chown', [stage.user, data])
  const options = { readOnly: true, binds: [[data, '/data']] }
  const runs = [
    [],
    ['-jar', 'DynamoDBLocal.jar', '-sharedDb'],
    ['-inMemory', '-disableTelemetry'],
    ['--nodes', '1'],
  ]
  for (const args of runs) {
    console.log(`\nseriatim-container ${args.join(' ')}`)
    const server = spawn(...inRoot(stage, [...stage.entry, ...args], options), { stdio: 'inherit' })
    const ended = new Promise((resolve) => server.once('exit', (code, signal) => resolve(signal ?? code)))
    let healthy = false
    for (let attempt = 0; attempt < HEALTHY_ATTEMPTS && !healthy && server.exitCode === null; attempt++) {
      await delay(500)
      healthy =
        spawnSync(...inRoot(stage, ['/bin/sh', '-c', stage.health], options), { stdio: 'inherit' }).status ===
        0
    }
    if (healthy && args.length === 0) await createTable()
    server.kill('SIGTERM')
    const end = await ended
    if (!healthy || end !== 0) throw new Error(`healthy: ${healthy}; ended with ${end}`)
  }
  const outside = spawnSync(
    ...inRoot(stage, ['sh', '-c', 'touch /seriatim/x /home/dynamodblocal/x; id'], options),
    {
      encoding: 'utf8',
    },
  )
  console.log(outside.stdout, outside.stderr)
  must(...inRoot(stage, [...stage.entry, 'verify', '--path', '/data'], options))
  if (!existsSync(join(data, 'seriatim.json'))) throw new Error('there is no data in the volume')
  console.log('The image is as it should be.')
}

/** Something to verify in the data. */
async function createTable() {
  const { status } = await fetch('http://127.0.0.1:8000', {
    method: 'POST',
    headers: {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': 'DynamoDB_20120810.CreateTable',
    },
    body: JSON.stringify({
      TableName: 'Books',
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    }),
  })
  if (status !== 200) throw new Error(`CreateTable was answered with ${status}`)
}
