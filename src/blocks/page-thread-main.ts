// The thread that makes blocks (page-thread.ts).
import { parentPort } from 'node:worker_threads'
import { type FromThread, decodeJob, decodePlaces, encodeMade, type ToThread } from './page-messages.js'
import { Pages } from './page.js'
import type { RevisionPlace } from './places.js'

const port = parentPort
if (port === null) throw new Error('it is a thread of a store')
const pages = new Pages()
let answered: (places: readonly (RevisionPlace | undefined)[]) => void = () => undefined

const send = (message: FromThread, bytes: readonly ArrayBuffer[] = []): void =>
  port.postMessage(message, bytes)

port.on('message', (message: ToThread) => {
  if (message.kind === 'places') {
    answered(decodePlaces(message))
    return
  }
  const newestOf = (documents: readonly string[]): Promise<readonly (RevisionPlace | undefined)[]> =>
    new Promise((resolve) => {
      answered = resolve
      send({ kind: 'newest', documents })
    })
  pages.make(decodeJob(message), newestOf).then(
    (made) => send(...encodeMade(made)),
    (error: Error) => send({ kind: 'failed', reason: error.message }),
  )
})
