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
import type { Timestamp, TxId } from '../model/brand.js'
import { type Knobs, knobs } from '../model/knobs.js'
import type { ChangeEntry, LogEntry, PartEntry } from './entries.js'
import type { CommitRecord, LoggedChange } from './commit-record.js'

/** A record whose number is given by who keeps it; 0 before. */
export interface Assembled extends CommitRecord {
  number: number
}

interface Commit {
  readonly tx?: TxId | undefined
  readonly timestamp: Timestamp
  readonly changes: LoggedChange[]
  /** Where its first change stands among all that were added. */
  readonly place: number
  /** Those that it was done upon: they changed one of its items just before, and had not come out then. */
  before: Set<Commit> | undefined
  isWhole: boolean
  isOut: boolean
}

/** A transaction over several nodes of which not all have said that they are done. */
interface Open {
  commit: Commit | undefined
  readonly nodes: Set<number>
  readonly done: Set<number>
}

export class Assembler {
  /** In the order of their first changes; some are out. */
  #commits: Commit[] = []
  /** Where the first one stands that is not out; it is not whole. */
  #head = 0
  #held = 0
  /** By item: the last one that changed it, if that is not out. */
  readonly #newest = new Map<string, Commit>()
  readonly #open = new Map<TxId, Open>()
  #place = 0
  /** Those that are out are let go together, once there are so many. */
  readonly #outMax: number

  constructor({ logOutMax }: Pick<Knobs, 'logOutMax'> = knobs) {
    this.#outMax = logOutMax
  }

  /** In the same state, from here on apart. */
  copy(): Assembler {
    const copy = new Assembler({ logOutMax: this.#outMax })
    const held = this.#commits.slice(this.#head).filter(({ isOut }) => !isOut)
    const copies = new Map(held.map((commit) => [commit, { ...commit, changes: [...commit.changes] }]))
    const copied = (commit: Commit): Commit | undefined => copies.get(commit)
    for (const commit of copies.values())
      // Those that are out need not be waited for.
      commit.before &&= new Set(Array.from(commit.before, copied).filter((other) => other !== undefined))
    copy.#commits = [...copies.values()]
    copy.#held = this.#held
    copy.#place = this.#place
    for (const [name, commit] of this.#newest) copy.#newest.set(name, copied(commit) as Commit)
    for (const [tx, { commit, nodes, done }] of this.#open)
      copy.#open.set(tx, {
        commit: commit && copied(commit),
        nodes: new Set(nodes),
        done: new Set(done),
      })
    return copy
  }

  /** Everything that was added has come out. */
  get isSettled(): boolean {
    return this.#held === 0 && this.#open.size === 0
  }

  /** How many changes were added. */
  get place(): number {
    return this.#place
  }

  /** Where the first change stands that has not come out. */
  get oldestPlace(): number {
    return this.#commits[this.#head]?.place ?? this.#place
  }

  /** Commits that wait for others. */
  get held(): number {
    return this.#held
  }

  /** Entries that follow those added before; those of one step stand together. */
  add(entries: readonly LogEntry[]): readonly Assembled[] {
    const out: Assembled[] = []
    for (let at = 0; at < entries.length; at++) {
      const entry = entries[at] as LogEntry
      // Nothing waits: most commits are whole at once, and go right through.
      if (this.#held === 0 && entry.kind === 'change' && entry.of !== 'finish') {
        const changes = [entry.change]
        while (isOfSameStep(entry, entries[at + 1])) changes.push((entries[++at] as ChangeEntry).change)
        this.#place += changes.length
        out.push(recordOf(entry, changes))
        continue
      }
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
    const commit: Commit = {
      tx,
      timestamp,
      changes: [],
      place: this.#place,
      before: undefined,
      isWhole: false,
      isOut: false,
    }
    this.#add(commit, entry)
    this.#commits.push(commit)
    this.#held++
    if (open !== undefined) open.commit = commit
    return commit
  }

  #add(commit: Commit, { change }: ChangeEntry): void {
    commit.changes.push(change)
    this.#place++
    const name = nameOf(change)
    const last = this.#newest.get(name)
    if (last === commit) return
    if (last !== undefined) (commit.before ??= new Set()).add(last)
    this.#newest.set(name, commit)
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
    for (let head = this.#first(); head?.isWhole === true; head = this.#first()) {
      const ready = withThoseBefore(head)
      if (ready === undefined) return
      for (const commit of ready) {
        this.#letGo(commit)
        out.push(recordOf(commit, commit.changes))
      }
    }
  }

  #letGo(commit: Commit): void {
    commit.isOut = true
    commit.before = undefined
    this.#held--
    for (const change of commit.changes) {
      const name = nameOf(change)
      if (this.#newest.get(name) === commit) this.#newest.delete(name)
    }
  }

  /** That is not out. */
  #first(): Commit | undefined {
    while (this.#commits[this.#head]?.isOut === true) this.#head++
    if (this.#head >= this.#outMax || this.#head === this.#commits.length) {
      this.#commits = this.#commits.slice(this.#head)
      this.#head = 0
    }
    return this.#commits[this.#head]
  }
}

/**
 * The commit, behind those that it was done upon; undefined if one of them is not whole. Without recursion: each may have
 * been done upon the one before it, and all of them wait.
 */
function withThoseBefore(commit: Commit): readonly Commit[] | undefined {
  if (commit.before === undefined) return [commit]
  const ready: Commit[] = []
  const seen = new Set([commit])
  const path = [stepAt(commit)]
  for (let step = path.at(-1); step !== undefined; step = path.at(-1)) {
    const { value: other } = step.before.next()
    if (other === undefined) {
      ready.push(step.commit)
      path.pop()
      continue
    }
    if (!other.isWhole) return undefined
    if (other.isOut || seen.has(other)) continue
    seen.add(other)
    path.push(stepAt(other))
  }
  return ready
}

const stepAt = (
  commit: Commit,
): { readonly commit: Commit; readonly before: Iterator<Commit, undefined> } => ({
  commit,
  before: (commit.before ?? NONE).values(),
})

const NONE: ReadonlySet<Commit> = new Set()

const recordOf = (
  { tx, timestamp }: Pick<Commit, 'tx' | 'timestamp'>,
  changes: readonly LoggedChange[],
): Assembled => (tx === undefined ? { number: 0, timestamp, changes } : { number: 0, timestamp, tx, changes })

const nameOf = ({ space, key }: LoggedChange): string => `${space} ${key}`

const isOfSameStep = (entry: ChangeEntry, next: LogEntry | undefined): boolean =>
  entry.of === 'step' && next?.kind === 'change' && next.of === 'step' && next.tx === entry.tx
