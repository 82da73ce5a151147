// The router of a worker that has no nodes of its own: requests for items it answers itself, upon nodes of the first worker; all
// others it hands on as a whole. So whatever belongs to one owner (changes of tables, streams and their iterators, backups, the
// ledger, units of work with their snapshots and locks, exports and imports) stays with the first worker.
import { internalError } from '../router/request/reply.js'
import type { OperationName, Principal } from '../router/request/access.js'
import type { Addressed, Router, RouterReply, RouterRequest } from '../router/request/router.js'

/** What a worker answers itself. */
export const OWN_OPERATIONS: ReadonlySet<string> = new Set<OperationName>([
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
])

/** A request as it goes to the first worker; who asks has been made sure of. */
export interface HandedOn {
  readonly operation: string
  /** Its input, or a large text with it that the first worker reads along the shape of the operation. */
  readonly input: unknown
  readonly text?: string | undefined
  /** Of the access key; empty where there are no keys. */
  readonly principal: string
  readonly addressed?: Addressed | undefined
}

export interface HandingOn {
  /** For the operations of its own. */
  readonly own: Router
  /** All that the first worker has. */
  readonly operations: readonly string[]
  readonly targetPrefixes: ReadonlyMap<string, string>
  readonly handOn: (request: HandedOn) => Promise<RouterReply>
}

export function handingOnRouter({ own, operations, targetPrefixes, handOn }: HandingOn): Router {
  return {
    operations,
    targetPrefixes,
    handle: async (request: RouterRequest): Promise<RouterReply> => {
      const { operation, input, principal, addressed } = request
      if (OWN_OPERATIONS.has(operation)) return own.handle(request)
      try {
        const given = input instanceof UnreadInput ? { input: undefined, text: input.text } : { input }
        return await handOn({ operation, ...given, principal: principal.id, addressed })
      } catch (error) {
        return { ok: false, error: internalError(error) }
      }
    },
    readLarge: (operation, text) =>
      OWN_OPERATIONS.has(operation) && own.readLarge !== undefined
        ? own.readLarge(operation, text)
        : Promise.resolve(new UnreadInput(text)),
  }
}

/** The input of a request that is handed on, as its text: this worker knows no shape of its operation. */
class UnreadInput {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** At the first worker: who asked elsewhere. A key that is not known here was taken away: it may do nothing. */
export function principalOf(
  id: string,
  holderOf: ((id: string) => Principal | undefined) | undefined,
  anyone: Principal,
): Principal {
  if (holderOf === undefined) return anyone
  return holderOf(id) ?? { id, name: id, allows: () => false }
}
