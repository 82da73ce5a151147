// A server as users start it: the command line in a process of its own, on a port that the system chose.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'

export interface SpawnedServer extends AsyncDisposable {
  readonly url: string
  readonly pid: number
  /** What it has said on stderr, if it was asked to be quiet. */
  readonly said: string
  /** The code and signal that it has ended with. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>
  /** Sends SIGTERM and resolves to the exit code. */
  stop(): Promise<number | null>
}

export interface SpawnOptions {
  /** No file of the server may grow beyond this: to it, the disk is full. */
  readonly fileBytesMax?: number
  /** Do not show what it says on stderr. */
  readonly quiet?: boolean
  readonly environment?: NodeJS.ProcessEnv
  /** One that the system chose before; 0, by default: the system chooses. */
  readonly port?: number
  /** MAIN by default. */
  readonly main?: string
}

/** The program as the modules that the package is made of. */
export const SOURCE = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))

/**
 * The program as the package ships it, which starts in half the time; the runner of the tests has built it. Where there was no
 * runner: the modules that it is made of.
 */
export const MAIN =
  process.env['SERIATIM_TESTS'] === undefined
    ? SOURCE
    : fileURLToPath(new URL('../../../lib/main.js', import.meta.url))
const SAID_MAX = 10_000

/** `node scripts/test.mjs --workers N`: unless the test says how many, or what it tries is for one. */
export function workersFor(args: readonly string[]): readonly string[] {
  const workers = process.env['SERIATIM_TEST_WORKERS']
  const isOfOne = args.some((each) => ['--workers', '--fault-plan', '--engine'].includes(each))
  return workers === undefined || isOfOne ? [] : ['--workers', workers]
}

const READY = /^seriatim listening on (https?:\/\/\S+)$/

/**
 * Starts `seriatim start --memory --port 0` and resolves when it has said where it listens.
 *
 * @example
 *   await using server = await spawnServer()
 *   await fetch(server.url)
 */
export async function spawnServer(
  args: readonly string[] = ['--memory'],
  options: SpawnOptions = {},
): Promise<SpawnedServer> {
  const command = [
    process.execPath,
    options.main ?? MAIN,
    'start',
    ...args,
    ...workersFor(args),
    '--port',
    String(options.port ?? 0),
  ]
  const { fileBytesMax, quiet, environment } = options
  // The shell counts in blocks of 512 bytes.
  const limit = fileBytesMax === undefined ? '' : `ulimit -f ${Math.floor(fileBytesMax / 512)}; `
  const child = spawn('/bin/sh', ['-c', `${limit}exec "$@"`, 'sh', ...command], {
    stdio: ['ignore', 'pipe', quiet === true ? 'pipe' : 'inherit'],
    ...(environment && { env: environment }),
  })
  let said = ''
  child.stderr?.on('data', (text: Buffer) => (said = (said + text.toString()).slice(-SAID_MAX)))
  const ended = new Promise<Awaited<SpawnedServer['ended']>>((resolve) =>
    child.once('exit', (code, signal) => resolve({ code, signal })),
  )
  const exited = ended.then(({ code }) => code)
  const stop = (): Promise<number | null> => {
    child.kill('SIGTERM')
    return exited
  }
  const stdout = child.stdout as Readable
  for await (const line of createInterface({ input: stdout })) {
    const url = READY.exec(line)?.[1]
    if (url !== undefined) {
      // A pipe that nobody reads must not stop the server.
      stdout.resume()
      return {
        url,
        // The shell has become the server.
        pid: child.pid as number,
        get said() {
          return said
        },
        ended,
        stop,
        [Symbol.asyncDispose]: async () => {
          await stop()
        },
      }
    }
  }
  throw new Error(`seriatim start ended before it was ready, with ${await exited}: ${said}`)
}
