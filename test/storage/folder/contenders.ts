// Processes that contend for data folders, in this pid namespace or in one of their own.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export type Order =
  | { readonly kind: 'open'; readonly path: string }
  | { readonly kind: 'close' }
  | { readonly kind: 'leave-child' }

export type Outcome =
  | { readonly kind: 'owner' }
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'closed' }
  | { readonly kind: 'child'; readonly pid: number }

const CONTENDER = fileURLToPath(new URL('contender.js', import.meta.url))
const NAMESPACE = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc']

/** Why there can be no process with a pid namespace of its own here; undefined: there can. */
export function namespaceRefusal(): string | undefined {
  const [command, ...args] = NAMESPACE
  const { status, error, stderr } = spawnSync(command as string, [...args, 'true'], { encoding: 'utf8' })
  return status === 0 ? undefined : `unshare is not permitted here: ${error?.message ?? stderr.trim()}`
}

export class Contender {
  readonly #child: ChildProcess
  #settle: { resolve: (outcome: Outcome) => void; reject: (error: Error) => void } | undefined

  private constructor(child: ChildProcess) {
    this.#child = child
    child.on('message', (outcome) => this.#settle?.resolve(outcome as Outcome))
    child.on('exit', (code, signal) =>
      this.#settle?.reject(new Error(`a contender ended with ${code ?? signal}`)),
    )
  }

  static async start(where: 'here' | 'own namespace' = 'here'): Promise<Contender> {
    const [command, ...args] = [
      ...(where === 'here' ? [] : NAMESPACE),
      process.execPath,
      '--enable-source-maps',
      CONTENDER,
    ]
    const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    await new Promise((resolve, reject) => {
      child.once('message', resolve)
      child.once('error', reject)
      child.once('exit', () => reject(new Error('a contender did not start')))
    })
    return new Contender(child)
  }

  get pid(): number {
    return this.#child.pid as number
  }

  ask(order: Order): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject }
      this.#child.send(order)
    })
  }

  /** kill -9; resolves when it has been waited for. */
  async kill(): Promise<void> {
    const gone = new Promise((resolve) => this.#child.once('exit', resolve))
    this.#child.kill('SIGKILL')
    await gone
  }

  /** Its channel was all that kept it. */
  end(): void {
    this.#child.disconnect()
  }
}
