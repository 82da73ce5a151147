// A client with the shape of the SDK's, without the SDK: it takes the commands that a program has made, and runs what they name as
// `store.call` does. There is no middleware, no serialization and no retry, which is what an official client spends its time with.
import { DynamoError } from '../model/errors.js'
import { type DocumentOptions, documentInput, documentOutput, isDocumentCommand } from './light-documents.js'

/** A command of @aws-sdk/client-dynamodb, @aws-sdk/client-dynamodb-streams or @aws-sdk/lib-dynamodb. */
export interface LightCommand<Output> {
  /** What it asks for. */
  readonly input: object
  /** Only for its type: what the command is answered with. */
  resolveMiddleware(...args: never[]): (args: never) => Promise<{ readonly output: Output }>
}

/** Options of a request. */
export interface LightSendOptions {
  /** A request that is aborted before it is sent is not sent. */
  readonly abortSignal?: { readonly aborted: boolean }
}

/** A class, of which only the prototype is used. */
export interface LikeClass<Instance> {
  /** What its instances have in common. */
  readonly prototype: Instance
}

/** How a light client is made. */
export interface LightClientOptions extends DocumentOptions {
  /** Of the ARNs in answers; us-east-1 by default. */
  readonly region?: string
  /** The class that errors are to be instances of: DynamoDBServiceException, where a program asks for that. */
  readonly errors?: LikeClass<Error>
}

/** A client that runs commands on the store in this process. */
export interface LightClient {
  /** Runs a command. Rejects with an error that has the members of the SDK's: `name`, `$fault`, `$metadata` and those of its own. */
  send<Output>(command: LightCommand<Output>, options?: LightSendOptions): Promise<Output>
  /** The same with a callback. */
  send<Output>(command: LightCommand<Output>, callback: LightCallback<Output>): void
  /** The same with options and a callback. */
  send<Output>(
    command: LightCommand<Output>,
    options: LightSendOptions,
    callback: LightCallback<Output>,
  ): void
  /** Does nothing: there is nothing to be closed. */
  destroy(): void
  /** What programs ask a client for most often. */
  readonly config: { readonly region: () => Promise<string> }
}

/** Is called with an error, or with the answer. */
export type LightCallback<Output> = (error: unknown, output?: Output) => void

/** Runs one operation with an input in the SDK's shapes. */
export type LightCall = (operation: string, input: unknown, region: string | undefined) => Promise<object>

const REGION_DEFAULT = 'us-east-1'

/** `as` is a class of the SDK whose instance the client is to be: then its paginators take it, and it has the methods of that class. */
export function lightClient<Client extends object = LightClient>(
  call: LightCall,
  { as, ...options }: LightClientOptions & { readonly as?: LikeClass<Client> | undefined } = {},
): Client {
  const runs = new Runs(call, options)
  const own = {
    send: (command: object, ...rest: readonly unknown[]) => runs.send(command, rest),
    destroy: () => {},
    config: { region: () => Promise.resolve(options.region ?? REGION_DEFAULT) },
  }
  const client = Object.create(as?.prototype ?? Object.prototype) as Client
  return Object.assign(client, own)
}

class Runs {
  readonly #call: LightCall
  readonly #options: LightClientOptions
  #requests = 0

  constructor(call: LightCall, options: LightClientOptions) {
    this.#call = call
    this.#options = options
  }

  send(command: object, rest: readonly unknown[]): Promise<object> | void {
    const callback = rest.find((each) => typeof each === 'function') as LightCallback<object> | undefined
    const options = rest.find((each) => typeof each === 'object') as LightSendOptions | undefined
    const answer = this.#run(command, options)
    if (callback === undefined) return answer
    answer.then(
      (output) => callback(null, output),
      (error: unknown) => callback(error),
    )
  }

  async #run(command: object, options: LightSendOptions | undefined): Promise<object> {
    if (options?.abortSignal?.aborted)
      throw Object.assign(new Error('Request aborted'), { name: 'AbortError' })
    const isDocument = isDocumentCommand(command)
    const operation = operationOf(isDocument ? command.clientCommand : command)
    const input = isDocument
      ? documentInput(command, this.#options)
      : (command as { readonly input: unknown }).input
    const $metadata = { httpStatusCode: 200, requestId: this.#nextId(), attempts: 1, totalRetryDelay: 0 }
    let output: object
    try {
      output = await this.#call(operation, input, this.#options.region)
    } catch (error) {
      throw error instanceof DynamoError ? this.#asSdkError(error, $metadata) : error
    }
    const shown = isDocument ? documentOutput(command, output, this.#options) : output
    return Object.assign(shown, { $metadata })
  }

  #nextId(): string {
    this.#requests++
    return `in-process-${this.#requests}`
  }

  #asSdkError(error: DynamoError, $metadata: object): Error {
    const { status } = error
    const told = Object.assign(error, {
      $fault: status < 500 ? 'client' : 'server',
      $metadata: { ...$metadata, httpStatusCode: status },
    })
    const { errors } = this.#options
    return errors === undefined ? told : (Object.setPrototypeOf(told, errors.prototype) as Error)
  }
}

/** By the schema that a command of the SDK carries, which a minifier leaves alone; in older ones by the name of its class. */
function operationOf(command: object): string {
  const { schema } = command as { readonly schema?: readonly unknown[] }
  if (Array.isArray(schema) && typeof schema[2] === 'string') return schema[2]
  const name = command.constructor.name
  if (!name.endsWith('Command') || !('input' in command))
    throw new TypeError(`send() takes a command of the AWS SDK, not ${name || typeof command}`)
  return name.slice(0, -'Command'.length)
}
