// What all transactions of one transactor share: the endpoint, the record table, what is known of tables and of others.
import type { Item } from '../../../model/value.js'
import { layoutOf, Layouts } from '../../unit/layout.js'
import type { ItemAddress } from '../../unit/protocol.js'
import type { GuardUse } from '../../unit/transactor.js'
import { fromSdkItem, toSdkItem } from '../../values/values.js'
import type { Caller, RequestUsage } from './caller.js'
import { intentLimits, type IntentsPatience } from '../protocol/limits.js'
import { addressText } from '../protocol/images.js'
import type { RecordTable } from './record-table.js'
import { RecentSet, Watch } from './watch.js'

/** How each table's queries and writes use its guards (see items/guards.ts). */
export type Guards = Readonly<Record<string, GuardUse>>

export interface IntentsContext {
  readonly caller: Caller
  /** The table of transaction records. */
  readonly records: string
  readonly patience: IntentsPatience
  readonly guards: Guards
  readonly layouts: Layouts
  readonly watch: Watch
  /** Transactions known to be done. */
  readonly done: RecentSet
  readonly background: Background
  readonly recordTable: RecordTable
  /** Told what goes wrong behind answers and would be noticed by no caller. */
  readonly report: (error: unknown) => void
}

export function openContext(
  caller: Caller,
  settings: Pick<IntentsContext, 'records' | 'patience' | 'guards' | 'report'>,
): IntentsContext {
  return {
    caller,
    ...settings,
    layouts: new Layouts(async (table) => {
      const usage = { requests: 0, capacity: 0 }
      const { Table } = await caller.read('DescribeTable', { TableName: table }, usage)
      return layoutOf(table, Table ?? {})
    }),
    watch: new Watch(intentLimits.watchedMax),
    done: new RecentSet(intentLimits.doneMax),
    background: new Background(),
    recordTable: { isFound: false, isProven: false },
  }
}

/** Work that goes on behind an answer. What goes wrong in it is left to whoever meets it next, or to the sweeper. */
export class Background {
  readonly #running = new Set<Promise<void>>()

  run(work: () => Promise<unknown>): void {
    const running: Promise<void> = work().then(
      () => undefined,
      () => undefined,
    )
    this.#running.add(running)
    void running.then(() => this.#running.delete(running))
  }

  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }
}

/** All of them at once, but not more than so many under way. Settles when every one has; the first error is thrown. */
export async function inParallel<T>(
  members: readonly T[],
  work: (member: T) => Promise<void>,
  atOnceMax: number = intentLimits.parallelMax,
): Promise<void> {
  let next = 0
  let failed: { readonly error: unknown } | undefined
  const worker = async (): Promise<void> => {
    while (next < members.length && failed === undefined) {
      const member = members[next++] as T
      try {
        await work(member)
      } catch (error) {
        failed ??= { error }
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnceMax, members.length) }, worker))
  if (failed !== undefined) throw failed.error
}

/** The items as they are now, in the order of their addresses; undefined for none. Each address once. */
export async function readRaw(
  { caller }: IntentsContext,
  addresses: readonly ItemAddress[],
  usage: RequestUsage,
): Promise<(Item | undefined)[]> {
  const [first] = addresses
  if (first === undefined) return []
  if (addresses.length === 1) return [await readOne(caller, first, usage)]
  const found = new Map<string, Item>()
  const keyNames = new Map(addresses.map(({ table, key }) => [table, Object.keys(key)]))
  const chunks: ItemAddress[][] = []
  for (let at = 0; at < addresses.length; at += intentLimits.batchGetMax)
    chunks.push(addresses.slice(at, at + intentLimits.batchGetMax))
  await inParallel(chunks, async (chunk) => {
    let wanted: Record<string, { Keys: ReturnType<typeof toSdkItem>[]; ConsistentRead: boolean }> = {}
    for (const { table, key } of chunk)
      (wanted[table] ??= { Keys: [], ConsistentRead: true }).Keys.push(toSdkItem(key))
    for (let rounds = 0; Object.keys(wanted).length > 0; rounds++) {
      if (rounds > intentLimits.roundsMax)
        throw new Error('BatchGetItem leaves keys unprocessed again and again')
      if (rounds > 0) await caller.sleep(caller.jitter(10 * 2 ** Math.min(rounds, 8)))
      const { Responses, UnprocessedKeys } = await caller.read(
        'BatchGetItem',
        { RequestItems: wanted },
        usage,
      )
      for (const [table, items] of Object.entries(Responses ?? {})) {
        for (const sdkItem of items) {
          const item = fromSdkItem(sdkItem)
          const key = Object.fromEntries(keyNames.get(table)!.map((name) => [name, item[name]!]))
          found.set(addressText(table, key), item)
        }
      }
      wanted = (UnprocessedKeys ?? {}) as typeof wanted
    }
  })
  return addresses.map(({ table, key }) => found.get(addressText(table, key)))
}

export async function readOne(
  caller: Caller,
  { table, key }: ItemAddress,
  usage: RequestUsage,
): Promise<Item | undefined> {
  const { Item: item } = await caller.read(
    'GetItem',
    { TableName: table, Key: toSdkItem(key), ConsistentRead: true },
    usage,
  )
  return item === undefined ? undefined : fromSdkItem(item)
}
