// moto's server, a DynamoDB endpoint in Python that is not ours. MOTO_SERVER names the program `moto_server`; otherwise it
// is looked for on the PATH.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { freePort } from '../../src/bench/targets/free-port.js'
import type { ForeignEndpoint } from './dynalite.js'

/** The program, or undefined where it is not installed. */
export function findMoto(named: string | undefined = process.env['MOTO_SERVER']): string | undefined {
  if (named !== undefined && named !== '') return existsSync(named) ? named : undefined
  // A program of that name may be there and not run: version managers leave stubs behind.
  return spawnSync('moto_server', ['--help'], { stdio: 'ignore' }).status === 0 ? 'moto_server' : undefined
}

export const MOTO_MISSING = "neither MOTO_SERVER nor the PATH has moto_server (pip install 'moto[server]')"

export async function moto(program: string): Promise<ForeignEndpoint> {
  const port = await freePort()
  const child = spawn(program, ['-H', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' })
  const exited = new Promise<void>((resolve) => {
    child.once('error', () => resolve())
    child.once('exit', () => resolve())
  })
  const url = `http://127.0.0.1:${port}`
  const ended = exited.then(() => Promise.reject(new Error('moto_server did not start')))
  await Promise.race([ready(url), ended])
  ended.catch(() => undefined)
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGTERM')
      await exited
    },
  }
}

async function ready(url: string): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    const answered = await fetch(`${url}/moto-api/`).then(
      (response) => response.ok,
      () => false,
    )
    if (answered) return
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  throw new Error('moto_server did not answer')
}
