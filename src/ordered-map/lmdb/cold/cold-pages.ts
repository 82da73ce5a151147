// Brings pages of LMDB's file into the page cache before LMDB reads them, so that the thread that answers requests does not wait
// for the disk: a page that is missing would stop it, and with it everybody.
//
//   key --> branch pages, leaf, pages of a long value (../file/lmdb-pages.ts) --those not known to be there: read in Node's pool--> LMDB
//
// All of it is a guess that costs nothing but time when it is wrong. The file is read without a transaction of LMDB, so a page may
// be replaced meanwhile: what makes no sense ends the guess. A page that was replaced was written just now, and is there.
//
// Whether the system has a page is not told to a program. What is known is which pages were read here, in this generation or the
// one before; and from the counters of the process whether it has waited for a page of a map, or read from the disk at all. While it
// reads nothing from the disk, nothing is brought (docs/adr/0046-cold-pages.md).
import { closeSync, openSync, read, readSync } from 'node:fs'
import { join } from 'node:path'
import type { KeyBytes } from '../../../model/brand.js'
import type { ScanRange } from '../../ordered-map.js'
import { entriesTreeOf } from '../file/lmdb-file.js'
import { isBranch, type Node, overflowPagesOf, pageNodesOf } from '../file/lmdb-pages.js'
import { type PageRun, RUN_BYTES_MAX, runsOf } from './page-runs.js'
import { RecentPages } from './recent-pages.js'

/** What the process has read from disks, and how often it had to wait for a page of a map, since it began. */
export interface DiskCounters {
  readonly fsRead: number
  readonly majorPageFault: number
}

export interface ColdPagesOptions {
  /** Whether the file is believed to be out of the page cache at first. */
  readonly isCold: boolean
  readonly counters?: () => DiskCounters
  readonly nowMs?: () => number
}

/** The counters are looked at once in so many reads. */
const LOOK_EVERY = 64
/** While nothing is brought, at most that often: the system takes its time for the counters when it is busy. */
const LOOK_MS_MIN = 100
/** Waits for pages in that many reads, those of earlier looks counted half, from which on pages are brought. */
const FAULTS_MIN = 2
/**
 * So many reads without one from the disk, and nothing is brought any more. Twice as many each time that this was too early: not
 * every file system counts what is read from it.
 */
const QUIET_READS_MIN = 1024
const QUIET_READS_MAX = 128 * 1024
/** Node's pool has four threads, and the journal needs one. */
const READS_AT_ONCE = 3
const DEPTH_MAX = 32
/** Of a range: leaves that are brought at once, at first and at most. */
const LEAVES_AT_ONCE_MIN = 4
const LEAVES_AT_ONCE_MAX = 64

type Page = number

export class ColdPages {
  readonly #path: string
  readonly #counters: () => DiskCounters
  readonly #nowMs: () => number
  #isCold: boolean
  #reads = 0
  /** As many reads, and the time, at the last look. */
  #readsSeen = 0
  #seenMs = -Infinity
  #quiet = 0
  #quietMax = QUIET_READS_MIN
  #faults = 0
  #seen: DiskCounters
  #file: number | undefined
  #pageBytes = 0
  #tree: ReturnType<typeof entriesTreeOf>
  /** Branch pages of the tree as it is. */
  readonly #branches = new Map<Page, readonly Node[]>()
  readonly #recent = new RecentPages()
  /** By their first page. */
  readonly #bringing = new Map<Page, { readonly pages: number; readonly brought: Promise<void> }>()
  readonly #slots: Buffer[] = []
  readonly #waiting: (() => void)[] = []
  #reading = 0
  #leaf: Buffer = Buffer.alloc(0)

  constructor(folder: string, options: ColdPagesOptions) {
    const { isCold, counters = () => process.resourceUsage(), nowMs = () => performance.now() } = options
    this.#path = join(folder, 'data.mdb')
    this.#isCold = isCold
    this.#counters = counters
    this.#nowMs = nowMs
    this.#seen = counters()
  }

  /** Whether pages are brought. */
  get isCold(): boolean {
    return this.#isCold
  }

  /** Resolves when the key can be read without the disk; undefined: as far as is known it can now. */
  ready(key: KeyBytes): Promise<void> | undefined {
    if (++this.#reads % LOOK_EVERY === 0) this.#look()
    if (!this.#isCold) return undefined
    const bytes = Buffer.from(key, 'latin1')
    const missing = this.#missingFor(bytes)
    return missing.length === 0 ? undefined : this.#readyAfter(missing, bytes)
  }

  /** The same for the entries of a range, up to so many or so many bytes of them. */
  readyRange(range: ScanRange, entriesMax: number, bytesMax: number): Promise<void> | undefined {
    if (++this.#reads % LOOK_EVERY === 0) this.#look()
    return this.#isCold ? this.#readyRange(range, entriesMax, bytesMax) : undefined
  }

  /** The file was written: its tree is another one. */
  forget(): void {
    this.#tree = undefined
    this.#branches.clear()
  }

  /** Nothing is read any more when it resolves. */
  async close(): Promise<void> {
    this.#isCold = false
    while (this.#reading > 0) await Promise.all([...this.#bringing.values()].map(({ brought }) => brought))
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
  }

  #look(): void {
    const nowMs = this.#nowMs()
    if (!this.#isCold && nowMs - this.#seenMs < LOOK_MS_MIN) return
    const { fsRead, majorPageFault } = this.#counters()
    const waited = majorPageFault - this.#seen.majorPageFault
    const reads = this.#reads - this.#readsSeen
    this.#quiet = fsRead === this.#seen.fsRead ? this.#quiet + reads : 0
    this.#seen = { fsRead, majorPageFault }
    this.#readsSeen = this.#reads
    this.#seenMs = nowMs
    this.#faults = this.#faults / 2 + waited
    if (this.#faults * LOOK_EVERY >= FAULTS_MIN * reads) {
      // Pages that were thought to be there are not.
      if (this.#isCold) this.#recent.age()
      else this.#quietMax = Math.min(2 * this.#quietMax, QUIET_READS_MAX)
      this.#isCold = true
      this.#faults = 0
      this.#quiet = 0
    } else if (this.#isCold && this.#quiet >= this.#quietMax) {
      this.#isCold = false
      this.#recent.clear()
      this.forget()
    }
  }

  async #readyAfter(missing: readonly Page[], key: Buffer): Promise<void> {
    for (let round = 0, pages = missing; pages.length > 0 && round < DEPTH_MAX; round++) {
      await this.#bring(pages)
      if (!this.#isCold) return
      pages = this.#missingFor(key)
    }
  }

  /** What has to be brought first; what is behind it is known then. */
  #missingFor(key: Buffer): readonly Page[] {
    const tree = this.#openTree()
    if (tree?.entries.root === undefined) return NONE
    let page = tree.entries.root
    let before: Page | undefined
    let behind: Page | undefined
    for (let depth = 1; depth < tree.entries.depth; depth++) {
      const branch = this.#branch(page)
      if (branch === undefined) return this.#isKnown(page) ? NONE : [page]
      const at = childOf(branch, key)
      page = branch[at]?.child ?? 0
      before = branch[at - 1]?.child
      behind = branch[at + 1]?.child
      if (!this.#isInFile(page)) return NONE
    }
    if (!this.#isKnown(page)) return [page]
    const nodes = this.#leafNodes(page)
    const at = nodes.findIndex((node) => node.key.compare(key) >= 0)
    const found = at === -1 ? undefined : nodes[at]
    if (found !== undefined && found.key.equals(key))
      return this.#unknownOf(overflowPagesOf(found, tree.pageBytes))
    // Of a key that is not there LMDB's entries on both sides are looked at (../file/sealed-entries.ts).
    const beside = found === undefined ? behind : at === 0 ? before : undefined
    return beside !== undefined && this.#isInFile(beside) && !this.#isKnown(beside) ? [beside] : NONE
  }

  async #readyRange({ from, to, reverse }: ScanRange, entriesMax: number, bytesMax: number): Promise<void> {
    const start = Buffer.from(reverse ? to : from, 'latin1')
    const end = Buffer.from(reverse ? from : to, 'latin1')
    await this.#readyAfter(this.#missingFor(start), start)
    let entries = 0
    let bytes = 0
    let atOnce = LEAVES_AT_ONCE_MIN
    let leaves: Page[] = []
    const take = async (): Promise<boolean> => {
      await this.#bring(leaves.filter((page) => !this.#isKnown(page)))
      const long: Page[] = []
      for (const page of this.#isCold ? leaves : [])
        for (const node of this.#leafNodes(page)) {
          if (node.key.compare(reverse ? end : start) < 0 || node.key.compare(reverse ? start : end) >= 0)
            continue
          if (entries >= entriesMax || bytes >= bytesMax) break
          entries++
          bytes += node.dataBytes
          long.push(...overflowPagesOf(node, this.#tree?.pageBytes ?? 0))
        }
      await this.#bring(this.#unknownOf(long))
      leaves = []
      atOnce = Math.min(atOnce * 2, LEAVES_AT_ONCE_MAX)
      return this.#isCold && entries < entriesMax && bytes < bytesMax
    }
    for await (const leaf of this.#leaves(start, end, reverse)) {
      leaves.push(leaf)
      if (leaves.length >= atOnce && !(await take())) return
    }
    // The entry behind the last one is looked at, too.
    if (await take()) await this.#readyAfter(this.#missingFor(end), end)
  }

  /** The leaves of a range in order. */
  async *#leaves(start: Buffer, end: Buffer, reverse: boolean): AsyncGenerator<Page> {
    const tree = this.#openTree()
    if (tree?.entries.root === undefined) return
    yield* this.#leavesBelow(tree.entries.root, 1, tree.entries.depth, start, end, reverse)
  }

  async *#leavesBelow(
    page: Page,
    depth: number,
    depthMax: number,
    start: Buffer,
    end: Buffer,
    reverse: boolean,
  ): AsyncGenerator<Page> {
    if (depth >= depthMax) {
      yield page
      return
    }
    if (!this.#isKnown(page)) await this.#bring([page])
    const branch = this.#branch(page)
    if (branch === undefined) return
    const last = childOf(branch, end)
    for (let at = childOf(branch, start); reverse ? at >= last : at <= last; at += reverse ? -1 : 1) {
      const child = branch[at]?.child ?? 0
      if (!this.#isCold || !this.#isInFile(child)) return
      yield* this.#leavesBelow(child, depth + 1, depthMax, start, end, reverse)
    }
  }

  #openTree(): ReturnType<typeof entriesTreeOf> {
    if (this.#tree !== undefined) return this.#tree
    try {
      this.#file ??= openSync(this.#path, 'r')
      this.#tree = entriesTreeOf(this.#file)
      this.#pageBytes = this.#tree?.pageBytes ?? this.#pageBytes
      return this.#tree
    } catch {
      return undefined
    }
  }

  #isInFile(page: Page): boolean {
    return page >= 2 && page < (this.#tree?.pages ?? 0)
  }

  #isKnown(page: Page): boolean {
    return this.#recent.has(page)
  }

  #unknownOf(pages: readonly Page[]): readonly Page[] {
    return pages.filter((page) => this.#isInFile(page) && !this.#isKnown(page))
  }

  /** Undefined if it is not known to be there, or is none. */
  #branch(page: Page): readonly Node[] | undefined {
    const kept = this.#branches.get(page)
    if (kept !== undefined) return kept
    if (!this.#isKnown(page) || this.#tree === undefined) return undefined
    const bytes = Buffer.allocUnsafe(this.#tree.pageBytes)
    if (!this.#readNow(page, bytes) || !isBranch(bytes)) return undefined
    const nodes = pageNodesOf(bytes)
    this.#branches.set(page, nodes)
    return nodes
  }

  /** Of a leaf that is known to be there; lent until the next one. */
  #leafNodes(page: Page): readonly Node[] {
    const { pageBytes } = this.#tree ?? { pageBytes: 0 }
    if (this.#leaf.length !== pageBytes) this.#leaf = Buffer.alloc(pageBytes)
    return pageBytes > 0 && this.#readNow(page, this.#leaf) && !isBranch(this.#leaf)
      ? pageNodesOf(this.#leaf)
      : []
  }

  #readNow(page: Page, into: Buffer): boolean {
    return (
      this.#file !== undefined &&
      readSync(this.#file, into, 0, into.length, page * into.length) === into.length
    )
  }

  async #bring(pages: readonly Page[]): Promise<void> {
    await Promise.all(runsOf(pages, this.#pageBytes).map((run) => this.#bringRun(run)))
  }

  #bringRun(run: PageRun): Promise<void> {
    const under = this.#bringing.get(run.first)
    if (under !== undefined && under.pages >= run.pages) return under.brought
    const reading = { pages: run.pages, brought: this.#readRun(run) }
    this.#bringing.set(run.first, reading)
    return reading.brought.finally(() => {
      if (this.#bringing.get(run.first) === reading) this.#bringing.delete(run.first)
    })
  }

  async #readRun({ first, pages }: PageRun): Promise<void> {
    if (this.#reading < READS_AT_ONCE) this.#reading++
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    const into = this.#slots.pop() ?? Buffer.allocUnsafeSlow(RUN_BYTES_MAX)
    try {
      const file = this.#file
      const pageBytes = this.#pageBytes
      // What cannot be read here is told by LMDB.
      if (file !== undefined && this.#isCold)
        await new Promise<void>((resolve) => {
          read(file, into, 0, pages * pageBytes, first * pageBytes, () => resolve())
        })
      for (let page = first; page < first + pages; page++) this.#recent.add(page)
    } finally {
      this.#slots.push(into)
      const next = this.#waiting.shift()
      if (next === undefined) this.#reading--
      else next()
    }
  }
}

const NONE: readonly Page[] = []

/** The child of a branch page in which the key is; the first has no key of its own. */
function childOf(nodes: readonly Node[], key: Buffer): number {
  let low = 0
  let high = nodes.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (nodes[middle]!.key.compare(key) <= 0) low = middle
    else high = middle - 1
  }
  return low
}
