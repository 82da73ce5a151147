// Headers: reading them, and the one write that decides a transaction.
import { type Header, headerKey, headerOf } from '../protocol/records.js'
import { cancelRequest, commitRequest, doneRequest } from '../protocol/requests.js'
import { AnswerLost } from '../../endpoint/refusals.js'
import type { RequestUsage } from './caller.js'
import { readOne, type IntentsContext } from './context.js'

export async function readHeader(
  space: IntentsContext,
  id: string,
  usage: RequestUsage,
): Promise<Header | undefined> {
  const item = await readOne(space.caller, { table: space.records, key: headerKey(id) }, usage)
  return item === undefined ? undefined : headerOf(item)
}

/** What tells one state of a header from another. */
export const headerState = (header: Header | undefined): string =>
  header === undefined
    ? 'absent'
    : `${header.state} ${header.stamp} ${header.beat ?? 0} ${String(header.done)}`

/** How long the transaction has not moved. */
export function unchangedMs(space: IntentsContext, id: string, header: Header | undefined): number {
  return space.watch.unchangedMs(id, headerState(header), space.caller.nowMs())
}

/**
 * Cancels a transaction, unless it is committed: the answer is what became of it. Where it has no header it gets a
 * tombstone. Throws AnswerLost if nobody answers.
 */
export async function cancel(
  space: IntentsContext,
  { id, patienceMs }: { readonly id: string; readonly patienceMs: number },
  usage: RequestUsage,
): Promise<Header | 'cancelled'> {
  const { caller, records } = space
  const reply = await caller.send('UpdateItem', cancelRequest(records, id, patienceMs), usage)
  if (reply.ok) return 'cancelled'
  if (reply.error.name !== 'ConditionalCheckFailedException') throw reply.error
  // It was decided before; a decision is final.
  const header = await readHeader(space, id, usage)
  return header?.state === 'committed' ? header : 'cancelled'
}

export type HeaderFate = 'committed' | 'cancelled' | 'superseded' | 'unknown'

/** Commits, if nobody has decided otherwise or changed the plan. Throws only where the request did nothing. */
export async function decide(
  space: IntentsContext,
  header: Pick<Header, 'id' | 'turn' | 'stamp' | 'patienceMs'>,
  usage: RequestUsage,
): Promise<HeaderFate> {
  const { caller, records } = space
  const reply = await caller
    .send('UpdateItem', commitRequest(records, header), usage)
    .catch((error: unknown) => {
      if (!(error instanceof AnswerLost)) throw error
      return undefined
    })
  if (reply?.ok === true) return 'committed'
  if (reply?.ok === false && reply.error.name !== 'ConditionalCheckFailedException') throw reply.error
  try {
    // The request may still arrive. After this one it can do nothing any more.
    if (reply === undefined) {
      const fate = await cancel(space, header, usage)
      return fate === 'cancelled' ? 'cancelled' : judged(fate, header)
    }
    // Perhaps it was this very request, sent before; perhaps another coordinator of the same plan.
    const found = await readHeader(space, header.id, usage)
    return found?.state === 'pending' ? 'superseded' : judged(found, header)
  } catch {
    // However the endpoint turns this away, it says nothing of the decision: another attempt could be a second one.
    return 'unknown'
  }
}

function judged(found: Header | undefined, mine: Pick<Header, 'turn'>): HeaderFate {
  if (found?.state !== 'committed') return 'cancelled'
  return found.turn === mine.turn ? 'committed' : 'superseded'
}

export async function markDone(space: IntentsContext, id: string, usage: RequestUsage): Promise<void> {
  const reply = await space.caller.send('UpdateItem', doneRequest(space.records, id), usage)
  if (reply.ok) space.done.add(id)
  else if (reply.error.name !== 'ConditionalCheckFailedException') throw reply.error
}
