// The endpoints that units of work are tried on without Seriatim's own protocol.
import { spawn } from 'node:child_process'
import { createServer, type AddressInfo } from 'node:net'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { clientRuntime } from '../../src/runtime/client-runtime.js'
import { open } from '../../src/store.js'
import { clientEndpoint, type Endpoint, type ExtendedEndpoint } from '../../src/toolkit/endpoint.js'
import { type IntentsOptions, intentsProtocol } from '../../src/toolkit/intents/intents-protocol.js'
import type { Transactor, TransactorOptions } from '../../src/toolkit/transactor.js'
import { unitTransactor } from '../../src/toolkit/unit-transactor.js'
import { findDynamoDbLocal } from '../differential/peers.js'
import { dynalite } from '../suites/dynalite.js'

export interface Place {
  readonly endpoint: ExtendedEndpoint
  close(): Promise<void>
}

/** Seriatim that does not say so. */
export async function seriatim(): Promise<Place> {
  const store = await open({ memory: true })
  return {
    endpoint: foreign({ call: (operation, input) => store.call(operation, input) }),
    close: () => store.close(),
  }
}

export async function dynalitePlace(): Promise<Place> {
  const server = await dynalite()
  const client = sdkClient(server.url)
  return {
    endpoint: foreign(clientEndpoint(client)),
    close: async () => {
      client.destroy()
      await server[Symbol.asyncDispose]()
    },
  }
}

export const sdkClient = (url: string): DynamoDBClient =>
  new DynamoDBClient({
    region: 'us-east-1',
    endpoint: url,
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  })

/** Where it is installed. */
export const localFolder = findDynamoDbLocal(process.env['DYNAMODB_LOCAL'])

export async function dynamoDbLocal(): Promise<Place & { readonly url: string }> {
  const port = await freePort()
  const args = ['-Djava.library.path=DynamoDBLocal_lib', '-Xmx512m', '-jar', 'DynamoDBLocal.jar']
  const child = spawn('java', [...args, '-inMemory', '-sharedDb', '-port', String(port)], {
    cwd: localFolder,
    stdio: 'ignore',
  })
  const exited = new Promise((resolve) => child.once('exit', resolve))
  const url = `http://127.0.0.1:${port}`
  const client = sdkClient(url)
  const endpoint = clientEndpoint(client)
  await ready(endpoint)
  return {
    url,
    endpoint: foreign(endpoint),
    close: async () => {
      client.destroy()
      child.kill('SIGTERM')
      await exited
    },
  }
}

export function foreign(endpoint: Pick<Endpoint, 'call'>): ExtendedEndpoint {
  return {
    call: (operation, input, options) => endpoint.call(operation, input, options),
    extension: () => {
      const error = new Error('unknown operation')
      error.name = 'UnknownOperationException'
      return Promise.reject(error)
    },
  }
}

/** A transactor by intents, with settings that only tests have. */
export function intentsTransactor(
  endpoint: Endpoint,
  settings: IntentsOptions = {},
  options: TransactorOptions = {},
): Transactor {
  const runtime = clientRuntime()
  return unitTransactor(() => intentsProtocol(endpoint, runtime, settings), options, runtime)
}

async function ready(endpoint: Endpoint): Promise<void> {
  for (let tries = 0; tries < 150; tries++) {
    const found = await endpoint
      .call('DescribeTable', { TableName: 'none' })
      .catch((error: unknown) => (error as Error).name)
    if (found === 'ResourceNotFoundException') return
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  throw new Error('DynamoDB Local did not answer')
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}
