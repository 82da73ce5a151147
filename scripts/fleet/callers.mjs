// Clients of others, each as a function like `call` (history.mjs): the SDK of AWS for JavaScript, and boto3 in a process of its own. They
// sign, make tokens, and try again by rules of their own; a request without a token is sent once, since a second time would append twice.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import {
  DynamoDBClient,
  GetItemCommand,
  TransactGetItemsCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'

const COMMANDS = {
  GetItem: GetItemCommand,
  UpdateItem: UpdateItemCommand,
  TransactGetItems: TransactGetItemsCommand,
  TransactWriteItems: TransactWriteItemsCommand,
}
/** What may be sent again without doing it again. */
const isRepeatable = (operation) => operation !== 'UpdateItem'
const KEYS = { accessKeyId: 'any', secretAccessKey: 'any' }
const ATTEMPTS = 3

export function sdkCaller(timeoutMs) {
  const clients = new Map()
  const clientOf = (url, attempts) => {
    const name = `${url} ${attempts}`
    let client = clients.get(name)
    if (client === undefined) {
      client = new DynamoDBClient({
        endpoint: url,
        region: 'eu-central-1',
        credentials: KEYS,
        maxAttempts: attempts,
        requestHandler: {
          requestTimeout: timeoutMs,
          connectionTimeout: timeoutMs,
          throwOnRequestTimeout: true,
        },
      })
      clients.set(name, client)
    }
    return client
  }
  return {
    name: 'AWS SDK for JavaScript',
    async call(url, operation, body) {
      const client = clientOf(url, isRepeatable(operation) ? ATTEMPTS : 1)
      try {
        const answer = await client.send(new COMMANDS[operation](body))
        return { status: 200, body: answer }
      } catch (error) {
        const { httpStatusCode, attempts = 1 } = error.$metadata ?? {}
        return refusal(httpStatusCode, error.name, attempts)
      }
    },
    close: () => {
      for (const client of clients.values()) client.destroy()
    },
  }
}

/** Undefined if Debian's boto3 is not there. */
export async function botoCaller(timeoutMs) {
  const script = fileURLToPath(new URL('boto-client.py', import.meta.url))
  const child = spawn('/usr/bin/python3', [script, String(timeoutMs / 1000), String(ATTEMPTS)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH, AWS_CONFIG_FILE: '/dev/null', AWS_SHARED_CREDENTIALS_FILE: '/dev/null' },
  })
  const waiting = new Map()
  let last = 0
  const isThere = await new Promise((resolve) => {
    child.on('error', () => resolve(false))
    child.on('exit', () => {
      resolve(false)
      for (const answered of waiting.values()) answered({ status: 'lost' })
    })
    createInterface(child.stdout).on('line', (line) => {
      if (line === 'ready') return resolve(true)
      const { id, status, body, name, attempts } = JSON.parse(line)
      waiting.get(id)(status === 200 ? { status, body } : refusal(status, name, attempts))
      waiting.delete(id)
    })
  })
  if (!isThere) return undefined
  return {
    name: 'boto3',
    call: (url, operation, body) =>
      new Promise((resolve) => {
        waiting.set(++last, resolve)
        child.stdin.write(
          `${JSON.stringify({ id: last, url, operation, body, once: !isRepeatable(operation) })}\n`,
        )
      }),
    close: () => child.stdin.end(),
  }
}

/** Where an attempt before this one was not answered, it may be on its way still, and a refusal of this one tells nothing of it. */
const refusal = (status, name, attempts) =>
  status === undefined || status === null || attempts > 1
    ? { status: 'lost' }
    : { status, name, body: undefined }
