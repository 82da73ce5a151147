// The request router (§3.1): validates a request, authorises it, finds the node of each key, and writes the answer.
//
//   { operation, input } --> table of operations --> validate --> authorise --> storage node(s) --> reply bytes
//
// May import: model, expression, rules, storage (its interface), runtime. Never the server: HTTP, the in-process SDK
// client and `store.call` all come through `Router.handle`.
import type { DynamoError } from '../../model/errors.js'
import type { OperationName, Principal } from './access.js'

export { anyone, owner, type Access, type Principal } from './access.js'
export { bytesReadAtMost, operationBoundsOf, statementsOnlyRead } from './operation-bounds.js'
export { hasWordsOfItsOwn, inWordsOf } from './wording.js'

export interface RouterRequest {
  /** `GetItem`, without the target prefix. */
  readonly operation: string
  /** The parsed JSON body; every member still unchecked. */
  readonly input: unknown
  readonly principal: Principal
  /** Left out for operations whose answers name neither. */
  readonly addressed?: Addressed | undefined
}

/** How the client has addressed the store: what answers say of where it is. */
export interface Addressed {
  /** With the port, as the client has it. */
  readonly host?: string | undefined
  /** That the request was signed for. */
  readonly region?: string | undefined
}

/** Operations on items, of which there are many: no answer to them says where the store is. */
export const itemOperations: ReadonlySet<string> = new Set<OperationName>([
  'GetItem',
  'PutItem',
  'UpdateItem',
  'DeleteItem',
  'Query',
  'Scan',
  'BatchGetItem',
  'BatchWriteItem',
  'TransactGetItems',
  'TransactWriteItems',
  'ExecuteStatement',
  'BatchExecuteStatement',
  'ExecuteTransaction',
  'UnitGetItems',
  'UnitQuery',
  'UnitScan',
  'UnitCommit',
  'WaitForItem',
])

/** An answer with room in front of it: whoever sends it may write a head there, and send both at once. */
export interface RoomyReply {
  readonly body: Uint8Array
  /** So many bytes right before `body`, in the same buffer, belong to nobody else. */
  readonly headroomBytes: number
}

export type Reply = Uint8Array | RoomyReply

/** What such an answer leaves free: the head of an answer over HTTP takes about 270 bytes. */
export const HEADROOM_BYTES = 512

export type RouterReply =
  | { readonly ok: true; readonly body: Uint8Array; readonly headroomBytes?: number }
  | { readonly ok: false; readonly error: DynamoError }

export interface Router {
  /** Answers every request; never throws and never rejects. */
  handle(request: RouterRequest): Promise<RouterReply>
  /**
   * The input in a large JSON text, read along the shape of the operation, in several turns; rejects with a DynamoError.
   * Without it such a text is parsed like any other.
   */
  readLarge?(operation: string, text: string): Promise<unknown>
  /** Answers what waits for something to happen: a server is about to stop. */
  endWaits?(): void
  /** What stands beside the counts of the server at /metrics: the exposition text of Prometheus. */
  metrics?(): string
  /** Names of the operations that exist, for metrics. */
  readonly operations: readonly string[]
  /** What stands before the name in the target of a request, for operations that are not DynamoDB's. */
  readonly targetPrefixes?: ReadonlyMap<string, string>
}
