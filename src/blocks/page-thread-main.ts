// The thread that makes blocks (page-thread.ts).
import { parentPort } from 'node:worker_threads'
import { type FromThread, decodeJob, encodeMade, type ToThread } from './page-messages.js'
import { type HeadsOf, Pages } from './page.js'

const port = parentPort
if (port === null) throw new Error('it is a thread of a store')
const pages = new Pages()
let answered: (heads: Awaited<ReturnType<HeadsOf>>) => void = () => undefined

const send = (message: FromThread, bytes: readonly ArrayBuffer[] = []): void =>
  port.postMessage(message, bytes)

port.on('message', (message: ToThread) => {
  if (message.kind === 'heads') {
    answered(message.heads)
    return
  }
  const headsOf: HeadsOf = (documents) =>
    new Promise((resolve) => {
      answered = resolve
      send({ kind: 'wanted', documents })
    })
  pages.make(decodeJob(message), headsOf).then(
    (made) => send(...encodeMade(made)),
    (error: Error) => send({ kind: 'failed', reason: error.message }),
  )
})
