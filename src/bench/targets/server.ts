// A server that is measured: a process of its own that is started here, or an endpoint that runs already.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { filesIn, settledFolder } from './folder.js'
import { freePort } from './free-port.js'
import { post } from './post.js'
import { type Memory, memoryOf, ownUsage, type Usage, usageOf } from './usage.js'

export interface MeasuredServer {
  readonly name: string
  readonly title: string
  readonly endpoint: string
  /** From the start of its process to its first answer; undefined for an endpoint that was there. */
  readonly startMs?: number
  /** Of its process; undefined for an endpoint that was there. */
  pid(): number | undefined
  memory(): Memory | undefined
  usage(): Usage | undefined
  /** Processor time of its first process alone, without those that it has started. */
  firstCpuMicros?(): number | undefined
  /** All files of its folder. */
  folderBytes(): number
  /** Until what it has written is on the disk, and the system's cache holds its files. */
  settle(): Promise<void>
  /**
   * Kills it, does something with its folder if that is asked, and starts it again; the milliseconds from then to its first
   * answer.
   */
  restart(meanwhile?: (folder: string) => Promise<void>): Promise<number>
  /** Sends a word over the channel of its command, and resolves to the answer. */
  ask(word: string): Promise<unknown>
  /** Kills it and removes its folder. */
  stop(): Promise<void>
}

export interface ServerCommand {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd?: string
  /** With a channel to talk with the process that starts it. */
  readonly channel?: true
}

export interface Missing {
  /** A sentence: what is not there, and how to get it. */
  readonly missing: string
}

export interface ServerPlace {
  readonly port: number
  /** An empty folder of its own. */
  readonly folder: string
}

export interface ServerOptions {
  readonly name: string
  readonly title: string
  readonly commandAt: (place: ServerPlace) => ServerCommand | Missing
}

const START_MS_MAX = 30_000
const LOOK_AGAIN_MS = 2

export async function startServer({
  name,
  title,
  commandAt,
}: ServerOptions): Promise<MeasuredServer | Missing> {
  const folder = mkdtempSync(join(tmpdir(), 'seriatim-bench-'))
  const port = await freePort()
  const command = commandAt({ port, folder })
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  if ('missing' in command) {
    remove()
    return command
  }
  let child = spawnCommand(command)
  // Should this process end without stopping it.
  const killNow = (): void => {
    child.kill('SIGKILL')
    remove()
  }
  process.once('exit', killNow)
  const stop = async (): Promise<void> => {
    process.off('exit', killNow)
    await kill(child)
    remove()
  }
  const endpoint = `http://127.0.0.1:${port}`
  let startMs: number
  try {
    startMs = await untilAnswer(child, command, endpoint)
  } catch (error) {
    await stop()
    return { missing: `${title} does not start: ${(error as Error).message}` }
  }
  const pid = (): number => child.pid as number
  return {
    name,
    title,
    endpoint,
    startMs,
    pid,
    memory: () => memoryOf(pid()),
    usage: () => usageOf(pid()),
    firstCpuMicros: () => ownUsage(pid())?.cpuMicros,
    folderBytes: () => bytesIn(folder),
    settle: () => settledFolder(folder),
    async restart(meanwhile) {
      await kill(child)
      await meanwhile?.(folder)
      child = spawnCommand(command)
      return untilAnswer(child, command, endpoint)
    },
    async ask(word) {
      const answered = once(child, 'message')
      child.send(word)
      const [answer] = (await answered) as [{ readonly error?: string }]
      if (answer.error !== undefined) throw new Error(answer.error)
      return answer
    },
    stop,
  }
}

const spawnCommand = ({ program, args, cwd, channel }: ServerCommand): ChildProcess =>
  spawn(program, args, {
    stdio: channel === true ? ['ignore', 'ignore', 'ignore', 'ipc'] : 'ignore',
    cwd,
  })

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

const bytesIn = (folder: string): number =>
  filesIn(folder).reduce((sum, file) => sum + blocksOf(file) * BLOCK_BYTES, 0)

/** What a file takes of the disk, which for one with holes is less than its length. */
const BLOCK_BYTES = 512
function blocksOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.blocks ?? 0
}

/** An endpoint that runs already is left as it is, and only seen from outside. */
export function endpointServer(endpoint: string): MeasuredServer {
  return {
    name: 'endpoint',
    title: endpoint,
    endpoint,
    memory: () => undefined,
    pid: () => undefined,
    usage: () => undefined,
    folderBytes: () => 0,
    settle: () => Promise.resolve(),
    restart: () => Promise.reject(new Error('not started here')),
    ask: () => Promise.reject(new Error('not started here')),
    stop: () => Promise.resolve(),
  }
}

/** The milliseconds until then. */
async function untilAnswer(
  child: ChildProcess,
  { program }: ServerCommand,
  endpoint: string,
): Promise<number> {
  const startedAt = performance.now()
  const failed = new Promise<never>((_, reject) => {
    child.once('error', (error) => reject(new Error(`${program}: ${error.message}`)))
    child.once('exit', (code) => reject(new Error(`${program} ended with ${code}`)))
  })
  failed.catch(() => undefined)
  const deadline = performance.now() + START_MS_MAX
  while (performance.now() < deadline) {
    const answered = post(endpoint, 'ListTables', {}).then(
      () => true,
      () => false,
    )
    if (await Promise.race([answered, failed])) return performance.now() - startedAt
    const later = new Promise<void>((resolve) => setTimeout(resolve, LOOK_AGAIN_MS))
    await Promise.race([later, failed])
  }
  throw new Error(`no answer within ${START_MS_MAX} ms`)
}
