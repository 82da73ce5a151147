// A way to commit for tests of units alone: plain reads, and one TransactWriteItems. It isolates nothing.
import type { Store } from '../../../src/store/store.js'
import type { StoreInput } from '../../../src/store/store-operations.js'
import { manualClock } from '../../../src/runtime/manual-clock.js'
import { Deadline } from '../../../src/toolkit/unit/attempts.js'
import { ConditionFailed } from '../../../src/toolkit/endpoint/errors.js'
import { layoutOf, Layouts } from '../../../src/toolkit/unit/layout.js'
import type { UnitAction, AttemptPort, AttemptStart, CommitWork } from '../../../src/toolkit/unit/protocol.js'
import { fromSdkItem, toSdkItem } from '../../../src/toolkit/values/values.js'

type TransactItems = StoreInput<'TransactWriteItems'>['TransactItems']

export class PlainAttempt implements AttemptPort {
  readonly commitsReads = false
  readonly usage = { requests: 0, capacity: 0 }
  /** Pages of so many items at most, so that several are needed. */
  pageLimit: number | undefined
  readonly #store: Store
  readonly #layouts: Layouts

  constructor(store: Store) {
    this.#store = store
    this.#layouts = new Layouts(async (TableName) => {
      const { Table } = await store.call('DescribeTable', { TableName })
      return layoutOf(TableName, Table!)
    })
  }

  layout(table: string): ReturnType<AttemptPort['layout']> {
    return this.#layouts.of(table)
  }

  async get(addresses: Parameters<AttemptPort['get']>[0]): ReturnType<AttemptPort['get']> {
    this.usage.requests++
    return Promise.all(
      addresses.map(async ({ table, key }) => {
        const { Item } = await this.#store.call('GetItem', { TableName: table, Key: toSdkItem(key) })
        return Item === undefined ? {} : { item: fromSdkItem(Item) }
      }),
    )
  }

  async page(...[range, start, limit]: Parameters<AttemptPort['page']>): ReturnType<AttemptPort['page']> {
    const Limit = Math.min(limit ?? Infinity, this.pageLimit ?? Infinity)
    const input = {
      TableName: range.table,
      ...(range.index !== undefined && { IndexName: range.index }),
      ...(range.filter !== undefined && { FilterExpression: range.filter }),
      ...(range.names !== undefined && { ExpressionAttributeNames: range.names }),
      ...(range.values !== undefined && { ExpressionAttributeValues: toSdkItem(range.values) }),
      ...(start !== undefined && { ExclusiveStartKey: toSdkItem(start) }),
      ...(Number.isFinite(Limit) && { Limit }),
    }
    const answer =
      range.keyCondition === undefined
        ? await this.#store.call('Scan', input)
        : await this.#store.call('Query', {
            ...input,
            KeyConditionExpression: range.keyCondition,
            ScanIndexForward: !range.reverse,
          })
    const { Items = [], LastEvaluatedKey } = answer
    return {
      items: Items.map(fromSdkItem),
      ...(LastEvaluatedKey !== undefined && { next: fromSdkItem(LastEvaluatedKey) }),
    }
  }

  async commit({ actions }: CommitWork): ReturnType<AttemptPort['commit']> {
    try {
      await this.#store.call('TransactWriteItems', { TransactItems: actions.map(transactItem) })
    } catch (error) {
      const reasons = (error as { CancellationReasons?: { Code?: string; Message?: string }[] })
        .CancellationReasons
      if (reasons?.some(({ Code }) => Code === 'ConditionalCheckFailed'))
        throw new ConditionFailed('a condition does not hold', {}, { cause: error })
      throw error
    }
    return { protocol: 'transact' }
  }

  end(): void {}
}

export const attemptStart = (more: Partial<AttemptStart> = {}): AttemptStart => ({
  id: 'unit',
  attempt: 1,
  isolation: 'serializable',
  timeoutMs: 30_000,
  deadline: new Deadline(manualClock(0), {
    timeoutMs: 30_000,
    signal: undefined,
    expired: () => new Error('over'),
  }),
  ...more,
})

function transactItem({
  kind,
  table,
  key,
  item,
  expressions,
}: UnitAction): NonNullable<TransactItems>[number] {
  const { update, condition, names, values } = expressions
  const common = {
    TableName: table,
    ...(condition !== undefined && { ConditionExpression: condition }),
    ...(names !== undefined && { ExpressionAttributeNames: names }),
    ...(values !== undefined && { ExpressionAttributeValues: toSdkItem(values) }),
  }
  const Key = toSdkItem(key)
  if (kind === 'put') return { Put: { ...common, Item: toSdkItem(item!) } }
  if (kind === 'delete') return { Delete: { ...common, Key } }
  if (kind === 'update') return { Update: { ...common, Key, UpdateExpression: update } }
  return { ConditionCheck: { ...common, Key, ConditionExpression: condition } }
}
