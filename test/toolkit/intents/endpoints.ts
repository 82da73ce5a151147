// The endpoints that units of work are tried on without Seriatim's own protocol.
import { clientRuntime } from '../../../src/runtime/real-runtime.js'
import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import { open } from '../../../src/store/store.js'
import {
  clientEndpoint,
  type Endpoint,
  type ExtendedEndpoint,
} from '../../../src/toolkit/endpoint/endpoint.js'
import { type IntentsOptions, intentsProtocol } from '../../../src/toolkit/intents/intents-protocol.js'
import type { Transactor, TransactorOptions } from '../../../src/toolkit/unit/transactor.js'
import { unitTransactor } from '../../../src/toolkit/unit/unit-transactor.js'
import { findDynamoDbLocal } from '../../../bench/targets/dynamodb-local.js'
import { localDatabase } from '../../differential/peers.js'
import { sharedEngines } from '../../fleet/shared-engines.js'
import { dynalite } from '../../support/dynalite.js'
import { findMoto, moto } from '../../support/moto.js'

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

/** Two servers on one engine, asked in turn: it serves no units, and says so. */
export async function fleet(): Promise<Place> {
  const servers = await Promise.all(sharedEngines(2).map((engine) => open({ engine, fleet: FLEET })))
  let turn = 0
  return {
    endpoint: foreign({ call: (operation, input) => servers[turn++ % 2]!.call(operation, input) }),
    close: async () => {
      await Promise.all(servers.map((server) => server.close()))
    },
  }
}

const FLEET = { leaseMs: 200, lateMs: 50, refreshMs: 50 }

export async function dynalitePlace(): Promise<Place & { readonly url: string }> {
  const peer = await dynalite()
  return clientPlace(peer, sdkClient(peer.url))
}

const clientConfig = (url: string, accessKeyId = 'test'): DynamoDBClientConfig => ({
  region: 'us-east-1',
  endpoint: url,
  credentials: { accessKeyId, secretAccessKey: 'test' },
})

export const sdkClient = (url: string, accessKeyId?: string): DynamoDBClient =>
  new DynamoDBClient(clientConfig(url, accessKeyId))

/** Where it is installed. */
export const localFolder = findDynamoDbLocal(process.env['DYNAMODB_LOCAL'])

export async function dynamoDbLocal(): Promise<
  Place & { readonly url: string; readonly accessKeyId: string }
> {
  const database = await localDatabase(localFolder!)
  const { url, accessKeyId } = database
  return { ...clientPlace(database, sdkClient(url, accessKeyId)), accessKeyId }
}

/** Where it is installed. */
export const motoProgram = findMoto()

export async function motoPlace(): Promise<Place & { readonly url: string }> {
  const peer = await moto(motoProgram!)
  // Its threads see each other's half-done writes: one request at a time is what it can do.
  const client = new DynamoDBClient({
    ...clientConfig(peer.url),
    requestHandler: { httpAgent: { maxSockets: 1 } },
  })
  return clientPlace(peer, client)
}

function clientPlace(
  peer: AsyncDisposable & { readonly url: string },
  client: DynamoDBClient,
): Place & { readonly url: string } {
  return {
    url: peer.url,
    endpoint: clientEndpoint(client),
    close: async () => {
      client.destroy()
      await peer[Symbol.asyncDispose]()
    },
  }
}

/** Not Seriatim, in the words of DynamoDB Local (recorded from version 2026-01-16). */
export function foreign(endpoint: Pick<Endpoint, 'call'>): ExtendedEndpoint {
  return {
    call: (operation, input, options) => endpoint.call(operation, input, options),
    extension: () =>
      Promise.reject(
        Object.assign(
          new Error(
            'The action or operation requested is invalid. Verify that the action is typed correctly.',
          ),
          { name: 'InvalidAction', $fault: 'client', $metadata: { httpStatusCode: 400, attempts: 1 } },
        ),
      ),
  }
}

/** No request is sent again because a busy machine takes its time: where requests are counted. */
export const PATIENT = { requests: { requestMs: 600_000 } } as const

/** A transactor by intents, with settings that only tests have. */
export function intentsTransactor(
  endpoint: Endpoint,
  settings: IntentsOptions = {},
  options: TransactorOptions = {},
): Transactor {
  const runtime = clientRuntime()
  return unitTransactor(() => intentsProtocol(endpoint, runtime, settings), options, runtime)
}
