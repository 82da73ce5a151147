// The load generator as the rest of the benchmark sees it: a process of its own, so that it competes with a server for
// nothing but the machine.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { GeneratorMessage } from './generator.js'
import type { LoadJob, LoadResult } from './load.js'

export class Generator {
  readonly #child: ChildProcess

  constructor() {
    this.#child = fork(fileURLToPath(new URL('generator.js', import.meta.url)), {
      // It allocates next to nothing that lives on; a small young space would only be collected more often.
      execArgv: ['--max-semi-space-size=16'],
    })
  }

  /** One at a time. `onMeasuring` is called when the warm-up is over. Rejects if the server closes a connection. */
  run(job: LoadJob, onMeasuring: () => void = () => undefined): Promise<LoadResult> {
    const child = this.#child
    return new Promise((resolve, reject) => {
      const done = (): void => {
        child.off('message', onMessage)
        child.off('exit', onExit)
      }
      const onExit = (): void => {
        done()
        reject(new Error('the load generator has ended'))
      }
      const onMessage = (message: GeneratorMessage): void => {
        if (message.kind === 'measuring') {
          onMeasuring()
          return
        }
        done()
        if (message.kind === 'done') resolve(message.result)
        else reject(new Error(message.reason))
      }
      child.on('message', onMessage)
      child.on('exit', onExit)
      if (child.connected) child.send(job)
      else onExit()
    })
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null) return
    const exited = once(this.#child, 'exit')
    this.#child.disconnect()
    await exited
  }
}
