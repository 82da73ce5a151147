// A DynamoDB endpoint as the toolkit sees it: operations by name, in the shapes of the AWS SDK.
//
//   DynamoDBClient --clientEndpoint--> Endpoint <--routerEndpoint-- a store in this process
//                                         ^------- an endpoint in the simulator, or one that fails on purpose
//
// Refusals are thrown as errors whose `name` is DynamoDB's (ConditionalCheckFailedException, ...).
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { DirectUnits } from '../../port/unit-port.js'
import { callExtension, type SdkCommand, tellSends } from './extension.js'
import type { EndpointInput, EndpointOperation, EndpointOutput } from './operations.js'
import { loadSdk, type Sdk } from './sdk.js'

/** Options of one request to an endpoint. */
export interface CallOptions {
  /** Ends the request. */
  readonly signal?: AbortSignal
  /**
   * Called for each send that failed, the last one included, if the endpoint sends requests again by itself as the SDK does.
   * A request that is refused in the end may have been carried out by an earlier send whose answer was lost.
   */
  readonly sendFailed?: (error: unknown) => void
}

/**
 * A DynamoDB endpoint as the toolkit sees it. A `DynamoDBClient` is the usual one; a program may also pass its own, for example
 * to count requests.
 *
 * @example
 *   let requests = 0
 *   const counted: Endpoint = {
 *     call: (operation, input) => {
 *       requests++
 *       return store.call(operation, input)
 *     },
 *   }
 *   const rooms = locks(counted, { table: 'Locks' })
 *   await rooms.setup()
 *   console.log(requests > 0) // true
 */
export interface Endpoint {
  /** Runs one operation. Rejects with an error whose `name` is DynamoDB's. */
  call<Name extends EndpointOperation>(
    operation: Name,
    input: EndpointInput<Name>,
    options?: CallOptions,
  ): Promise<EndpointOutput<Name>>
  /**
   * Runs an operation of Seriatim's own (docs/reference/wire.md), in the JSON of the wire, where binaries are base64. Absent
   * if the endpoint cannot be Seriatim. What another endpoint answers differs from one to the next (probe.ts).
   */
  extension?(operation: string, input: object, options?: CallOptions): Promise<unknown>
  /**
   * In one process no answer is lost, so that a commit is sent once and needs no token to be recognised by.
   * @internal
   */
  readonly losesNoAnswers?: true
  /**
   * The shortest way, where the endpoint is a store in this process.
   * @internal
   */
  readonly direct?: DirectUnits
}

/** One that may be Seriatim's. */
export type ExtendedEndpoint = Endpoint & Required<Pick<Endpoint, 'extension'>>

/** Any official DynamoDBClient, whatever it talks to. */
export function clientEndpoint(client: DynamoDBClient): ExtendedEndpoint {
  return {
    async call(operation, input, options = {}) {
      const command = commandOf(await loadSdk(), operation, input)
      const { signal, sendFailed } = options
      if (sendFailed !== undefined) tellSends(command, sendFailed)
      const send = client.send.bind(client) as (
        command: unknown,
        options: { abortSignal?: AbortSignal },
      ) => Promise<never>
      return send(command, signal === undefined ? {} : { abortSignal: signal })
    },
    extension: (operation, input, options) => callExtension(client, operation, input, options),
  }
}

function commandOf(sdk: Sdk, operation: EndpointOperation, input: unknown): SdkCommand {
  const Command = sdk[`${operation}Command`] as new (input: never) => SdkCommand
  return new Command(input as never)
}
