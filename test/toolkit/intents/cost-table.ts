// What a commit costs, by counting real requests.
import type { Endpoint } from '../../../src/toolkit/endpoint/endpoint.js'
import type { IntentsOptions } from '../../../src/toolkit/intents/intents-protocol.js'
import { RECORDS } from '../../../src/toolkit/intents/intents-protocol.js'
import type { CommitProtocol } from '../../../src/toolkit/unit/transactor.js'
import { foreign, intentsTransactor, PATIENT } from './endpoints.js'

export interface Cost {
  readonly items: number
  readonly protocol: CommitProtocol
  /** Before the caller had its answer. */
  readonly before: Counts
  /** When everything behind was done, too. */
  readonly inAll: Counts
  /** Times that something was waited for before the answer. */
  readonly rounds: number
  readonly cpuMs: number
}

export interface Counts {
  readonly writes: number
  /** Of records that spilled over; not among the writes. */
  readonly spills: number
  readonly reads: number
  readonly capacity: number
}

export const KINDS = ['read and changed', 'blind puts'] as const
export type Kind = (typeof KINDS)[number]

const TABLE = 'Costs'

export async function prepareCosts(endpoint: Endpoint): Promise<void> {
  await endpoint.call('CreateTable', {
    TableName: TABLE,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  })
  const t = intentsTransactor(endpoint)
  await t.setup()
}

/** Commits a unit of that many items, which transactions have written before. */
export async function costOf(
  endpoint: Endpoint,
  items: number,
  kind: Kind,
  settings: IntentsOptions,
): Promise<Cost> {
  const ids = Array.from({ length: items }, (_, at) => `item ${at}`)
  const setup = intentsTransactor(endpoint)
  await setup.transact((tx) => ids.forEach((id) => tx.put(TABLE, { id, n: 0, text: 'x'.repeat(200) })))
  await setup.idle()

  const counted = counting(endpoint)
  let protocol: CommitProtocol = 'intents'
  const t = intentsTransactor(
    counted.endpoint,
    { ...PATIENT, ...settings },
    { onOutcome: (info) => (protocol = info.protocol) },
  )
  // What is learnt once for a transactor is not a cost of its units.
  await t.transact((tx) => tx.put(TABLE, { id: 'first' }))
  await t.transact((tx) => [1, 2].forEach((at) => tx.put(TABLE, { id: `first ${at}` })))
  await t.idle()
  const start = process.cpuUsage()
  await t.transact(async (tx) => {
    if (kind === 'read and changed') {
      await tx.getAll(
        TABLE,
        ids.map((id) => ({ id })),
      )
      for (const id of ids) tx.update(TABLE, { id }, { add: { n: 1 } })
    } else {
      for (const id of ids) tx.put(TABLE, { id, n: 5, text: 'y'.repeat(200) })
    }
    counted.reset()
  })
  const { user, system } = process.cpuUsage(start)
  const { rounds, ...before } = counted.answered() ?? counted.counts()
  await t.idle()
  const { rounds: _rounds, ...inAll } = counted.counts()
  return { items, protocol, before, inAll, rounds, cpuMs: (user + system) / 1000 }
}

function counting(endpoint: Endpoint): {
  readonly endpoint: Endpoint
  counts(): Counts & { readonly rounds: number }
  /** When the decision was answered. */
  answered(): (Counts & { readonly rounds: number }) | undefined
  reset(): void
} {
  let [writes, spills, reads, capacity, rounds, underWay] = [0, 0, 0, 0, 0, 0]
  const counts = () => ({ writes, spills, reads, capacity, rounds })
  let answered: ReturnType<typeof counts> | undefined
  return {
    reset: () => {
      ;[writes, spills, reads, capacity, rounds] = [0, 0, 0, 0, 0]
      answered = undefined
    },
    counts,
    answered: () => answered,
    endpoint: foreign({
      async call(operation, input, options) {
        if (underWay++ === 0) rounds++
        const { TableName, ConditionExpression } = input as {
          TableName?: string
          ConditionExpression?: string
        }
        // Beats depend on time: a slow machine sends some.
        const isBeat = TableName === RECORDS && (ConditionExpression ?? '').includes('#beat')
        if (TableName === RECORDS && operation === 'PutItem' && ConditionExpression === undefined) spills++
        else if (!/^(Put|Update|Delete|Transact)/.test(operation)) reads++
        else if (!isBeat) writes++
        try {
          const output = await endpoint.call(operation, input, options)
          capacity += capacityOf(output)
          if (JSON.stringify(input).includes('":committed"') && operation === 'UpdateItem')
            answered ??= counts()
          return output
        } finally {
          underWay--
        }
      },
    }),
  }
}

function capacityOf(output: object): number {
  const { ConsumedCapacity: consumed } = output as { ConsumedCapacity?: object }
  return [consumed ?? []]
    .flat()
    .reduce((sum, one) => sum + ((one as { CapacityUnits?: number }).CapacityUnits ?? 0), 0)
}

/** The table for the documentation. */
export function costTable(
  rows: readonly { readonly cost: Cost; readonly kind: Kind; readonly where: string }[],
): string {
  const head = [
    'items',
    'unit',
    'endpoint',
    'committed by',
    'writes before the answer',
    'reads',
    'rounds',
    'writes in all',
    'spilled',
    'capacity before',
    'capacity in all',
    '7N+4',
    '2N+1',
  ]
  const lines = rows.map(({ cost, kind, where }) => [
    cost.items,
    kind,
    where,
    cost.protocol,
    cost.before.writes,
    cost.before.reads,
    cost.rounds,
    cost.inAll.writes,
    cost.before.spills,
    cost.before.capacity,
    cost.inAll.capacity,
    7 * cost.items + 4,
    2 * cost.items + 1,
  ])
  return [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}
