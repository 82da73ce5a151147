// WaitForItem, one of our own: answers when a condition on an item holds, instead of being asked again and again.
import { EXTENSION_PREFIX } from '../../port/extension.js'
import { conditionAttributes, evaluateCondition, refuseNestedKeys } from '../../expression/expression.js'
import { validationError } from '../../model/errors.js'
import { parseItem } from '../../model/parse-value.js'
import { type Operation } from '../request/context.js'
import type { ItemWaits } from './item-waits.js'
import { checkedKeyOf } from '../request/keys.js'
import { tableNameShape } from '../shapes/shape.js'
import { tableNameOf } from '../shapes/table-name.js'
import { openCondition } from '../writes/single-write.js'

const TIMEOUT_MS_MAX = 20_000

export function waitForItem(waits: ItemWaits): Operation {
  return {
    name: 'WaitForItem',
    targetPrefix: EXTENSION_PREFIX,
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
      const key = checkedKeyOf(shape, keyAttributes)
      refuseNestedKeys(conditionAttributes(condition), shape.key, shape.indexes)
      const node = context.nodeOf(key.hash)

      const timeoutMs = (input['TimeoutMs'] as number | null | undefined) ?? TIMEOUT_MS_MAX
      const { met, image } = await waits.until(
        context.runtime,
        {
          id: `${shape.space}/${key.bytes}`,
          read: () => node.get(shape.space, key, true),
          watch: node.watch && ((changed) => node.watch!(shape.space, key, changed)),
        },
        (item) => evaluateCondition(condition, item),
        timeoutMs,
        scope.principal.id,
      )
      return image.reply(met)
    },
  }
}
