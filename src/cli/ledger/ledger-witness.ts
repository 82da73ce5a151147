// seriatim ledger witness: a witness of C2SP's tlog-witness, over HTTP.
import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { open } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type Cosigner, cosignerText, openCosigner } from '../../mirror/witness-key.js'
import { type WitnessAnswer, WitnessService } from '../../mirror/witness-service.js'
import { kernelLock } from '../../runtime/kernel-lock.js'
import { takeLock } from '../../runtime/process-lock.js'
import { realFiles } from '../../runtime/real-files.js'
import { readIfThere } from '../../runtime/small-files.js'
import { readArguments, readInteger, UsageError } from '../command/arguments.js'
import type { CommandEnvironment } from '../command/environment.js'
import { keyIn, nodeEd25519 } from './ledger-trust.js'

export const help = `seriatim ledger witness --path DIR --log KEY [--port 8100] [--host 127.0.0.1] [--name NAME]

  --path DIR         the witness's own key and the last checkpoint of each ledger: keep it, a witness that forgets is none
  --log KEY          the public key of a ledger that it cosigns, or a file that has it; may be repeated
  --port N           0 for any
  --name NAME        of a key that is made: witness.example/w1. Random, unless it is said

Answers POST /add-checkpoint and GET /<SHA-256 of the origin>/checkpoint (C2SP tlog-witness), and cosigns a checkpoint only if it goes on
where the last one ended that it cosigned. Its key is made at the first start, in DIR/witness.key with mode 0600; the public part is printed.
Run it on another machine than the server, and by other people. Ends with SIGTERM.`

const OPTIONS = {
  path: { type: 'string' },
  log: { type: 'string', multiple: true, default: [] as string[] },
  port: { type: 'string', default: '8100' },
  host: { type: 'string', default: '127.0.0.1' },
  name: { type: 'string' },
} as const

/** A checkpoint with the signatures of many witnesses is far smaller. */
const BODY_BYTES_MAX = 100_000
const REQUEST_TIMEOUT_MS = 10_000
const CONNECTIONS_MAX = 1000
const KEY_FILE = 'witness.key'

export async function run(args: readonly string[], world: CommandEnvironment): Promise<number> {
  const { path, log, host, port, name } = readArguments(args, OPTIONS).values
  if (path === undefined || path === '' || log.length === 0)
    throw new UsageError('give --path DIR and at least one --log KEY')
  if (name !== undefined && !/^[^+\s]+$/u.test(name)) throw new UsageError('a name has no blanks and no +')
  const logs = log.map((key) => keyIn('log', key))
  const portNumber = readInteger('port', port, 0, 65_535)
  await realFiles().makeFolder(path)
  // Two witnesses with one memory would each forget what the other one has cosigned.
  const lock = await takeLock(join(path, 'lock'), kernelLock())
  if ('heldBy' in lock) throw new Error(`another process is the witness of ${path}`)
  try {
    const cosigner = await cosignerIn(
      path,
      name ?? `seriatim.local/witness-${randomBytes(4).toString('hex')}`,
    )
    const service = new WitnessService({
      folder: path,
      cosigner,
      logs,
      nowMs: Date.now,
      ed25519: nodeEd25519,
    })
    const server = serve(service, world)
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(portNumber, host, resolve)
    })
    const end = ended(server, world)
    world.print(`key ${cosigner.key}`)
    world.print(`seriatim witness listening on http://${host}:${(server.address() as AddressInfo).port}`)
    await end
    return 0
  } finally {
    await lock.release()
  }
}

function serve(service: WitnessService, world: CommandEnvironment): Server {
  const server = createServer(
    { requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS },
    (request, response) => {
      answerOf(service, request)
        .catch((error: Error): WitnessAnswer => {
          world.printError(`seriatim ledger witness: ${error.message}`)
          return {
            status: 500,
            type: 'text/plain; charset=utf-8',
            body: 'the witness cannot keep its state\n',
          }
        })
        .then(
          (answer) => send(response, answer),
          () => response.destroy(),
        )
    },
  )
  server.maxConnections = CONNECTIONS_MAX
  return server
}

async function answerOf(service: WitnessService, request: IncomingMessage): Promise<WitnessAnswer> {
  const text = { type: 'text/plain; charset=utf-8' }
  const [, originHash] = /^\/([0-9a-f]{64})\/checkpoint$/.exec(request.url ?? '') ?? []
  if (request.method === 'GET' && originHash !== undefined) return service.checkpoint(originHash)
  if (request.url !== '/add-checkpoint') return { status: 404, ...text, body: 'there is /add-checkpoint\n' }
  if (request.method !== 'POST') return { status: 405, ...text, body: 'POST it\n' }
  const tooLarge = { status: 413, ...text, body: 'too large\n' }
  if (Number(request.headers['content-length'] ?? 0) > BODY_BYTES_MAX) return tooLarge
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > BODY_BYTES_MAX) return tooLarge
    chunks.push(chunk)
  }
  return service.addCheckpoint(Buffer.concat(chunks).toString('utf8'))
}

function send(response: ServerResponse, { status, type, body }: WitnessAnswer): void {
  const headers = { 'content-type': type, 'content-length': Buffer.byteLength(body) }
  // What was not read of a request that is too large would be taken for the next one.
  response.writeHead(status, { ...headers, ...(status === 413 && { connection: 'close' }) }).end(body)
}

async function cosignerIn(folder: string, name: string): Promise<Cosigner> {
  const file = join(folder, KEY_FILE)
  const text = (await readIfThere(file)) ?? (await makeKey(file, cosignerText(name, randomBytes(32))))
  await realFiles().syncFolder(folder)
  try {
    return openCosigner(text)
  } catch (error) {
    throw new Error(`The key in ${file} cannot be used: ${(error as Error).message}.`, { cause: error })
  }
}

async function makeKey(file: string, text: string): Promise<string> {
  const handle = await open(file, 'wx', 0o600)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  return text
}

function ended(server: Server, world: CommandEnvironment): Promise<void> {
  return new Promise((resolve) => {
    const off = world.onSignal(() => {
      off()
      server.close(() => resolve())
      server.closeIdleConnections()
    })
  })
}
