// WaitForItem, one of our own: answers when a condition on an item holds, instead of being asked again and again.
import { conditionAttributes, evaluateCondition, refuseNestedKeys } from '../../expression/expression.js'
import { validationError } from '../../model/errors.js'
import { parseItem } from '../../model/parse-value.js'
import type { Item } from '../../model/value.js'
import type { Clock } from '../../runtime/runtime.js'
import { EXTENSION_PREFIX, type Operation } from '../context.js'
import { keyOf } from '../keys.js'
import { jsonReply, parseRecord } from '../reply.js'
import { tableNameShape } from '../shape.js'
import { tableNameOf } from '../table-name.js'
import { openCondition } from '../write-expressions.js'

/** Of one store. Whoever comes when there are so many is answered at once. */
const WAITS_MAX = 4_000
const TIMEOUT_MS_MAX = 20_000

/** Everybody who waits, so that a store which is about to close can let them go. */
export class Waits {
  readonly #ends = new Set<() => void>()

  get full(): boolean {
    return this.#ends.size >= WAITS_MAX
  }

  endAll(): void {
    for (const end of this.#ends) end()
  }

  /** Looks again at every change, until the look is satisfied, the time is over, or all are let go. */
  until(
    clock: Clock,
    timeoutMs: number,
    watch: (changed: () => void) => () => void,
    look: () => Promise<boolean>,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (done: () => void): void => {
        cancel()
        unwatch()
        this.#ends.delete(end)
        done()
      }
      const end = (): void => settle(resolve)
      const changed = (): void => {
        look().then(
          (met) => met && end(),
          (error: unknown) => settle(() => reject(error)),
        )
      }
      const cancel = clock.timer(timeoutMs, end)
      const unwatch = watch(changed)
      this.#ends.add(end)
      // Only now: what changes from here on is seen.
      changed()
    })
  }
}

export function waitForItem(waits: Waits): Operation {
  return {
    name: 'WaitForItem',
    targetPrefix: EXTENSION_PREFIX,
    access: 'read',
    shape: {
      kind: 'struct',
      members: {
        TableName: tableNameShape,
        Key: { kind: 'map', member: { kind: 'any' }, required: true },
        ConditionExpression: { kind: 'string', required: true },
        ExpressionAttributeNames: { kind: 'map', member: { kind: 'string' } },
        ExpressionAttributeValues: { kind: 'map', member: { kind: 'any' } },
        TimeoutMs: { kind: 'integer', valueMin: 0, valueMax: TIMEOUT_MS_MAX },
      },
    },

    async run(context, input, scope) {
      const tableName = tableNameOf(input['TableName'])
      scope.authorise(tableName)
      const keyAttributes = parseItem(input['Key'])
      const condition = openCondition(input)
      if (condition === undefined) throw validationError('A ConditionExpression is required')
      const { shape } = context.catalog.table(tableName)
      const key = keyOf(shape, keyAttributes)
      refuseNestedKeys(conditionAttributes(condition), shape.key, shape.indexes)
      const node = context.nodeOf(key.hash)

      let item: Item | undefined
      let met = false
      const look = async (): Promise<boolean> => {
        if (met) return true
        const record = await node.get(shape.space, key)
        // Another look, begun later, may have been faster.
        if (met) return true
        item = record && parseRecord(record)
        met = evaluateCondition(condition, item)
        return met
      }
      const timeoutMs = (input['TimeoutMs'] as number | null | undefined) ?? TIMEOUT_MS_MAX
      await look()
      if (!met && timeoutMs > 0 && !waits.full && node.watch !== undefined) {
        const watch = node.watch.bind(node)
        await waits.until(
          context.runtime.clock,
          timeoutMs,
          (changed) => watch(shape.space, key, changed),
          look,
        )
      }
      return jsonReply(item === undefined ? { Met: met } : { Met: met, Item: item })
    },
  }
}
