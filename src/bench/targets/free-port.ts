// A port for a server that cannot choose one itself, and takes seconds until it listens. The system hands out the ports
// from 32768 on to whoever asks, clients too: one of those could be somebody else's by then.
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

const LOWEST = 12_000
const HIGHEST = 32_000
const TRIES_MAX = 100

export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const port = randomInt(LOWEST, HIGHEST)
    if (await isFree(port)) return port
  }
  throw new Error(`no port between ${LOWEST} and ${HIGHEST} was free in ${TRIES_MAX} tries`)
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}
