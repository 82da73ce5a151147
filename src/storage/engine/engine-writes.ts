// Steps of single writes and of transactions on an engine: rows are brought to the rules, and what the rules say to the rows.
import { type EngineRow, type RowAddress, SpaceMissing } from '../../engine/engine.js'
import { DurabilityUnknown, TableGone } from '../../line/errors.js'
import { slotOf, type Timestamp } from '../../model/brand.js'
import { type TableShape, versionOf } from '../../model/table.js'
import { looksAtImage, observes, writes, type Action } from '../../rules/item/contended-item.js'
import type { WriteRequest } from '../../rules/item/item.js'
import { steadyMicros } from '../../runtime/runtime.js'
import type { LoadedItem } from '../items/load-item.js'
import type { WriteOutcome } from '../contract/storage-node.js'
import type { TransactReply, TransactRequest } from '../contract/transactions.js'
import { conflictVerdict, GONE, ACCEPTED, stepVerdict, withImage } from '../transactions/verdicts.js'
import { StaleCatalogue } from './catalogue-lease.js'
import type { EngineParts } from './engine-parts.js'
import { holderOf, ledgerPut, recordsIn } from './engine-ledger.js'
import { completeEntries } from './entry-repair.js'
import { hasEntryRows, writtenChanges, type Changes } from './item-changes.js'
import { type ItemHead, loadRow, recordOf } from './item-row.js'
import { whereMissing } from './missing-spaces.js'
import { itemRow, ledgerRow } from './rows.js'
import type { StepDecision, RowNext, RowsSeen } from './scope-steps.js'

export type LoadedRow = LoadedItem & { readonly head: ItemHead }

/** An action with the shape in force, the item it meets, and where that is. */
export interface LoadedStep<A extends Action = Action> {
  readonly action: A
  readonly item: LoadedRow
  readonly row: EngineRow | undefined
  readonly address: RowAddress
}

/** The row was written with a newer shape than this server knows. */
export class NewerShape extends Error {
  override readonly name = 'NewerShape'
}

export function loadStep<A extends Action>(parts: EngineParts, rows: RowsSeen, given: A): LoadedStep<A> {
  // Its rows may be there for a while; there may be another table of its name by now.
  if (parts.shapes.isDropped(given.table.space)) throw new SpaceMissing('the table is no more')
  const table = parts.shapes.newest(given.table)
  const action = table === given.table ? given : { ...given, table }
  const address = itemRow(table.space, action.key)
  const row = rows.row(address)
  const item = loadRow(row, table, action.key, parts.isOrdered)
  if (item.head.shape > versionOf(table)) throw new NewerShape()
  parts.clock.witness(item.head.written)
  const { pending } = item.head
  if (pending !== undefined) {
    parts.clock.witness(pending.timestamp)
    parts.pendings.meet(pending.tx, address)
  }
  return { action, item, row, address }
}

/** A place that a step may write to, and the shape that it was asked with. */
export interface Touched {
  readonly table: TableShape
  readonly address: RowAddress
}

/** Takes a step once the catalogue is known to be of late; once more if it turns out not to be. */
export async function withCatalogue<T>(
  parts: EngineParts,
  touched: readonly Touched[],
  step: () => Promise<T>,
): Promise<T> {
  const { lease } = parts
  const confirming = lease.confirm()
  if (confirming !== undefined) await confirming
  const before = touched.map(({ table }) => versionOf(parts.shapes.newest(table)))
  const answer = await inNewestShape(lease, step)
  // Another request may have renewed the lease meanwhile, and met the new shape.
  const isNewer = touched.some(({ table }, at) => versionOf(parts.shapes.newest(table)) > before[at]!)
  if (parts.isLate(isNewer)) await completeLate(parts, touched, before)
  return answer
}

async function inNewestShape<T>(lease: EngineParts['lease'], step: () => Promise<T>): Promise<T> {
  try {
    return await step()
  } catch (error) {
    if (!(error instanceof NewerShape)) throw error
    await lease.renew()
    try {
      return await step()
    } catch (again) {
      throw again instanceof NewerShape
        ? new StaleCatalogue('The table was changed by another server.')
        : again
    }
  }
}

const LATE_TRIES_MAX = 5

/**
 * This server was frozen, or its step was on its way, for longer than the lease: the table may have an index by now that was filled
 * before the step arrived. So the answer waits until what was written has its entries.
 */
async function completeLate(
  parts: EngineParts,
  touched: readonly Touched[],
  before: readonly number[],
): Promise<void> {
  const { lease, shapes, runtime } = parts
  for (let tries = 1; ; tries++) {
    try {
      await lease.renew()
      for (const [at, { table: given, address }] of touched.entries()) {
        if (shapes.isDropped(given.space)) continue
        const table = shapes.newest(given)
        if (versionOf(table) <= before[at]!) continue
        const complete = (): Promise<void> => completeEntries(parts, table, address)
        await whereMissing(parts, [table.space], complete, () => undefined)
      }
      return
    } catch (error) {
      if (tries >= LATE_TRIES_MAX)
        throw new DurabilityUnknown('It was written, and may be missing from an index that is new.', {
          cause: error,
        })
      await new Promise<void>((resolve) => void runtime.clock.timer(50 * 2 ** tries, resolve))
    }
  }
}

/** What the write changes; `json`: the text of a put. */
export function itemWriteOf(
  parts: EngineParts,
  { action, item, row }: LoadedStep,
  next: Parameters<typeof writtenChanges>[0]['next'],
  timestamp: Timestamp,
): Parameters<typeof writtenChanges>[0] {
  const { table, key, mutation } = action
  return {
    table,
    key,
    row,
    head: item.head,
    old: () => item.item(),
    next,
    json: mutation.kind === 'put' ? mutation.json : undefined,
    timestamp,
    blind: !observes(action),
    newId: parts.newId,
  }
}

/** A single write (§2.2, §4 rule 3): it waits for what is pending, boundedly. */
export async function writeItem(parts: EngineParts, request: WriteRequest): Promise<WriteOutcome> {
  const { runtime, waitMs, waits, shapes, lease } = parts
  const address = itemRow(request.table.space, request.key)
  const until = steadyMicros(runtime.clock) + waitMs * 1000
  for (let pauseMs = 2; ; pauseMs = Math.min(2 * pauseMs, 50)) {
    if (shapes.isDropped(request.table.space)) {
      if (lease.isFollowing) throw new TableGone()
      return { verdict: 'done', timestamp: parts.clock.nextTimestamp() }
    }
    const isBlind =
      !observes(request) && !looksAtImage(request) && !hasEntryRows(shapes.newest(request.table))
    const { outcome, isWaiting } = await withCatalogue(parts, [{ table: request.table, address }], () =>
      parts.steps.take({
        addresses: [address],
        mayGuess: isBlind && 'likely',
        decide: (rows) => decideWrite(parts, rows, request),
      }),
    )
    if (!isWaiting || steadyMicros(runtime.clock) >= until) return outcome
    await waits.until([address], pauseMs)
  }
}

interface WriteAnswer {
  readonly outcome: WriteOutcome
  readonly isWaiting?: true
}

function decideWrite(parts: EngineParts, rows: RowsSeen, request: WriteRequest): StepDecision<WriteAnswer> {
  const step = loadStep(parts, rows, request)
  const { item, action } = step
  const { record } = item.state
  const { clock, functions, rules } = parts
  const verdict = functions.decideSingleWrite(item, action, clock.nextTimestamp(), rules)
  switch (verdict.verdict) {
    case 'condition-failed':
      return { answer: { outcome: { verdict: 'condition-failed', ...(record && { current: record }) } } }
    case 'invalid':
      return { answer: { outcome: verdict } }
    case 'wait':
    case 'conflict': {
      const outcome: WriteOutcome = { verdict: 'conflict', others: verdict.others }
      return { answer: verdict.verdict === 'wait' ? { outcome, isWaiting: true } : { outcome } }
    }
    case 'done': {
      const { timestamp, next } = verdict
      clock.witness(timestamp)
      const old = record && { old: record }
      if (next === undefined && record === undefined)
        return { answer: { outcome: { verdict: 'done', timestamp } } }
      const changes = writtenChanges(itemWriteOf(parts, step, next, timestamp))
      const written = newRecord(changes)
      return {
        answer: { outcome: { verdict: 'done', timestamp, ...old, ...(written && { new: written }) } },
        ...changes,
      }
    }
  }
}

/** The record that a write leaves, out of the cells it puts. */
function newRecord({ next }: Changes): ReturnType<typeof recordOf> {
  const [item] = next as readonly RowNext[]
  const cells: Record<string, Uint8Array> = {}
  for (const [name, cell] of Object.entries(item?.cells as object) as [string, Uint8Array | null][])
    if (cell !== null) cells[name] = cell
  return recordOf({ address: item!.address, version: '' as EngineRow['version'], past: [], cells })
}

/** A transaction within one scope, in one round (§4 rule 7); with the slot of its token where that is in the scope, too. */
export async function transactInScope(parts: EngineParts, request: TransactRequest): Promise<TransactReply> {
  const { engine, runtime, waits, waitMs, shapes } = parts
  const { actions, tx, token } = request
  const gone = actions.map(({ table }) => shapes.isDropped(table.space))
  const clock = (): { readonly clock: Timestamp } => ({ clock: parts.clock.now() })
  if (gone.some(Boolean))
    return { ...clock(), outcome: 'refused', verdicts: gone.map((isGone) => (isGone ? GONE : ACCEPTED)) }
  const items = actions.map(({ table, key }) => itemRow(table.space, key))
  const slot = ledgerRow(slotOf(tx))
  const scopes = new Set(items.map((address) => engine.scopeOf(address)))
  if (scopes.size > 1) throw new RangeError('a transaction in one round on several scopes')
  const hasSlot = scopes.has(engine.scopeOf(slot))
  if (token !== undefined && !hasSlot)
    throw new RangeError('a client token outside of the scope of its items')
  const isRecorded = hasSlot && (token !== undefined || request.once !== true)
  const touched = actions.map(({ table }, at): Touched => ({ table, address: items[at]! }))
  const until = steadyMicros(runtime.clock) + waitMs * 1000
  for (let pauseMs = 2; ; pauseMs = Math.min(2 * pauseMs, 50)) {
    const answer = await withCatalogue(parts, touched, () =>
      parts.steps.take({
        addresses: isRecorded ? [...items, slot] : items,
        decide: (rows) => decideTransact(parts, rows, request, isRecorded),
      }),
    )
    if (answer.isWaiting !== true || steadyMicros(runtime.clock) >= until)
      return { ...clock(), ...answer.reply }
    await waits.until(items, pauseMs)
  }
}

interface TransactAnswer {
  readonly reply: WithoutClock<TransactReply>
  readonly isWaiting?: true
}
type WithoutClock<Reply> = Reply extends unknown ? Omit<Reply, 'clock'> : never

function decideTransact(
  parts: EngineParts,
  rows: RowsSeen,
  { tx, actions, token, imagesWanted, unit }: TransactRequest,
  isRecorded: boolean,
): StepDecision<TransactAnswer> {
  const payloadHash = token?.payloadHash ?? ''
  const records = isRecorded ? recordsIn(rows.row(ledgerRow(slotOf(tx)))) : []
  const holder = holderOf(records)
  if (holder !== undefined) {
    const outcome =
      (holder.payloadHash ?? '') !== payloadHash
        ? 'token-mismatch'
        : holder.state === 'completed'
          ? 'repeated'
          : 'token-in-progress'
    return { answer: { reply: { outcome } } }
  }
  const steps = actions.map((action) => loadStep(parts, rows, action))
  const now = parts.clock.nextTimestamp()
  const verdict = parts.functions.decideWriteStep(steps, now, parts.rules, { unit })
  switch (verdict.verdict) {
    case 'refused':
      return {
        answer: {
          reply: {
            outcome: 'refused',
            verdicts: verdict.results.map((result, at) => stepVerdict(result, steps[at]!.item)),
          },
        },
      }
    case 'wait':
    case 'conflict': {
      const verdicts = verdict.others.map((others, at) => conflictVerdict(others, verdict.holders[at]))
      const reply = { outcome: 'refused', verdicts } as const
      return { answer: verdict.verdict === 'wait' ? { reply, isWaiting: true } : { reply } }
    }
    case 'done': {
      const { timestamp } = verdict
      parts.clock.witness(timestamp)
      const changes = steps.map((step, at): Changes => {
        const next = verdict.next[at]
        // It has to stay as it was looked at.
        if (!writes(step.action) || (next === undefined && step.item.state.record === undefined))
          return { next: [{ address: step.address }] }
        return writtenChanges(itemWriteOf(parts, step, next, timestamp))
      })
      const record = {
        tx,
        state: 'completed',
        decision: 'commit',
        timestamp,
        begunAt: now,
        completedAt: now,
        participants: [],
        ...(token && { payloadHash }),
      } as const
      return {
        answer: {
          reply: {
            outcome: 'committed',
            timestamp,
            ...(imagesWanted && { verdicts: steps.map(({ item }) => withImage(item)) }),
          },
        },
        next: [
          ...changes.flatMap(({ next = [] }) => next),
          ...(isRecorded ? [ledgerPut(tx, [...records, record])] : []),
        ],
        before: changes.flatMap(({ before = [] }) => before),
        after: changes.flatMap(({ after = [] }) => after),
      }
    }
  }
}
