// Whether an endpoint is Seriatim: asked once, with a request that does nothing.
//
//   the answer of UnitOutcome, a member `Outcome` with one of its four words    Seriatim
//   any other answer to it (UnknownOperationException of DynamoDB, ScyllaDB
//     and dynalite, InvalidAction of DynamoDB Local, 500 and a page of HTML
//     of moto, an empty success of a mock)                                      another endpoint
//   credentials or rights refused, throttled, no connection, a server that is
//     out of order, a proxy's page                                              no decision: thrown, and asked again
//
// A wrong decision would be worse than none: units by intents and Seriatim's own do not see each other.
import type { Endpoint, ExtendedEndpoint } from './endpoint.js'
import { isThrottled, isUnauthorized, statusOf, verdictOf } from './refusals.js'

export type EndpointKind = 'seriatim' | 'foreign'

const OUTCOMES = new Set(['COMMITTED', 'CANCELLED', 'PENDING', 'UNKNOWN'])
/** A token that no unit has: theirs are 32 hexadecimal digits. */
const TOKEN = 'seriatim-probe'

/** What an endpoint is, known once it has answered. */
export class Probe {
  readonly #endpoint: Endpoint
  #kind: EndpointKind | Promise<EndpointKind> | undefined

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint
    // There is no way to ask.
    if (endpoint.extension === undefined) this.#kind = 'foreign'
  }

  /** Rejects where no decision could be made; whoever comes next asks anew. */
  kind(): EndpointKind | Promise<EndpointKind> {
    this.#kind ??= this.#ask()
    return this.#kind
  }

  async #ask(): Promise<EndpointKind> {
    try {
      this.#kind = await kindOf(this.#endpoint as ExtendedEndpoint)
      return this.#kind
    } catch (error) {
      this.#kind = undefined
      throw error
    }
  }
}

async function kindOf(endpoint: ExtendedEndpoint): Promise<EndpointKind> {
  try {
    const answer = await endpoint.extension('UnitOutcome', { ClientRequestToken: TOKEN })
    const { Outcome } = (answer ?? {}) as { readonly Outcome?: unknown }
    return typeof Outcome === 'string' && OUTCOMES.has(Outcome) ? 'seriatim' : 'foreign'
  } catch (error) {
    if (isUnauthorized(error) || isThrottled(error)) throw error
    if (verdictOf(error) === 'refused' && isInWireForm(error)) return 'foreign'
    // A page: of an endpoint that knows no such operation, or of something between. A plain request tells.
    const status = statusOf(error)
    if (status === undefined || GATEWAY.has(status) || isInWireForm(error)) throw error
    if (await answersPlainly(endpoint)) return 'foreign'
    throw error
  }
}

/** Said by proxies and load balancers whose server is away. */
const GATEWAY: ReadonlySet<number> = new Set([502, 503, 504])

/** What the SDK calls an error without a type, such as that of a gateway which has no route. */
const UNTYPED: ReadonlySet<string> = new Set(['Unknown', 'UnknownError', 'Error'])

/** DynamoDB's errors are JSON with a type, from which the SDK makes an error with a name and a `$fault`. */
function isInWireForm(error: unknown): boolean {
  const { name = '', $fault } = error as { readonly name?: string; readonly $fault?: string }
  return statusOf(error) === undefined || ($fault !== undefined && !UNTYPED.has(name))
}

/** Whether it speaks DynamoDB's protocol at all: a refusal in its words is an answer, too. */
async function answersPlainly(endpoint: Endpoint): Promise<boolean> {
  try {
    await endpoint.call('DescribeTable', { TableName: TOKEN })
    return true
  } catch (error) {
    return verdictOf(error) === 'refused' && isInWireForm(error)
  }
}
