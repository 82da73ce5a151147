// A server on a ring, as an operator's supervisor keeps it: one that ends at its start is started again.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

export async function startServer(address, port, log) {
  const args = ['dist/src/cli/main.js', 'start', '--engine', address, '--port', String(port)]
  for (let tries = 0; ; tries++) {
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    let said = ''
    child.stderr.on('data', (text) => (said = (said + text).slice(-2000)))
    const url = await Promise.race([
      (async () => {
        for await (const line of createInterface(child.stdout)) {
          const found = /^seriatim listening on (\S+)$/.exec(line)?.[1]
          if (found !== undefined) return found
        }
        return undefined
      })(),
      once(child, 'exit').then(() => undefined),
    ])
    if (url === undefined) {
      // A majority of the ring is not there: an operator's supervisor would start it again.
      log(`a server did not start: ${said.trim().split('\n').at(-1)}`)
      if (tries > 60) throw new Error('a server does not start')
      await sleep(1000)
      continue
    }
    child.stdout.resume()
    return {
      url,
      port: Number(new URL(url).port),
      child,
      isUp: true,
      async stop() {
        if (child.exitCode !== null || child.signalCode !== null) return
        const gone = once(child, 'exit')
        child.kill('SIGTERM')
        await gone
      },
    }
  }
}
