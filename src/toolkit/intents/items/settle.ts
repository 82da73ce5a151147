// Settling an intent of a decided transaction, and making room where an undecided one is in the way. Anyone may do
// either for any transaction; every request is conditional on the intent that it removes.
//
//   intent in the way --> its header --> committed: apply   cancelled: drop   pending or absent: wait | cancel it | yield
import { Conflict } from '../../endpoint/errors.js'
import type { ItemAddress } from '../../unit/protocol.js'
import { described } from '../../unit/layout.js'
import { unmarshallItem } from '../../values/values.js'
import type { RequestUsage } from '../context/caller.js'
import { cancel, markDone, readHeader, unchangedMs } from '../context/headers.js'
import { intentLimits } from '../protocol/limits.js'
import type { CommitProgress } from '../context/commit-progress.js'
import { type Header, inserterOf, type Intent, type Stored, storedOf, writerOf } from '../protocol/records.js'
import { applyRequest, dropRequest, type ItemRequest } from '../protocol/requests.js'
import { contentionOf, type Party, settlementOf } from '../protocol/rules.js'
import { inParallel, readOne, type IntentsContext } from '../context/context.js'
import { participantsOf, redoOfIntent } from '../context/spill.js'

export interface Locked extends ItemAddress {
  readonly stored: Stored
  readonly intent: Intent
}

/** Applies the redo of a committed transaction to one of its items. */
export async function apply(
  space: IntentsContext,
  locked: Locked,
  usage: RequestUsage,
  depth = 0,
): Promise<'done' | 'refused'> {
  const { stored, intent } = locked
  const redo = await redoOfIntent(space, intent, usage)
  // See versionAfter: what is deleted must not be inserted again by a repeated intent of its inserter.
  const inserter = redo.act === 'delete' ? inserterOf(stored.version) : undefined
  if (inserter !== undefined && inserter !== intent.id) await ensureDone(space, inserter, usage, depth)
  return sendSettling(space, applyRequest(locked, stored, intent, redo), usage)
}

/** Takes away an intent that has no effect. */
export async function drop(space: IntentsContext, locked: Locked, usage: RequestUsage): Promise<void> {
  await sendSettling(space, dropRequest(locked, locked.intent), usage)
}

/** A refusal means that somebody else was faster, or has destroyed the intent. */
async function sendSettling(
  { caller }: IntentsContext,
  request: ItemRequest,
  usage: RequestUsage,
): Promise<'done' | 'refused'> {
  const { operation, input } = request
  const reply = await caller.send(operation, input, usage)
  if (reply.ok) return 'done'
  if (reply.error.name !== 'ConditionalCheckFailedException') throw reply.error
  return 'refused'
}

/** Returns once every participant of that committed transaction is finished and its header says so. */
export async function ensureDone(
  space: IntentsContext,
  id: string,
  usage: RequestUsage,
  depth = 0,
): Promise<void> {
  if (space.done.has(id)) return
  const header = await readHeader(space, id, usage)
  // It has written an item, so it was committed; without a header it was done long ago.
  if (header === undefined || header.done || header.state !== 'committed') return
  if (depth >= intentLimits.helpDepthMax) throw new Error(`transaction ${id} is not finished yet`)
  await finishAll(space, header, usage, depth + 1)
}

/** Finishes or undoes every participant of a decided transaction. */
export async function finishAll(
  space: IntentsContext,
  header: Header,
  usage: RequestUsage,
  depth = 0,
): Promise<void> {
  const participants = await participantsOf(space, header, usage)
  await inParallel(participants, async (address) => {
    const stored = storedOf(await readOne(space.caller, address, usage))
    if (stored?.intent?.id !== header.id) return
    const locked = { ...address, stored, intent: stored.intent }
    if (settlementOf(stored.intent, header) === 'apply') await apply(space, locked, usage, depth)
    else await drop(space, locked, usage)
  })
  await markDone(space, header.id, usage)
}

export interface IntentWaiter extends Party {
  readonly time: CommitProgress
  /** There is nothing to wait for any more. */
  readonly isOver?: () => boolean
}

/**
 * Returns once the intent is gone: settled, or its transaction cancelled and then settled. Throws Conflict where I, the
 * younger, have waited long enough, or my own time is over.
 */
export async function makeRoom(
  space: IntentsContext,
  locked: Locked,
  me: IntentWaiter,
  usage: RequestUsage,
): Promise<void> {
  const { caller, patience } = space
  const { intent } = locked
  const startMs = caller.nowMs()
  let pauseMs = patience.pollMs
  for (let rounds = 0; rounds < intentLimits.roundsMax; rounds++) {
    const nowMs = caller.nowMs()
    const header = await readHeader(space, intent.id, usage)
    const what = contentionOf({
      me,
      intent,
      header,
      waitedMs: nowMs - startMs,
      unchangedMs: unchangedMs(space, intent.id, header),
      patience,
    })
    if (what === 'apply') return void (await apply(space, locked, usage))
    if (what === 'drop') return drop(space, locked, usage)
    if (what === 'yield' || me.time.isOver() || me.isOver?.() === true) break
    if (what === 'cancel') {
      await cancel(space, header ?? intent, usage)
      continue
    }
    await caller.sleep(pauseMs / 2 + caller.jitter(pauseMs / 2))
    pauseMs = Math.min(pauseMs * 2, patience.pollMaxMs)
  }
  throw inTheWay(locked, intent.id)
}

const writer = (competitor: string | undefined): string =>
  competitor === undefined ? 'another client' : `transaction ${competitor}`

export const inTheWay = ({ table, key }: ItemAddress, competitor: string): Conflict =>
  new Conflict(`Transaction ${competitor} has locked ${described({ table, key })}.`, {
    table,
    key: unmarshallItem(key),
    competitor,
  })

/** `version`: the one that is there instead, which names its writer; or a transaction. */
export function changed({ table, key }: ItemAddress, version?: string): Conflict {
  const competitor = version === undefined ? undefined : writerOf(version)
  return new Conflict(`${described({ table, key })} was changed by ${writer(competitor)}.`, {
    table,
    key: unmarshallItem(key),
    ...(competitor !== undefined && { competitor }),
  })
}
