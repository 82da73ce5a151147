// dynalite, a DynamoDB endpoint that is not ours: what works on it needs nothing of ours.
import { once } from 'node:events'
import { createRequire } from 'node:module'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ForeignEndpoint extends AsyncDisposable {
  readonly url: string
}

export async function dynalite(): Promise<ForeignEndpoint> {
  const create = createRequire(import.meta.url)('dynalite') as (options: object) => Server
  const server = create({ createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
