// A process of the study: `engine` serves an engine, `server PORT` a store on it. Prints where it listens.
import { open } from '../../../src/store/store.js'
import { serveEngine, socketEngine } from './engine-socket.js'

const [role, port] = process.argv.slice(2)
if (role === 'engine') {
  const server = await serveEngine()
  console.log((server.address() as { readonly port: number }).port)
} else {
  const store = await open({ engine: socketEngine(Number(port)) })
  const { url } = await store.listen({ port: 0 })
  console.log(url)
}
