// A compare-and-set engine: what Seriatim asks of a foreign store that is distributed already (Cassandra, say), so that any
// number of servers share it and none owns it. docs/adr/0043-engine-interface.md has the reasons and the layout of the rows.
//
//   server 1: router, coordinator, rules --> engine node --+
//   server 2: router, coordinator, rules --> engine node --+--> Engine: read, cas, write, range --> the ring
//   server 3: router, coordinator, rules --> engine node --+
//
//   space 't7'                                         (one for each table, index, and two of the system)
//     partition 'hash|len|key'                         (scope of a cas; on wider engines all of them are one scope)
//       row 'i|sort key'      version, past, cells     changed by cas alone
//       row 'l|index|...'     version, past, cells     the same cas, without a condition of its own
//     partition ...           cells                    rows of entries: written plainly, once; removed plainly, once
//
// Three ways to change a row, and no row is changed in two of them:
//
//   cas      the rows of one scope, all or none, if those that were looked at are unchanged
//   write    rows of which each is put at most once and removed at most once, for good; a removal wins over any put
//   dropSpace
//
// WHAT AN ADAPTER PROMISES
//
// 1. `cas` is linearizable in its scope. It compares the `version` of each change that names one, and if all are as named it
//    carries out all changes in one atomic step. A row that was never put, or was removed, is absent. Nothing else is compared.
// 2. `applied` and `refused` are final. `unknown` means that the step was carried out, was not, or will be later: at any later
//    time, even after other steps of the same scope, but only if its conditions hold at that moment, and at most once. The caller
//    tells by the version ids, which are fresh for every change that is ever made (point 35 of the design): an adapter never
//    repeats a cas whose outcome it does not know, unless the engine recognises the repetition.
// 3. A `consistent` read sees every step that was answered `applied` before the read began, and what one consistent read of a
//    scope has seen, every later one sees or sees overwritten. The rows of one call in one partition may be of different moments.
//    An `eventual` read may be of any earlier moment, and of a different one for each row.
// 4. `refused` carries rows as a consistent read after the refusal would. An engine that does not answer them reads.
// 5. `write` is `applied` only when every consistent read and every range from then on sees it. Of one row only the last word
//    counts: once a removal was sent, whenever it or the put arrive, the row ends up absent. (Cassandra: puts carry the write
//    timestamp 1 and removals 2; clocks of servers are not compared.) `unknown` may be carried out later, as with cas.
// 6. `range` of one partition is in the order of row bytes, forward or reverse. `range` of a space goes through all partitions in
//    an order that is the engine's own but always the same, and through each in the order of row bytes. Both see every step that
//    was applied before the range began, as consistent reads do, and each row at some moment since; not all at one moment. A
//    row that is there all the time is answered exactly once in a walk from page to page.
// 7. Bytes come back as they were given: rows are compared as unsigned bytes, cells are up to `limits.cellBytesMax`, and what is
//    given to the adapter or was answered by it is never changed by either side.
// 8. Every call ends within a bounded time of the adapter's choice. `read` and `range` reject with EngineUnavailable and have no
//    effect; `cas` and `write` reject only with SpaceMissing or EngineUnavailable, both of which mean: nothing was or will be done.
//    Messages name the host.
// 9. `createSpace` may be repeated and may run on several servers at once; it resolves once all hosts that answer know the space.
//    Of a `passing` space an engine may forget within hours which rows were removed, and so bring one back that a host had kept.
//    After `dropSpace` late steps on the space have no effect. Names of spaces are never used again.
//
// May be lost: nothing that was answered `applied`. May be late: everything that was answered `unknown`.
//
// May import: model, runtime.
import type { KeyBytes } from '../model/brand.js'

declare const versionBrand: unique symbol
/** The identity of one change of one row, unique for ever: 24 hexadecimal digits by chance. */
export type VersionId = string & { readonly [versionBrand]: 'VersionId' }

/** Of rows that were written plainly, which have none. */
export const NO_VERSION = '' as VersionId

export interface RowAddress {
  /** A lower-case name of letters, digits and underscores, such as `t12`. */
  readonly space: string
  /** Bytes; at most 300. */
  readonly partition: KeyBytes
  /** Bytes; its place among the rows of its partition; at most 2,100. */
  readonly row: KeyBytes
}

/**
 * Values of a row. Three, so that an image of an item is written once and shown later by a change of `head` alone: cells that a
 * change does not name stay as they are.
 */
export const cellNames = ['head', 'left', 'right'] as const
export type CellName = (typeof cellNames)[number]
export type Cells = Readonly<Partial<Record<CellName, Uint8Array>>>

export interface EngineRow {
  readonly address: RowAddress
  readonly version: VersionId
  /** The versions before, newest first, as the last change has given them. */
  readonly past: readonly VersionId[]
  readonly cells: Cells
}

export interface RowChange {
  readonly address: RowAddress
  /** The version that the row must have; `absent`: there must be none; `any`: it is not looked at. */
  readonly seen: VersionId | 'absent' | 'any'
  /** What becomes of it; absent: it stays as it is, and is only compared. */
  readonly next?: RowPut | 'removed'
}

export interface RowPut {
  readonly version: VersionId
  readonly past: readonly VersionId[]
  /** Null removes a cell; cells that are not named stay. On an absent row they are none. */
  readonly cells: Readonly<Partial<Record<CellName, Uint8Array | null>>>
}

export type CasOutcome =
  | { readonly outcome: 'applied' }
  /** Nothing was done and nothing will be. The rows of all changes, in order, as they are now. */
  | { readonly outcome: 'refused'; readonly rows: readonly (EngineRow | undefined)[] }
  /** Done, not done, or done later. */
  | { readonly outcome: 'unknown'; readonly cause: unknown }

export interface PlainWrite {
  readonly address: RowAddress
  /** Absent: the row is removed, for good. */
  readonly head?: Uint8Array
}

export type PlainOutcome =
  { readonly outcome: 'applied' } | { readonly outcome: 'unknown'; readonly cause: unknown }

export type Consistency = 'consistent' | 'eventual'

/**
 * `lasting`: rows that were removed stay away. `passing`: they come and go by the thousand, and one that came back would do no harm:
 * entries of indexes, which count only where their items name them, and records of transactions that are over.
 */
export type SpaceKind = 'lasting' | 'passing'

/** Rows of one partition. */
export interface PartitionRange {
  readonly space: string
  readonly partition: KeyBytes
  /** Inclusive. */
  readonly from: KeyBytes
  /** Exclusive; absent: to the end of the partition. */
  readonly to?: KeyBytes
  readonly reverse: boolean
  readonly rowsMax: number
  /** Only this cell of each row is wanted; absent: all. */
  readonly only?: CellName
}

/** Rows of all partitions, in the engine's own order. */
export interface SpaceRange {
  readonly space: string
  /** Behind this row, whether or not it is there; absent: from `fromPart` on. */
  readonly after?: RowAddress
  /** Parts of the ring, of 2^32 that are about equally full: the partitions from this one on, 0 if absent, ... */
  readonly fromPart?: number
  /** ... up to and without this one; absent: to the end. */
  readonly toPart?: number
  readonly rowsMax: number
  readonly only?: CellName
}

export interface RowPage {
  readonly rows: readonly EngineRow[]
  /** False if the range is exhausted. A page may be shorter than asked for, or empty, and not the last. */
  readonly more: boolean
  /** Where the next page of a space goes on; absent: behind the last row. */
  readonly after?: RowAddress
}

export interface EngineLimits {
  /** Rows of one cas that are changed or compared. */
  readonly casRowsMax: number
  /** Of all cells of one cas together. */
  readonly casBytesMax: number
  readonly cellBytesMax: number
}

export interface Engine {
  /** For messages: what it is and where. */
  readonly name: string
  readonly limits: EngineLimits
  /** Two rows can be in one cas if and only if this is the same of both. A pure function. */
  scopeOf(address: RowAddress): string
  /** Rows of any partitions, in order; undefined where there is none. One call of one partition is one call of the engine. */
  read(
    addresses: readonly RowAddress[],
    consistency: Consistency,
  ): Promise<readonly (EngineRow | undefined)[]>
  /** All of one scope; no row twice. */
  cas(changes: readonly RowChange[]): Promise<CasOutcome>
  /** Rows of any partitions, each for itself. */
  write(rows: readonly PlainWrite[]): Promise<PlainOutcome>
  range(request: PartitionRange | SpaceRange): Promise<RowPage>
  /** Resolves when every host that answers knows it. */
  createSpace(space: string, kind?: SpaceKind): Promise<void>
  dropSpace(space: string): Promise<void>
  /** About how many rows and bytes there are; absent: the engine does not know. */
  estimate?(space: string): Promise<{ readonly rows: number; readonly bytes: number } | undefined>
  close(): Promise<void>
}

/** Nothing was done and nothing will be; it may be tried again. */
export class EngineUnavailable extends Error {
  override readonly name = 'EngineUnavailable'
}

/** There is no such space, or this host does not know it yet. Nothing was done. */
export class SpaceMissing extends Error {
  override readonly name = 'SpaceMissing'
}

export const isPartitionRange = (range: PartitionRange | SpaceRange): range is PartitionRange =>
  'partition' in range
