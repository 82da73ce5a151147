import type { TxId } from '../../model/brand.js'
import { EXTENSION_PREFIX } from '../../port/extension.js'
import { EVERY_TABLE } from '../request/access.js'
import { type Operation } from '../request/context.js'
import { jsonReply } from '../request/reply.js'
import { transactionList as list } from './transaction-list.js'

const LIMIT_DEFAULT = 100
const LIMIT_MAX = 1000

export const listTransactions: Operation = {
  name: 'ListTransactions',
  targetPrefix: EXTENSION_PREFIX,
  shape: {
    kind: 'struct',
    members: { Limit: { kind: 'integer', valueMin: 1, valueMax: LIMIT_MAX } },
  },

  async run(context, input, scope) {
    scope.authorise(EVERY_TABLE, 'everyTable')
    const limit = (input['Limit'] as number | null | undefined) ?? LIMIT_DEFAULT
    const { nodes, catalog, coordinator, recovery, runtime } = context
    const sources = {
      nodes,
      shapes: catalog.shapes(),
      ended: coordinator.recent(),
      phases: (tx: TxId) => coordinator.phases(tx),
      ...(recovery && { recovered: recovery.recent() }),
      nowMicros: runtime.clock.nowMicros(),
    }
    return jsonReply(await list(sources, limit))
  },
}
