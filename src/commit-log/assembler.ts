// Puts the entries of all nodes together to records, one for each commit, in the order in which commits took effect.
//
//   entries in the order of the steps --> commits, each once it is whole --> records
//
// A single write and a transaction in one step are whole at once. A transaction over several nodes is carried out node by
// node; it is one record, and nothing that came after its first change goes before it, but for what it was done upon, itself
// or through others:
//
//   x: T (first change)        W2            W2 comes after T, because it found T's x
//   y:            W1     T (last change)     W1 comes before T, because T found W1's y
//                                            --> W1, T, W2
//
// So the log holds for each item the order in which it changed, and never shows half of a transaction. That this is always
// possible is what the protocol promises (a cycle would be a history that is not serializable).
//
// What comes out depends on the order of the entries alone, and not on when they came: the journal read back gives the same
// records in the same order.
import type { KeyBytes, Timestamp, TxId } from '../model/brand.js'
import type { ChangeEntry, LogEntry, PartEntry } from './entries.js'
import type { CommitRecord, LoggedChange } from './commit-record.js'

/** A record that has no number yet. */
export type Assembled = Omit<CommitRecord, 'number'>

interface Commit {
  readonly tx?: TxId | undefined
  readonly timestamp: Timestamp
  readonly changes: LoggedChange[]
  /** Where its changes stand among all that were added. */
  readonly places: number[]
  isWhole: boolean
}

/** A transaction over several nodes of which not all have said that they are done. */
interface Open {
  commit: Commit | undefined
  readonly nodes: Set<number>
  readonly done: Set<number>
}

export class Assembler {
  /** In the order of their first changes; the first is not whole. */
  readonly #commits: Commit[] = []
  readonly #open = new Map<TxId, Open>()
  #place = 0

  /** Everything that was added has come out. */
  get isSettled(): boolean {
    return this.#commits.length === 0 && this.#open.size === 0
  }

  /** How many changes were added. */
  get place(): number {
    return this.#place
  }

  /** Where the first change stands that has not come out. */
  get oldestPlace(): number {
    return this.#commits[0]?.places[0] ?? this.#place
  }

  /** Commits that wait for others. */
  get held(): number {
    return this.#commits.length
  }

  /** Entries that follow those added before; those of one step stand together. */
  add(entries: readonly LogEntry[]): readonly Assembled[] {
    const out: Assembled[] = []
    for (let at = 0; at < entries.length; at++) {
      const entry = entries[at] as LogEntry
      switch (entry.kind) {
        case 'change': {
          const commit = this.#change(entry)
          if (entry.of === 'finish') break
          while (isOfSameStep(entry, entries[at + 1])) this.#add(commit, entries[++at] as ChangeEntry)
          commit.isWhole = true
          break
        }
        case 'part':
          this.#part(entry)
          break
        case 'completed':
          this.#whole(entry.tx)
          break
      }
      this.#drain(out)
    }
    return out
  }

  #change(entry: ChangeEntry): Commit {
    const { of, tx, timestamp } = entry
    const open = of === 'finish' && tx !== undefined ? this.#opened(tx) : undefined
    const known = open?.commit
    if (known !== undefined) {
      this.#add(known, entry)
      return known
    }
    const commit: Commit = { tx, timestamp, changes: [], places: [], isWhole: false }
    this.#add(commit, entry)
    this.#commits.push(commit)
    if (open !== undefined) open.commit = commit
    return commit
  }

  #add(commit: Commit, { change }: ChangeEntry): void {
    commit.changes.push(change)
    commit.places.push(this.#place++)
  }

  #opened(tx: TxId): Open {
    let open = this.#open.get(tx)
    if (open === undefined)
      this.#open.set(tx, (open = { commit: undefined, nodes: new Set(), done: new Set() }))
    return open
  }

  #part({ tx, node, nodes, isDone }: PartEntry): void {
    const open = this.#opened(tx)
    for (const each of nodes) open.nodes.add(each)
    if (isDone) open.done.add(node)
    if (open.nodes.size > 0 && open.nodes.size === open.done.size) this.#whole(tx)
  }

  #whole(tx: TxId): void {
    const open = this.#open.get(tx)
    if (open === undefined) return
    this.#open.delete(tx)
    if (open.commit !== undefined) open.commit.isWhole = true
  }

  #drain(out: Assembled[]): void {
    while (this.#commits[0]?.isWhole === true) {
      const ready = this.#withThoseBefore(this.#commits[0])
      if (ready === undefined) return
      for (const commit of ready) {
        this.#commits.splice(this.#commits.indexOf(commit), 1)
        const { tx, timestamp, changes } = commit
        out.push({ timestamp, ...(tx !== undefined && { tx }), changes })
      }
    }
  }

  /** The commit, behind those that it was done upon; undefined if one of them is not whole. */
  #withThoseBefore(commit: Commit): readonly Commit[] | undefined {
    const next = this.#commits[1]
    if (next === undefined || (commit.places.at(-1) as number) < (next.places[0] as number)) return [commit]
    const ready: Commit[] = []
    return this.#visit(commit, ready, new Set()) ? ready : undefined
  }

  #visit(commit: Commit, ready: Commit[], seen: Set<Commit>): boolean {
    if (seen.has(commit)) return true
    seen.add(commit)
    if (!commit.isWhole) return false
    for (const [at, change] of commit.changes.entries()) {
      const place = commit.places[at] as number
      for (const other of this.#commits) {
        if ((other.places[0] as number) > place) break
        if (other !== commit && hasChanged(other, change, place) && !this.#visit(other, ready, seen))
          return false
      }
    }
    ready.push(commit)
    return true
  }
}

const isOfSameStep = (entry: ChangeEntry, next: LogEntry | undefined): boolean =>
  entry.of === 'step' && next?.kind === 'change' && next.of === 'step' && next.tx === entry.tx

/** Whether the commit changed the same item before. */
const hasChanged = (
  { changes, places }: Commit,
  { space, key }: { readonly space: number; readonly key: KeyBytes },
  before: number,
): boolean =>
  changes.some((each, at) => each.space === space && each.key === key && (places[at] as number) < before)
