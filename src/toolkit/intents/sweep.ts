// What others left behind: transactions that stand still are cancelled or finished, intents without a header are undone,
// and records that have been done for long are deleted. Anyone may sweep, any number of times, beside everything else.
// How long something has stood still is measured on the sweeper's own clock: the first time it is seen, nothing is done.
import { keyAttributesOf } from '../../model/table.js'
import type { AttributeValue as SdkValue } from '@aws-sdk/client-dynamodb'
import type { Item } from '../../model/value.js'
import { attribute } from '../../model/value.js'
import type { SweepReport } from '../unit/transactor.js'
import { fromSdkItem, toSdkItem } from '../values/values.js'
import type { RequestUsage } from './context/caller.js'
import { cancel, readHeader, unchangedMs } from './context/headers.js'
import { isGuardRecord } from './items/guards.js'
import { HEADER_PART, headerOf, INTENT, recordKey, storedOf } from './protocol/records.js'
import { forgetRequest } from './protocol/requests.js'
import { settlementOf, sweepingOf } from './protocol/rules.js'
import { apply, drop, finishAll } from './items/settle.js'
import { inParallel, type IntentsContext } from './context/context.js'

type Counts = { -readonly [Name in keyof SweepReport]: number }

export async function sweep(space: IntentsContext, tables: readonly string[]): Promise<SweepReport> {
  const counts: Counts = { committed: 0, cancelled: 0, orphans: 0, deleted: 0 }
  const usage = { requests: 0, capacity: 0 }
  const headers = new Set<string>()
  const parts = new Map<string, Item>()
  await scan(space, space.records, undefined, usage, async (items) => {
    const guards = items.filter(isGuardRecord)
    for (const item of items) {
      if (isGuardRecord(item)) continue
      if (textOf(item, 'part') === HEADER_PART) headers.add(textOf(item, 'id'))
      else parts.set(textOf(item, 'id'), item)
    }
    const found = items.filter((item) => textOf(item, 'part') === HEADER_PART)
    await inParallel(found, (item) => sweepHeader(space, item, counts, usage), SWEEP_PARALLEL)
    await sweepItems(space, space.records, guards, counts, usage)
  })
  // Records without a header: it was delayed, or lost.
  for (const [id, item] of parts)
    if (!headers.has(id)) await sweepOrphan(space, textOf(item, 'id'), counts, usage)
  for (const table of tables) await sweepTable(space, table, counts, usage)
  return counts
}

const SWEEP_PARALLEL = 8

async function sweepHeader(
  space: IntentsContext,
  item: Item,
  counts: Counts,
  usage: RequestUsage,
): Promise<void> {
  const header = headerOf(item)
  const { id } = header
  switch (sweepingOf(header, unchangedMs(space, id, header), space.patience)) {
    case 'leave':
      return
    case 'cancel': {
      const fate = await cancel(space, header, usage)
      counts[fate === 'cancelled' ? 'cancelled' : 'committed']++
      await finishAll(space, fate === 'cancelled' ? { ...header, state: 'cancelled' } : fate, usage)
      return
    }
    case 'finish':
      await finishAll(space, header, usage)
      counts.committed++
      return
    case 'undo':
      await finishAll(space, header, usage)
      counts.cancelled++
      return
    case 'delete':
      await forget(space, id, usage)
      counts.deleted++
  }
}

/** The header last: as long as something is left, it can be found. */
async function forget(space: IntentsContext, id: string, usage: RequestUsage): Promise<void> {
  const { caller, records } = space
  const parts: string[] = []
  let start: Record<string, SdkValue> | undefined
  do {
    const { Items, LastEvaluatedKey } = await caller.read(
      'Query',
      {
        TableName: records,
        ConsistentRead: true,
        KeyConditionExpression: '#id = :id',
        ProjectionExpression: '#id, #part',
        ExpressionAttributeNames: { '#id': 'id', '#part': 'part' },
        ExpressionAttributeValues: { ':id': { S: id } },
        ...(start !== undefined && { ExclusiveStartKey: start }),
      },
      usage,
    )
    parts.push(...(Items ?? []).map((item) => textOf(fromSdkItem(item), 'part')))
    start = LastEvaluatedKey
  } while (start !== undefined)
  const remove = async (part: string): Promise<void> => {
    const reply = await caller.send('DeleteItem', forgetRequest(records, recordKey(id, part)), usage)
    if (!reply.ok) throw reply.error
  }
  await inParallel(
    parts.filter((part) => part !== HEADER_PART),
    remove,
    SWEEP_PARALLEL,
  )
  await remove(HEADER_PART)
  space.watch.forget(id)
}

/** No header: whoever wrote this was never heard of again. Tombstone first, then undo. */
async function sweepOrphan(
  space: IntentsContext,
  id: string,
  counts: Counts,
  usage: RequestUsage,
): Promise<void> {
  if ((await readHeader(space, id, usage)) !== undefined) return
  if (unchangedMs(space, id, undefined) < space.patience.stalledMs) return
  await cancel(space, { id, patienceMs: space.patience.stalledMs }, usage)
  counts.orphans++
}

async function sweepTable(
  space: IntentsContext,
  table: string,
  counts: Counts,
  usage: RequestUsage,
): Promise<void> {
  await scan(space, table, `attribute_exists(${INTENT})`, usage, (items) =>
    sweepItems(space, table, items, counts, usage),
  )
}

/** Intents, on items or guards, whose transactions stand still. */
async function sweepItems(
  space: IntentsContext,
  table: string,
  items: readonly Item[],
  counts: Counts,
  usage: RequestUsage,
): Promise<void> {
  await inParallel(
    items,
    async (item) => {
      const stored = storedOf(item)
      const intent = stored?.intent
      if (stored === undefined || intent === undefined) return
      const { id } = intent
      const layout = await space.layouts.of(table)
      const locked = { table, key: keyAttributesOf(layout.key, item), stored, intent }
      let header = await readHeader(space, id, usage)
      if (header === undefined || header.state === 'pending') {
        if (unchangedMs(space, id, header) < (header ?? intent).patienceMs) return
        const fate = await cancel(space, header ?? intent, usage)
        if (header === undefined) counts.orphans++
        header = fate === 'cancelled' ? await readHeader(space, id, usage) : fate
      } else if (!header.done && unchangedMs(space, id, header) < header.patienceMs) return
      if (settlementOf(intent, header) === 'apply') await apply(space, locked, usage)
      else if (settlementOf(intent, header) === 'drop') await drop(space, locked, usage)
    },
    SWEEP_PARALLEL,
  )
}

async function scan(
  { caller }: IntentsContext,
  table: string,
  filter: string | undefined,
  usage: RequestUsage,
  page: (items: readonly Item[]) => Promise<void>,
): Promise<void> {
  let start: Item | undefined
  do {
    const output = await caller.read(
      'Scan',
      {
        TableName: table,
        ConsistentRead: true,
        ...(filter !== undefined && { FilterExpression: filter }),
        ...(start !== undefined && { ExclusiveStartKey: toSdkItem(start) }),
      },
      usage,
    )
    await page((output.Items ?? []).map(fromSdkItem))
    start = output.LastEvaluatedKey === undefined ? undefined : fromSdkItem(output.LastEvaluatedKey)
  } while (start !== undefined)
}

function textOf(item: Item, name: string): string {
  const value = attribute(item, name)
  return value !== undefined && 'S' in value ? value.S : ''
}
