// What a unit of work needs of a way to commit. `native` speaks to Seriatim, others make do with DynamoDB's own
// operations; the unit, its retries and everything that a caller sees are the same for all.
//
//   Unit (buffers, folds, merges) --> Attempt: layout, get, page      while the lambda runs
//                                              commit(work) | end(work)  once, after it
//
// Items and keys are in the wire's form here (see values.ts).
import type { RevisionAnswer } from '../values/revision.js'
import type { Item } from '../../model/value.js'
import type { UnitAction, ItemAddress, ReadEntry, ReadItem, TableLayout } from '../../port/unit-port.js'
import type { Deadline } from './attempts.js'
import type { CommitProtocol, IsolationLevel, Outcome, SweepReport, TransactOptions } from './transactor.js'

export type {
  UnitAction,
  ActionExpressions,
  ItemAddress,
  ReadEntry,
  ReadItem,
  TableLayout,
  Version,
} from '../../port/unit-port.js'

/** A query or scan as it is sent: the wire's words, without TableName's friends that a unit never uses. */
export interface UnitRange {
  readonly table: string
  readonly index?: string
  /** Absent for a scan. */
  readonly keyCondition?: string
  readonly filter?: string
  readonly names?: Readonly<Record<string, string>>
  readonly values?: Item
  readonly reverse: boolean
}

export interface Page {
  readonly items: readonly Item[]
  /** Where the next page begins; absent after the last. */
  readonly next?: Item
}

/** A range that was read, and how far. */
export interface UnitRangeEntry extends UnitRange {
  /** The position of the last item that was looked at; absent where reading went to the end. */
  readonly end?: Item
}

/** All that a unit has done, at its end. */
export interface CommitWork {
  readonly reads: readonly ReadEntry[]
  readonly ranges: readonly UnitRangeEntry[]
  readonly actions: readonly UnitAction[]
  readonly locks: readonly ItemAddress[]
}

/** One attempt, told to the way of committing when it begins. */
export interface AttemptStart {
  /** The same for all attempts of one unit, as its idempotency token is. */
  readonly id: string
  readonly attempt: number
  /** It is the only attempt of its unit: a handle's, which nobody tries again. */
  readonly once?: boolean
  readonly isolation: IsolationLevel
  readonly timeoutMs: number
  /** Over when the attempt's time is, or when its caller gives up; not looked at once the commit has been sent. */
  readonly deadline: Deadline
  /** What an earlier attempt left for this one, as `Attempt.carry` gave it. */
  readonly carried?: unknown
}

export interface CommitReport {
  readonly protocol: CommitProtocol
}

/**
 * The endpoint as one attempt of a unit sees it. What it throws decides what happens next: `Conflict`, `SnapshotTooOld`,
 * `Overloaded` and `AnswerLost` are tried again, everything else reaches the caller. `OutcomeUnknown` from `commit` is
 * never retried.
 */
export interface RevisionPage {
  readonly revisions: readonly RevisionAnswer[]
  readonly next?: string
}

export interface AttemptPort {
  /** How the table's keys are made; synchronous where it is known already. */
  layout(table: string): TableLayout | Promise<TableLayout>
  /** In the order of the addresses. */
  get(addresses: readonly ItemAddress[], options: { readonly lock: boolean }): Promise<readonly ReadItem[]>
  /** From after `start`; at most `limit` items are looked at. */
  page(range: UnitRange, start: Item | undefined, limit: number | undefined): Promise<Page>
  /** The versions of an item of a ledger table, page by page; absent where the endpoint has no ledgers. */
  revisions?(address: ItemAddress, next: string | undefined): Promise<RevisionPage>
  /** Not called for a unit that wrote and checked nothing, unless `commitsReads`. */
  commit(work: CommitWork): Promise<CommitReport>
  /** Reads of such a unit must be validated by a commit at this level, because they came from no snapshot. */
  readonly commitsReads: boolean
  /**
   * Before an error of the lambda or an abort surfaces: throws Conflict if what was read was not consistent. Absent
   * where reads come from a snapshot.
   */
  validate?(work: CommitWork): Promise<void>
  /** The attempt is over without a commit, or after a refused one: gives back what it holds. Never throws. */
  end(locks: readonly ItemAddress[]): void
  /** Resolves when what `end` began is done: everything that the attempt held is given back. */
  rolledBack?(): Promise<void>
  /** What the next attempt should know. */
  carry?(): unknown
  /**
   * A send of the commit got no answer, and a later one was refused: the first may still arrive. The next attempt has
   * the same id, so that only one of them can take effect; if it is refused with `EarlierCommitted`, it was this one.
   */
  readonly isDoubtful?: boolean
  /** Requests sent and capacity units consumed so far. */
  readonly usage: { readonly requests: number; readonly capacity: number }
}

/** A way to commit. */
export interface Protocol {
  attempt(start: AttemptStart): AttemptPort
  /** Before another attempt, unless the caller has a way of his own. */
  readonly backoffBaseMs?: number
  setup(): Promise<void>
  outcome(id: string): Promise<Outcome>
  sweep(options: { readonly tables?: readonly string[] }): Promise<SweepReport>
  idle(): Promise<void>
  /** Persists an unfinished unit; absent where that is not possible. */
  readonly detached?: DetachedUnits
  /** Item positions of scans and of equal index keys are those of Seriatim; elsewhere their order is not known. */
  readonly ordersLikeSeriatim: boolean
}

export interface DetachedUnits {
  /** `port`: the attempt that this protocol has made for that start. */
  detach(start: AttemptStart, work: CommitWork, port?: AttemptPort): Promise<void>
  /** What `detach` has kept, and the options to go on with. */
  resume(id: string): Promise<{ readonly work: CommitWork; readonly options: TransactOptions }>
}

/** The commit of an earlier attempt, whose answer was lost, has taken effect after all. */
export class EarlierCommitted extends Error {
  override readonly name = 'EarlierCommitted'
}
