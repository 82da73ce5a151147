// The decisions of the protocol, as functions of what is stored. Everything else in this folder carries items and
// headers to these functions and their answers back.
//
//   an intent on an item          its header                              what may be done
//   ----------------------------  --------------------------------------  ---------------------------------------------
//   of the plan that was decided  committed                               apply: the redo, by anyone, any number of times
//   of another turn, or repeated  committed (and done)                    drop: the transaction never meant it, or it was
//     after all was finished                                              applied before
//   any                           cancelled                               drop
//   any                           pending, or not there (yet, or again)   wait; cancel it by a tombstone; or yield
//
// Nothing is applied or dropped before the header says so: a decision is one conditional write on the header.
import { applyRedo } from './images.js'
import type { Header, Intent, Redo, Stored } from './records.js'
import type { IntentsPatience } from './limits.js'
import type { Item } from '../../../model/value.js'
import type { Outcome } from '../../unit/transactor.js'

export type Settlement = 'apply' | 'drop' | 'undecided'

/** What an intent is worth. An absent header may still arrive, so it says nothing. */
export function settlementOf(intent: Intent, header: Header | undefined): Settlement {
  if (header === undefined || header.state === 'pending') return 'undecided'
  if (header.state === 'cancelled') return 'drop'
  // All participants of a transaction that is done were finished: this is a repetition that arrived late.
  if (header.done) return 'drop'
  return intent.turn === header.turn ? 'apply' : 'drop'
}

/** An item as whoever reads committed data should see it, with the version that this state has. */
export interface Effective {
  readonly item?: Item
  readonly version?: string
}

/** `redo`: the intent's, brought in from its records if it was spilled. */
export function effectiveOf(stored: Stored | undefined, settlement: Settlement, redo: Redo): Effective {
  if (stored === undefined) return {}
  const { intent, version } = stored
  if (intent === undefined || settlement !== 'apply' || redo.act === 'keep') return committedOf(stored)
  if (redo.act === 'delete') return {}
  return { item: applyRedo(stored.item, redo), version: versionAfter(intent, version) }
}

/** Without the intent's effect: a transient item is no item. */
export function committedOf(stored: Stored): Effective {
  if (stored.intent?.transient === true) return {}
  return { item: stored.item, ...(stored.version !== undefined && { version: stored.version }) }
}

/**
 * The version that a write leaves behind. Absence keeps no version: an insert that was repeated by the network could be
 * placed once more after somebody deleted the item. So the version of an inserted item names its inserter, behind a
 * star and through later writes, until it is deleted; and a delete waits until that transaction is done, after which
 * its intents are dropped.
 */
export function versionAfter(intent: Pick<Intent, 'id' | 'transient'>, before: string | undefined): string {
  if (intent.transient) return `${intent.id}*${intent.id}`
  const at = before?.indexOf('*') ?? -1
  return at < 0 ? intent.id : `${intent.id}${before!.slice(at)}`
}

/**
 * Whether a write of a committed transaction, whose intent is no longer on its item, has been lost. Transactions leave
 * the version of the last writer: none at all, or still the one before (which never comes back), is a plain writer's
 * doing. So may be a missing item, unless it was to be deleted.
 */
export function isWriteLost(
  write: { readonly id: string; readonly act: Redo['act']; readonly before: string | undefined },
  now: Stored | undefined,
): boolean {
  if (write.act === 'keep' || now?.intent?.id === write.id) return false
  // A transient item is no item.
  if (now === undefined || now.intent?.transient === true) return write.act !== 'delete'
  return now.version === undefined || now.version === write.before
}

export interface Party {
  readonly id: string
  readonly since: number
}

/**
 * The fate of a unit by the headers of all its attempts. A unit that may have been tried again is not cancelled for
 * good: its next attempt may have left no header yet, or may have been committed in a way that leaves none.
 */
export function fateOf(headers: readonly Pick<Header, 'state' | 'once'>[]): Outcome {
  const states = new Set(headers.map(({ state }) => state))
  if (states.has('committed')) return 'committed'
  if (states.has('pending')) return 'pending'
  return headers.some(({ once }) => once) ? 'cancelled' : 'unknown'
}

/** Older transactions win: by when their units began, on their own clocks, then by id. A total order. */
export const isOlder = (one: Party, other: Party): boolean =>
  one.since < other.since || (one.since === other.since && one.id < other.id)

export type Contention = 'apply' | 'drop' | 'wait' | 'cancel' | 'yield'

/**
 * What to do about an intent of somebody else. The younger never cancels the older, so there is always one transaction
 * that nobody cancels, and no two cancel each other.
 */
export function contentionOf(met: {
  readonly me: Party
  readonly intent: Intent
  readonly header: Header | undefined
  /** Since this intent was met first. */
  readonly waitedMs: number
  /** How long the header has been the same, on my clock. */
  readonly unchangedMs: number
  readonly patience: IntentsPatience
}): Contention {
  const { me, intent, header, waitedMs, unchangedMs, patience } = met
  const settlement = settlementOf(intent, header)
  if (settlement !== 'undecided') return settlement
  if (unchangedMs >= (header ?? intent).patienceMs) return 'cancel'
  if (isOlder(me, intent)) return waitedMs >= patience.graceMs ? 'cancel' : 'wait'
  return waitedMs >= patience.waitMs ? 'yield' : 'wait'
}

export type Sweeping = 'leave' | 'cancel' | 'finish' | 'undo' | 'delete'

/** What a sweeper does about a header that has not changed for so long on its own clock. */
export function sweepingOf(header: Header, unchangedMs: number, patience: IntentsPatience): Sweeping {
  if (header.done) return unchangedMs >= patience.keepMs ? 'delete' : 'leave'
  if (unchangedMs < header.patienceMs) return 'leave'
  if (header.state === 'pending') return 'cancel'
  return header.state === 'committed' ? 'finish' : 'undo'
}

/** What a unit amounts to, as far as the way to commit it depends on it. */
export interface WorkSummary {
  /** Items it writes. */
  readonly writes: number
  /** Of these, the ones that it has not read and whose version is therefore not known. */
  readonly blind: number
  /** Items it only read or checked, at a level that validates them. */
  readonly observed: number
  /** Of these, the ones it found absent. */
  readonly absent: number
  /** Items it read that have no version: only their whole image tells whether they changed. */
  readonly unversioned: number
  readonly ranges: number
  /** Roughly, of all writes together. */
  readonly bytes: number
  /** It holds locks or was detached, and so has a header already. */
  readonly begun: boolean
}

/** What the endpoint offers and the caller allows. */
export interface Means {
  readonly single: boolean
  readonly transact: boolean
  readonly transactMax: number
  readonly transactBytesMax: number
}

export type CommitWay = 'read-only' | 'single' | 'transact' | 'intents'

/**
 * The cheapest way that is right. One conditional write compares one item, so the unit must have observed nothing
 * else. TransactWriteItems compares all of them at the same moment, but only versions and absence: images and ranges
 * need more. Reading twice proves that versions were all current at one moment; of things without a version, each true
 * at both times, only one may be among them, because two could have been true in turns.
 */
export function commitWayOf(shape: WorkSummary, means: Means): CommitWay {
  const { writes, blind, observed, absent, unversioned, ranges, bytes, begun } = shape
  if (begun) return 'intents'
  if (writes === 0 && absent + unversioned + ranges <= 1) return 'read-only'
  if (unversioned === 0 && ranges === 0) {
    // The network may repeat a blind write after somebody else's; a transaction's token would prevent that.
    const pinned = blind === 0 || !means.transact
    if (means.single && writes === 1 && observed === 0 && pinned) return 'single'
    const fits = writes + observed <= means.transactMax && bytes <= means.transactBytesMax
    if (means.transact && fits) return 'transact'
  }
  // Ranges cannot be locked: without anything to write or lock, reading twice is all there is.
  return writes + absent + unversioned === 0 ? 'read-only' : 'intents'
}
