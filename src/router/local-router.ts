// The router over storage nodes of this process: one table of operations, one way in.
import { DynamoError } from '../model/errors.js'
import {
  accessDenied,
  allows,
  type AccessPart,
  type OperationName,
  type Principal,
} from './request/access.js'
import type { LaterOperation, Operation, RequestScope, RouterContext } from './request/context.js'
import { damageError, internalError, storageRefusal } from './request/reply.js'
import type { Addressed, Router, RouterReply, RouterRequest } from './request/router.js'
import { readShaped } from './shapes/read-shaped.js'
import { checkShape } from './shapes/check-shape.js'

export interface RouterOptions {
  readonly context: RouterContext
  readonly operations: readonly (Operation | LaterOperation)[]
  /** Ends what operations wait for; see `Router.endWaits`. */
  readonly endWaits?: () => void
  /** Told of every error that is not an answer to the caller but a defect or a broken disk. */
  readonly onInternalError?: (error: unknown, operation: string) => void
}

export function openRouter({ context, operations, endWaits, onInternalError }: RouterOptions): Router {
  const byName = new Map<string, Operation | LaterOperation>(
    operations.map((operation) => [operation.name, operation]),
  )
  const load = async (later: LaterOperation): Promise<Operation> => {
    const operation = await later.load()
    byName.set(later.name, operation)
    return operation
  }
  return {
    operations: [...byName.keys()],
    ...(endWaits && { endWaits }),
    targetPrefixes: new Map(
      operations.flatMap(({ name, targetPrefix }) =>
        targetPrefix === undefined ? [] : [[name, targetPrefix] as const],
      ),
    ),

    async readLarge(name, text) {
      const known = byName.get(name)
      if (known === undefined) throw unknownOperation(name)
      const operation = 'load' in known ? await load(known) : known
      const reading = readShaped(text, operation.shape)
      for (;;) {
        const step = reading.next()
        if (step.done === true) return step.value
        await new Promise<void>((resolve) => context.runtime.defer(resolve))
      }
    },

    async handle({ operation: name, input, principal, addressed }: RouterRequest): Promise<RouterReply> {
      const known = byName.get(name)
      if (known === undefined) return { ok: false, error: unknownOperation(name) }
      try {
        const operation = 'load' in known ? await load(known) : known
        checkShape(operation.shape, input)
        const scope = new Scope(principal, operation.name, addressed ?? NOWHERE)
        const reply = await operation.run(context, input, scope)
        return reply instanceof Uint8Array
          ? { ok: true, body: reply, headroomBytes: 0 }
          : { ok: true, body: reply.body, headroomBytes: reply.headroomBytes }
      } catch (error) {
        const damage = damageError(error, context.catalog)
        if (error instanceof DynamoError && damage === undefined) return { ok: false, error }
        const refusal = storageRefusal(error)
        if (refusal !== undefined) return { ok: false, error: refusal }
        onInternalError?.(damage ?? error, name)
        return { ok: false, error: damage ?? internalError(error) }
      }
    },
  }
}

const unknownOperation = (name: string): DynamoError =>
  new DynamoError('UnknownOperationException', `The operation ${name} is not supported by this store.`)

const NOWHERE: Addressed = {}

class Scope implements RequestScope {
  readonly principal: Principal
  readonly addressed: Addressed
  readonly #name: OperationName

  constructor(principal: Principal, name: OperationName, addressed: Addressed) {
    this.principal = principal
    this.addressed = addressed
    this.#name = name
  }

  authorise(tableName: string, part: AccessPart = 'table'): void {
    if (!this.allows(tableName, part)) throw accessDenied(this.principal, this.#name, part, tableName)
  }

  allows(tableName: string, part: AccessPart = 'table'): boolean {
    return allows(this.principal, this.#name, part, tableName)
  }
}
