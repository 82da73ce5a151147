// Locks in a table whose attributes have names of their own.
//
//   request --> names of rows.ts become those of the table (keys, items, expressions) --> endpoint
//   answer  <-- and back again (items, attributes, the item of a refused condition)   <--
//
// It translates and decides nothing: all requests are those of rows.ts and administration.ts, whose expressions are known.
import type { Endpoint } from '../endpoint/endpoint.js'

/** The names of the attributes of a lock table, for a table that exists already. The default of each is its own name. */
export interface LockAttributes {
  /** The partition key. */
  readonly pk: string
  /** The sort key. */
  readonly sk: string
  /** Time to live, in seconds since 1970. */
  readonly expiresAt: string
  /** The next ticket. */
  readonly next: string
  /** In the row of a lock: the highest ticket that was granted. */
  readonly granted: string
  /** The highest ticket that was granted exclusively. */
  readonly alone: string
  /** How often a client has entered. */
  readonly entries: string
  /** The tickets that are inside up to a limit. */
  readonly inside: string
  /** In a client's row: its random text. */
  readonly owner: string
  /** Whether it asked for a shared lock. */
  readonly shared: string
  /** The limit that it asked for. */
  readonly limit: string
  /** The number of its last heartbeat. */
  readonly beat: string
  /** Its lease, in milliseconds. */
  readonly leaseMs: string
  /** When the ticket was drawn, in milliseconds since 1970. */
  readonly since: string
  /** The `label` that it was acquired with. */
  readonly label: string
  /** What it shows to other clients. */
  readonly data: string
  /** How long others have seen no heartbeat, in milliseconds. */
  readonly suspectedMs: string
  /** Its heartbeat at that time. */
  readonly suspectedAt: string
}

const DEFAULTS: LockAttributes = {
  pk: 'pk',
  sk: 'sk',
  expiresAt: 'expiresAt',
  next: 'next',
  granted: 'granted',
  alone: 'alone',
  entries: 'entries',
  inside: 'inside',
  owner: 'owner',
  shared: 'shared',
  limit: 'limit',
  beat: 'beat',
  leaseMs: 'leaseMs',
  since: 'since',
  label: 'label',
  data: 'data',
  suspectedMs: 'suspectedMs',
  suspectedAt: 'suspectedAt',
}

export function lockAttributes(own: Partial<LockAttributes> = {}): LockAttributes {
  for (const name of Object.keys(own))
    if (!Object.hasOwn(DEFAULTS, name))
      throw new TypeError(`locks have no attribute ${name}; there are ${Object.keys(DEFAULTS).join(', ')}`)
  const attributes = { ...DEFAULTS, ...own }
  const names = Object.values(attributes)
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined) throw new TypeError(`two attributes of the locks are called ${twice}`)
  return attributes
}

/** The endpoint itself where every attribute has its usual name. */
export function withOwnAttributes(endpoint: Endpoint, attributes: LockAttributes): Endpoint {
  const own = new Map(Object.entries(attributes).filter(([name, called]) => name !== called))
  if (own.size === 0) return endpoint
  const usual = new Map([...own].map(([name, called]) => [called, name]))
  return {
    async call(operation, input, options) {
      try {
        const answer = await endpoint.call(operation, requestWith(own, input) as typeof input, options)
        return answerWith(usual, answer) as typeof answer
      } catch (error) {
        const { Item } = error as { readonly Item?: object }
        if (Item !== undefined) Object.assign(error as object, { Item: renamed(usual, Item) })
        throw error
      }
    },
    ...(endpoint.extension !== undefined && {
      extension: (operation, input, options) =>
        endpoint.extension!(operation, requestWith(own, input), options),
    }),
  }
}

const EXPRESSIONS = ['KeyConditionExpression', 'ConditionExpression', 'UpdateExpression'] as const
const ITEMS = ['Key', 'Item', 'ExclusiveStartKey'] as const
/** An attribute as it stands in an expression; not a placeholder. */
const NAME = /(?<![#:\w])[A-Za-z]+\b/g

type Names = ReadonlyMap<string, string>
type Fields = Record<string, unknown>

function requestWith(own: Names, input: object): object {
  const request: Fields = { ...input }
  for (const field of ITEMS)
    if (request[field] !== undefined) request[field] = renamed(own, request[field] as object)
  const names: Record<string, string> = {}
  for (const [placeholder, name] of Object.entries(
    (request['ExpressionAttributeNames'] ?? {}) as Record<string, string>,
  ))
    names[placeholder] = own.get(name) ?? name
  for (const field of EXPRESSIONS) {
    if (request[field] === undefined) continue
    request[field] = (request[field] as string).replaceAll(NAME, (word) => {
      const called = own.get(word)
      if (called === undefined) return word
      names[`#own_${word}`] = called
      return `#own_${word}`
    })
  }
  if (Object.keys(names).length > 0) request['ExpressionAttributeNames'] = names
  return request
}

function answerWith(usual: Names, answer: object): object {
  const { Item, Items, Attributes, LastEvaluatedKey } = answer as Fields
  return {
    ...answer,
    ...(Item !== undefined && { Item: renamed(usual, Item as object) }),
    ...(Items !== undefined && { Items: (Items as object[]).map((item) => renamed(usual, item)) }),
    ...(Attributes !== undefined && { Attributes: renamed(usual, Attributes as object) }),
    // It goes back to the endpoint in the next request, which gives it the table's names again.
    ...(LastEvaluatedKey !== undefined && { LastEvaluatedKey: renamed(usual, LastEvaluatedKey as object) }),
  }
}

const renamed = (names: Names, item: object): object =>
  Object.fromEntries(Object.entries(item).map(([name, value]) => [names.get(name) ?? name, value]))
