// A thread beside that of the store that makes the blocks of large pages: hashes and texts of thousands of writes would keep
// requests waiting. It reads and keeps nothing; what it needs it is sent.
//
//   store: page of records, salts --> thread: heads of these documents? --> store: here --> thread: entries, leaves
//
// Should it end, or should no thread be possible here, the pages are made in the thread of the store.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { NoThread } from './no-thread.js'
import type { HeadsOf, MadePage, PageJob, PageMaker } from './page.js'
import { decodeMade, encodeHeads, encodeJob, type FromThread, type ToThread } from './page-messages.js'

export interface PageThread extends PageMaker {
  close(): Promise<void>
}

const FILE = 'page-thread-main.js'

/** Started by the first page. */
export function openPageThread(): PageThread {
  let worker: Worker | undefined
  let ended: NoThread | undefined
  const started = (): Worker => {
    if (ended !== undefined) throw ended
    if (worker !== undefined) return worker
    const file = fileURLToPath(new URL(FILE, import.meta.url))
    if (!existsSync(file)) throw (ended = new NoThread(`there is no ${FILE}`))
    worker = new Worker(file)
    worker.unref()
    return worker
  }
  return {
    make: (job, headsOf) => made(started(), job, headsOf, (reason) => (ended ??= new NoThread(reason))),
    async close() {
      ended ??= new NoThread('the store is closed')
      await worker?.terminate()
    },
  }
}

function made(
  worker: Worker,
  job: PageJob,
  headsOf: HeadsOf,
  end: (reason: string) => NoThread,
): Promise<MadePage> {
  return new Promise((resolve, reject) => {
    const done = (settle: () => void): void => {
      worker.off('message', onMessage).off('error', onError).off('exit', onExit)
      worker.unref()
      settle()
    }
    const send = (message: ToThread, bytes: readonly ArrayBuffer[]): void =>
      worker.postMessage(message, bytes)
    const onMessage = (message: FromThread): void => {
      switch (message.kind) {
        case 'wanted':
          headsOf(message.documents).then(
            (heads) => send(...encodeHeads(heads)),
            (error: Error) => done(() => reject(end(error.message))),
          )
          break
        case 'made':
          done(() => resolve(decodeMade(message)))
          break
        case 'failed':
          done(() => reject(new Error(message.reason)))
          break
      }
    }
    const onError = (error: Error): void => done(() => reject(end(error.message)))
    const onExit = (): void => done(() => reject(end('the thread has ended')))
    worker.on('message', onMessage).on('error', onError).on('exit', onExit)
    // While somebody waits for blocks the process stays.
    worker.ref()
    send(...encodeJob(job))
  })
}
