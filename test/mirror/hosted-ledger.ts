// The files of a ledger behind a web server, which counts what is asked for.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export class HostedLedger {
  /** What is served; a test may change it. */
  files: ReadonlyMap<string, Uint8Array>
  readonly asked: string[] = []
  /** Called before each answer. */
  onAsked: (path: string) => void = () => {}
  readonly #server: Server

  private constructor(files: ReadonlyMap<string, Uint8Array>) {
    this.files = files
    this.#server = createServer((request, response) => {
      const path = request.url!.replace('/ledger/', '')
      this.asked.push(path)
      this.onAsked(path)
      const file = this.files.get(path)
      response.writeHead(file === undefined ? 404 : 200).end(file)
    })
  }

  static async open(files: ReadonlyMap<string, Uint8Array>): Promise<HostedLedger> {
    const hosted = new HostedLedger(files)
    await new Promise<void>((resolve) => hosted.#server.listen(0, '127.0.0.1', resolve))
    return hosted
  }

  get address(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
