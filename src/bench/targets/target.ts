// A server that is measured: one of ours, a peer or a bare server, each in a process of its own, or an endpoint that
// somebody else has started.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { commandOf, type Missing, TARGET_TITLES, type TargetName } from './commands.js'
import { post } from './post.js'
import { residentBytesOf, type Usage, usageOf } from './usage.js'

export interface Target {
  readonly name: string
  readonly title: string
  readonly endpoint: string
  /** From the start of its process to its first answer; undefined for an endpoint that was there. */
  readonly startMs?: number
  residentBytes(): number | undefined
  usage(): Usage | undefined
  /** Kills it and removes its folder. */
  stop(): Promise<void>
}

const START_MS_MAX = 30_000
const LOOK_AGAIN_MS = 2

export async function startTarget(
  name: TargetName,
  extra: readonly string[] = [],
): Promise<Target | Missing> {
  const folder = mkdtempSync(join(tmpdir(), 'seriatim-bench-'))
  const port = await freePort()
  const command = commandOf(name, { port, folder }, extra)
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  if ('missing' in command) {
    remove()
    return command
  }
  const startedAt = performance.now()
  const child = spawn(command.program, command.args, { stdio: 'ignore', cwd: command.cwd })
  // Should this process end without stopping it.
  const killNow = (): void => {
    child.kill('SIGKILL')
    remove()
  }
  process.once('exit', killNow)
  const stop = async (): Promise<void> => {
    process.off('exit', killNow)
    if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
      const exited = once(child, 'exit')
      child.kill('SIGKILL')
      await exited
    }
    remove()
  }
  const endpoint = `http://127.0.0.1:${port}`
  try {
    await answering(child, command.program, endpoint)
  } catch (error) {
    await stop()
    return { missing: `${TARGET_TITLES[name]} does not start: ${(error as Error).message}` }
  }
  const pid = child.pid as number
  return {
    name,
    title: TARGET_TITLES[name],
    endpoint,
    startMs: performance.now() - startedAt,
    residentBytes: () => residentBytesOf(pid),
    usage: () => usageOf(pid),
    stop,
  }
}

/** What somebody else has started is left as it is, and only seen from outside. */
export function endpointTarget(endpoint: string): Target {
  return {
    name: 'endpoint',
    title: endpoint,
    endpoint,
    residentBytes: () => undefined,
    usage: () => undefined,
    stop: () => Promise.resolve(),
  }
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

async function answering(child: ChildProcess, program: string, endpoint: string): Promise<void> {
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
    if (await Promise.race([answered, failed])) return
    const later = new Promise<void>((resolve) => setTimeout(resolve, LOOK_AGAIN_MS))
    await Promise.race([later, failed])
  }
  throw new Error(`no answer within ${START_MS_MAX} ms`)
}
