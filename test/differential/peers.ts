// The two stores that are compared, both over HTTP with raw bodies: an SDK would not let a malformed request through.
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { Agent, request } from 'node:http'
import { freePort } from '../../src/bench/targets/free-port.js'
import { spawnServer } from '../support/spawned-server.js'
import type { Request } from './requests.js'
import type { Json } from './values.js'

export interface Answer {
  readonly status: number
  /** The parsed body; its text if it is not JSON. */
  readonly body: Json
}

export interface Peer extends AsyncDisposable {
  readonly name: string
  readonly url: string
  send(request: Request): Promise<Answer>
}

export async function startSeriatim(): Promise<Peer> {
  const server = await spawnServer()
  return peer('seriatim', server.url, async () => {
    await server.stop()
  })
}

/** `one`: all clients see one database. `one a key`: each access key has its own. */
export async function startDynamoDbLocal(
  folder: string,
  databases: 'one' | 'one a key' = 'one',
): Promise<Peer> {
  const port = await freePort()
  const args = ['-Djava.library.path=DynamoDBLocal_lib', '-Xmx512m', '-jar', 'DynamoDBLocal.jar', '-inMemory']
  const child = spawn(
    'java',
    [...args, ...(databases === 'one' ? ['-sharedDb'] : []), '-port', String(port)],
    { cwd: folder, stdio: 'ignore' },
  )
  const killed = (): void => void child.kill('SIGKILL')
  process.once('exit', killed)
  child.once('exit', () => process.off('exit', killed))
  const exited = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (code) => resolve(`exit code ${code}`))
  })
  const started = peer('DynamoDB Local', `http://127.0.0.1:${port}`, async () => {
    child.kill('SIGTERM')
    await exited
  })
  const ended = exited.then((why) => Promise.reject(new Error(`DynamoDB Local did not start: ${why}`)))
  await Promise.race([ready(started), ended])
  ended.catch(() => {})
  return started
}

export interface LocalDatabase extends AsyncDisposable {
  readonly url: string
  /** The database belongs to this key. */
  readonly accessKeyId: string
}

/** The URL of a DynamoDB Local that all test files share, if the runner has started one (scripts/test.mjs). */
export const SHARED_LOCAL = 'SERIATIM_SHARED_DYNAMODB_LOCAL'

/** A database of DynamoDB Local that no other test uses: a server takes seconds to start, and is slow at first. */
export async function localDatabase(folder: string): Promise<LocalDatabase> {
  const accessKeyId = `K${randomBytes(8).toString('hex')}`
  const shared = process.env[SHARED_LOCAL]
  if (shared !== undefined)
    return { url: shared, accessKeyId, [Symbol.asyncDispose]: () => Promise.resolve() }
  const peer = await startDynamoDbLocal(folder)
  return { url: peer.url, accessKeyId, [Symbol.asyncDispose]: () => peer[Symbol.asyncDispose]() }
}

const TRIES_MAX = 150
const TRY_MS = 200

async function ready(one: Peer): Promise<void> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const answer = await one.send({ operation: 'ListTables', body: '{}' }).catch(() => undefined)
    if (answer?.status === 200) return
    await new Promise((resolve) => setTimeout(resolve, TRY_MS))
  }
  throw new Error(`${one.name} did not answer`)
}

function peer(name: string, url: string, stop: () => Promise<void>): Peer {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return {
    name,
    url,
    send: ({ operation, body }) => post(url, agent, operation, body),
    [Symbol.asyncDispose]: async () => {
      agent.destroy()
      await stop()
    },
  }
}

const AUTHORIZATION =
  'AWS4-HMAC-SHA256 Credential=fuzz/20300101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=00'

function post(url: string, agent: Agent, operation: string, body: string): Promise<Answer> {
  const headers = {
    'content-type': 'application/x-amz-json-1.0',
    'x-amz-target': `DynamoDB_20120810.${operation}`,
    'x-amz-date': '20300101T000000Z',
    authorization: AUTHORIZATION,
    'content-length': Buffer.byteLength(body),
  }
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.once('error', reject)
      response.once('end', () => {
        const text = Buffer.concat(chunks).toString()
        resolve({ status: response.statusCode ?? 0, body: parsed(text) })
      })
    })
    sent.once('error', reject)
    sent.end(body)
  })
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    return text
  }
}
