// TLS in front of the connections of a port: what comes out of the handshake is served like a plain socket.
//
//   socket --first byte--> a handshake --> TLS of Node --> served
//                     \--> anything else: told that this port is for HTTPS, and closed
//
// It listens on no port of its own: connections are passed on to it.
import type { Socket } from 'node:net'
import { createSecureContext, createServer, type Server, type TLSSocket } from 'node:tls'
import { endWith, type ServerState } from '../dispatch/server-state.js'

/** A certificate for HTTPS, as the contents of two PEM files. */
export interface TlsOptions {
  /** The certificate, with its chain. */
  readonly cert: string | Uint8Array
  /** Its private key. */
  readonly key: string | Uint8Array
}

/** The first byte of a record that carries a handshake. */
const HANDSHAKE = 0x16

export class TlsDoor {
  readonly #state: ServerState
  readonly #server: Server
  /** Those that have not come through, by their other ends: Node makes another socket of one, with the same. */
  readonly #outside = new Map<string, Socket>()

  constructor(state: ServerState, tls: TlsOptions, serve: (socket: TLSSocket) => void) {
    this.#state = state
    this.#server = createServer({
      ...usable(tls),
      ALPNProtocols: ['http/1.1'],
      handshakeTimeout: state.limits.headersTimeoutMs,
    })
    this.#server.on('secureConnection', (socket) => {
      this.#outside.delete(otherEnd(socket))
      serve(socket)
    })
    this.#server.on('tlsClientError', (_error, socket) => {
      state.metrics.malformedTotal++
      socket.destroy()
    })
  }

  accept(socket: Socket): void {
    const end = otherEnd(socket)
    this.#outside.set(end, socket)
    socket.once('close', () => {
      if (this.#outside.get(end) === socket) this.#outside.delete(end)
    })
    const fail = (): void => {
      socket.destroy()
    }
    socket.on('error', fail)
    socket.setTimeout(this.#state.limits.headersTimeoutMs, fail)
    socket.once('readable', () => {
      const bytes = socket.read() as Buffer | null
      if (bytes === null) {
        fail()
        return
      }
      socket.setTimeout(0)
      socket.off('timeout', fail)
      if (bytes[0] !== HANDSHAKE) {
        this.#refuse(socket)
        return
      }
      socket.off('error', fail)
      // The handshake begins with what was looked at.
      socket.unshift(bytes)
      this.#server.emit('connection', socket)
    })
  }

  /** For connections from now on. Throws a sentence if it cannot be used; the old one stays. */
  renew(tls: TlsOptions): void {
    this.#server.setSecureContext(usable(tls))
  }

  /** Inside, connections are told to stop by those who serve them. */
  stop(): void {
    for (const socket of this.#outside.values()) socket.destroy()
  }

  #refuse(socket: Socket): void {
    const { dispatcher, metrics } = this.#state
    metrics.malformedTotal++
    const answer = dispatcher.edge(400, 'BadRequest', 'This port is for HTTPS: the request came without TLS.')
    dispatcher.recordUnread(answer)
    endWith(this.#state, socket, answer)
    socket.resume()
  }
}

const otherEnd = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`

/** As it is, if a certificate and its key can be made of it. */
function usable({ cert, key }: TlsOptions): { readonly cert: Buffer; readonly key: Buffer } {
  const texts = { cert: Buffer.from(cert as string), key: Buffer.from(key as string) }
  try {
    createSecureContext(texts)
  } catch (error) {
    throw new Error(`the certificate and its key cannot be used: ${(error as Error).message}`, {
      cause: error,
    })
  }
  return texts
}
