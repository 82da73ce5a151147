// The certificate of a server: two files, read at the start and again on SIGHUP.
import { readFile, stat } from 'node:fs/promises'
import type { RunningServer } from '../../server/http-server.js'
import type { TlsOptions } from '../../server/connection/tls-listener.js'
import { UsageError } from '../command/arguments.js'
import type { CommandEnvironment } from '../command/environment.js'

export interface TlsFiles {
  readonly cert: string
  readonly key: string
}

/** Both or none. */
export function tlsFiles(cert: string | undefined, key: string | undefined): TlsFiles | undefined {
  if (cert !== undefined && key !== undefined) return { cert, key }
  if (cert === undefined && key === undefined) return undefined
  throw new UsageError('--tls-cert and --tls-key are given together')
}

export async function readTls({ cert, key }: TlsFiles): Promise<TlsOptions> {
  return { cert: await read('certificate', cert), key: await read('private key', key) }
}

async function read(what: string, path: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (error) {
    throw new Error(`cannot read the ${what} ${path}: ${(error as Error).message}`, { cause: error })
  }
}

export async function warnOfOpenKey({ key }: TlsFiles, world: CommandEnvironment): Promise<void> {
  const { mode } = await stat(key)
  if (process.platform === 'win32' || (mode & 0o077) === 0) return
  world.printError(
    `seriatim: warning: ${key} is a private key and can be read by other users of this machine; run: chmod 600 ${key}`,
  )
}

/**
 * A certificate that cannot be used is told of, and the old one stays. A signal that comes before the server is there, while
 * a large folder is opened, say, is acted upon when it is.
 */
export class Reloads {
  readonly #files: TlsFiles
  readonly #world: CommandEnvironment
  readonly #end: () => void
  #server: RunningServer | undefined
  #isDue = false
  /** One after another: of two reloads in a row the later one counts. */
  #reloading = Promise.resolve()

  constructor(files: TlsFiles, world: CommandEnvironment) {
    this.#files = files
    this.#world = world
    this.#end = world.onHangup(() => this.#hangup())
  }

  serve(server: RunningServer): void {
    this.#server = server
    if (this.#isDue) this.#hangup()
  }

  end(): void {
    this.#end()
  }

  #hangup(): void {
    const server = this.#server
    this.#isDue = server === undefined
    if (server !== undefined) this.#reloading = this.#reloading.then(() => this.#reload(server))
  }

  async #reload(server: RunningServer): Promise<void> {
    const { cert } = this.#files
    try {
      server.renewTls(await readTls(this.#files))
      this.#world.printError(`seriatim: the certificate ${cert} is in use for connections from now on`)
    } catch (error) {
      this.#world.printError(
        `seriatim: warning: ${(error as Error).message}; the certificate that was read before stays in use`,
      )
    }
  }
}
