// Checks LMDB's file page by page, without LMDB: every page that is in use, once, in its place, and in order.
//
//   meta --> free pages
//        --> main tree --> trees by name --> branch pages --> leaf pages --> keys in order and in bounds, values
//
// A page with a problem is told with the keys that it may hold, and the walk goes on with the next. What can still be read of
// it is shown all the same: whoever repairs believes a record by its own checksum.
import { ENTRIES, STATE } from './lmdb-options.js'
import {
  BRANCH,
  LEAF,
  type Node,
  type PagedFile,
  type Tree,
  TREE_BYTES,
  dataInAnyCase,
  dataOf,
  headerProblem,
  isBranch,
  namedTree,
  nodeStarts,
  nodesStart,
  nodeVariants,
  pageNodesOf,
  nodesProblem,
  treeOf,
} from './lmdb-pages.js'

export interface FileTrees {
  readonly free: Buffer
  readonly main: Buffer
  readonly lastPage: number
  readonly transaction: number
}

/** Where a key may be: from `from` on, before `to`; open where that is undefined. */
export interface KeyBounds {
  readonly from: Buffer | undefined
  readonly to: Buffer | undefined
}

export interface FileCheck {
  /** `branches`: leaf pages are not read. They are most of the file. */
  readonly upTo: 'branches' | 'leaves'
  /** Told of every problem, with the keys of the entries that it concerns if it does not concern all. */
  readonly found: (problem: string, keys?: KeyBounds) => void
  /** Shown every record of a tree, in order as far as the file is; its bytes are lent. */
  readonly record?: (tree: string, key: Buffer, record: Buffer) => void
  /** Whether these are a record as it was written: then what is damaged around it does not matter. For repairs. */
  readonly isSound?: (key: Buffer, record: Buffer) => boolean
  /** Told how many entries a tree says that it has. */
  readonly entries?: (tree: string, entries: number) => void
  /**
   * If there are problems: shown what may have been records of the entries, on pages that nothing refers to any more, with
   * the transaction of their page.
   */
  readonly lost?: (key: Buffer, record: Buffer, transaction: number) => void
  /** Called now and then with the pages that were looked at. */
  readonly progress?: (pages: number) => void
}

const FREE_FLAGS = 0x08
const DEPTH_MAX = 32
const PROGRESS_PAGES = 25_000
/** The meta pages. */
const FIRST_PAGE = 2
/** Behind two for leaves there is one for the branch pages of each depth. */
const FIRST_BRANCH_BUFFER = 2

const UNUSED = 0
const IN_USE = 1
const FREE = 2

export function checkPages(file: PagedFile, trees: FileTrees, check: FileCheck): void {
  new Checker(file, trees, check).run()
}

interface Counted {
  branchPages: number
  leafPages: number
  overflowPages: number
  entries: number
}

/** The nodes of branch pages between whose keys those of a page are. */
interface Bounds {
  readonly from: Node | undefined
  readonly to: Node | undefined
}

interface WalkedTree {
  readonly name: string
  readonly counted: Counted
  readonly tree: Tree
  readonly readsLeaves: boolean
  readonly record: (node: Node, data: Buffer) => void
  /** A page of it could not be read: what is counted is not all. */
  isWhole: boolean
  last: Node | undefined
  /** In which of the first two buffers the next leaf is read: `last` is in the other. */
  leafBuffer: 0 | 1
}

class Checker {
  readonly #file: PagedFile
  readonly #trees: FileTrees
  readonly #check: FileCheck
  /** What each page is known to be. */
  readonly #pages: Uint8Array
  /** Pages are read into the same ones again and again. */
  readonly #buffers: Buffer[] = []
  readonly #scratch: Uint16Array
  #looked = 0
  #isWhole = true

  constructor(file: PagedFile, trees: FileTrees, check: FileCheck) {
    this.#file = file
    this.#trees = trees
    this.#check = check
    this.#pages = new Uint8Array(Math.max(file.pages, trees.lastPage + 1))
    this.#scratch = new Uint16Array(file.pageBytes)
  }

  run(): void {
    const { free, main } = this.#trees
    this.#walk('of free pages', treeOf(free), FREE_FLAGS, (node, data) => this.#free(node, data))
    const named = new Map<string, Tree>()
    this.#walk('of names', treeOf(main), 0, (node) => {
      const tree = namedTree(node)
      const name = node.key.toString('latin1').replace(/\0$/, '')
      if (tree === undefined || named.has(name)) this.#found(`the name of a tree in it is damaged`)
      else named.set(name, tree)
    })
    for (const [name, tree] of named) {
      if (name !== ENTRIES && name !== STATE) this.#found(`it has a tree of an unknown name`)
      this.#check.entries?.(name, tree.entries)
      this.#walk(name, tree, 0, (node, data) => this.#check.record?.(name, node.key, data))
    }
    if (this.#trees.main.length === TREE_BYTES && treeOf(main).root !== undefined && named.size < 2)
      this.#found('a tree of it is missing')
    if (!this.#isWhole) this.#salvageUnused()
  }

  #found(problem: string, keys?: KeyBounds): void {
    this.#isWhole = false
    this.#check.found(problem, keys)
  }

  #walk(name: string, tree: Tree, flags: number, record: WalkedTree['record']): void {
    if (tree.flags !== flags) this.#found(`the tree ${name} has unknown flags`)
    const counted = { branchPages: 0, leafPages: 0, overflowPages: 0, entries: 0 }
    const readsLeaves = name !== ENTRIES || this.#check.upTo === 'leaves'
    const walked: WalkedTree = {
      name,
      counted,
      tree,
      readsLeaves,
      record,
      isWhole: true,
      last: undefined,
      leafBuffer: 0,
    }
    if (tree.root !== undefined) this.#page(walked, tree.root, 1, { from: undefined, to: undefined })
    if (!walked.isWhole) return
    if (
      counted.branchPages !== tree.branchPages ||
      counted.leafPages !== tree.leafPages ||
      (readsLeaves && (counted.overflowPages !== tree.overflowPages || counted.entries !== tree.entries))
    )
      this.#found(`the tree ${name} has not as many pages or entries as it says`)
  }

  #page(walked: WalkedTree, page: number, depth: number, bounds: Bounds): void {
    const taken = this.#take(page, IN_USE)
    if (taken !== undefined) return this.#damaged(walked, page, taken, bounds)
    const { tree, counted } = walked
    if (depth === tree.depth && !walked.readsLeaves) {
      counted.leafPages++
      return
    }
    const bytes = this.#read(page, depth === tree.depth ? walked.leafBuffer : FIRST_BRANCH_BUFFER + depth)
    const kind = bytes.readUInt16LE(18)
    const header = headerProblem(bytes, page, this.#trees.transaction)
    const isOfKind = kind === (depth === tree.depth ? LEAF : BRANCH)
    if (header !== undefined || !isOfKind || depth > Math.min(tree.depth, DEPTH_MAX)) {
      this.#damaged(walked, page, header ?? 'it is not of its kind', bounds)
      if (kind === BRANCH && depth < tree.depth) return
      return this.#salvage(walked, bytes)
    }
    const nodes = pageNodesOf(bytes)
    const problem = nodesProblem(bytes, nodes, this.#scratch)
    if (problem !== undefined) this.#damaged(walked, page, problem, bounds)
    if (isBranch(bytes)) {
      counted.branchPages++
      this.#branch(walked, page, nodes, depth, bounds)
    } else {
      counted.leafPages++
      if (problem === undefined) this.#leaf(walked, page, bytes, nodes, bounds)
      else this.#salvage(walked, bytes)
    }
  }

  #read(page: number, buffer: number): Buffer {
    const into = (this.#buffers[buffer] ??= Buffer.allocUnsafe(this.#file.pageBytes))
    return this.#file.read(page, 1, into)
  }

  #branch(walked: WalkedTree, page: number, nodes: readonly Node[], depth: number, bounds: Bounds): void {
    if (nodes.length === 0) this.#damaged(walked, page, 'it has no children', bounds)
    let from = bounds.from
    let ordered = true
    for (let at = 0; at < nodes.length; at++) {
      const to = nodes[at + 1] ?? bounds.to
      if (areSwapped(walked, from, to)) ordered = false
      this.#page(walked, (nodes[at] as Node).child, depth + 1, { from, to })
      from = to
    }
    if (!ordered) this.#damaged(walked, page, 'its keys are not in order', bounds)
  }

  #leaf(walked: WalkedTree, page: number, bytes: Buffer, nodes: readonly Node[], bounds: Bounds): void {
    const [first] = nodes
    if (first === undefined) return this.#damaged(walked, page, 'it has no entries', bounds)
    let inOrder = bounds.from === undefined || compareKeys(walked, first, bounds.from) >= 0
    for (const node of nodes) {
      if (areSwapped(walked, walked.last, node)) inOrder = false
      walked.last = node
      this.#node(walked, bytes, node, bounds)
    }
    walked.leafBuffer = walked.leafBuffer === 0 ? 1 : 0
    if (areSwapped(walked, walked.last, bounds.to)) inOrder = false
    if (!inOrder) this.#damaged(walked, page, 'its keys are not in order', bounds)
  }

  #node(walked: WalkedTree, bytes: Buffer, node: Node, bounds: Bounds): void {
    const { counted } = walked
    counted.entries++
    if (walked.name === 'of names') {
      walked.record(node, node.data)
      return
    }
    const data = dataOf(this.#file, node)
    if ('problem' in data) {
      this.#entryDamaged(walked, node, data.problem, bounds)
      this.#salvageNode(walked, bytes, node.at, new Set())
      return
    }
    counted.overflowPages += data.pages
    for (let n = 0; n < data.pages; n++) {
      const taken = this.#take((data.first ?? 0) + n, IN_USE)
      if (taken !== undefined) {
        this.#entryDamaged(walked, node, `a page of it: ${taken}`, bounds)
        break
      }
    }
    walked.record(node, data.bytes)
  }

  /** Whatever of the page may be a record. */
  #salvage(walked: WalkedTree, bytes: Buffer): void {
    if (walked.name !== ENTRIES && walked.name !== STATE) return
    const { pointed, others } = nodeStarts(bytes)
    const keys = new Set<string>()
    let left = bytes.length - nodesStart(bytes)
    for (const at of pointed) left -= this.#salvageNode(walked, bytes, at, keys)
    // In the room before the nodes there may be older ones: they are looked at only if some are missing.
    if (left !== 0) for (const at of others) this.#salvageNode(walked, bytes, at, keys)
  }

  /** As it stands, or with one bit turned around outside of key and data, if it is a sound record then: its bytes. */
  #salvageNode(walked: WalkedTree, bytes: Buffer, at: number, keys: Set<string>): number {
    const { isSound } = this.#check
    if (isSound === undefined) return 0
    for (const variant of nodeVariants(bytes, at)) {
      const data = dataInAnyCase(this.#file, variant)
      // Of nothing the checksum is zero, as room that was never used is.
      if (data === undefined || variant.key.length === 0 || !isSound(variant.key, data)) continue
      const key = variant.key.toString('latin1')
      if (keys.has(key)) return 0
      keys.add(key)
      walked.record(variant, data)
      return variant.bytes
    }
    return 0
  }

  #damaged(walked: WalkedTree, page: number, problem: string, bounds: Bounds): void {
    walked.isWhole = false
    this.#found(`page ${page} is damaged: ${problem}`, walked.name === ENTRIES ? keysOf(bounds) : undefined)
  }

  #entryDamaged(walked: WalkedTree, node: Node, problem: string, bounds: Bounds): void {
    walked.isWhole = false
    const keys = walked.name === ENTRIES ? keysOf({ from: node, to: bounds.to }) : undefined
    this.#found(`an entry is damaged: ${problem}`, keys)
  }

  /** Each page has one use. */
  #take(page: number, use: typeof IN_USE | typeof FREE): string | undefined {
    if (!(page >= FIRST_PAGE && page <= this.#trees.lastPage)) return 'it is not in the file'
    if (use === IN_USE && page >= this.#file.pages) return 'the file ends before it'
    if (++this.#looked % PROGRESS_PAGES === 0) this.#check.progress?.(this.#looked)
    const before = this.#pages[page]
    this.#pages[page] = use
    return before === UNUSED
      ? undefined
      : before === FREE
        ? 'it is free and in use'
        : 'it is referred to twice'
  }

  /** A list of pages: a number of them, then each, or a negative number of them and the first. */
  #free(node: Node, data: Buffer): void {
    const ids = new BigInt64Array(data.length >> 3)
    for (let at = 0; at < ids.length; at++) ids[at] = data.readBigInt64LE(at * 8)
    const listed = Number(ids[0])
    // It may be shorter than the room that was made for it.
    if (node.key.length !== 8 || !(listed >= 0 && listed < ids.length))
      return this.#found('a list of its free pages is damaged')
    for (let at = 1; at <= listed; at++) {
      let id = Number(ids[at])
      let length = 1
      if (id < 0) {
        length = -id
        id = Number(ids[++at])
      }
      if (id === 0) continue
      if (!(id >= FIRST_PAGE && id + length - 1 <= this.#trees.lastPage))
        return this.#found('a list of its free pages is damaged')
      for (let n = 0; n < length; n++) {
        this.#take(id + n, FREE)
      }
    }
  }

  /**
   * Pages that nothing refers to may be those that a damaged page referred to. They may also be older: LMDB loses a free page
   * now and then.
   */
  #salvageUnused(): void {
    const { lost: record } = this.#check
    if (record === undefined) return
    const lost: WalkedTree = {
      name: ENTRIES,
      counted: { branchPages: 0, leafPages: 0, overflowPages: 0, entries: 0 },
      tree: treeOf(this.#trees.main),
      readsLeaves: true,
      record: (node, data) => record(node.key, data, transaction),
      isWhole: false,
      last: undefined,
      leafBuffer: 0,
    }
    let transaction = 0
    const pagesEnd = Math.min(this.#file.pages, this.#trees.lastPage + 1)
    for (let page = FIRST_PAGE; page < pagesEnd; page++) {
      if (this.#pages[page] !== UNUSED) continue
      const bytes = this.#file.read(page)
      if (Number(bytes.readBigUInt64LE(0)) !== page || bytes.readUInt16LE(18) !== LEAF) continue
      transaction = Number(bytes.readBigUInt64LE(8))
      this.#salvage(lost, bytes)
    }
  }
}

/** Copies: the pages that they are in are overwritten. */
const keysOf = ({ from, to }: Bounds): KeyBounds => ({
  from: from && Buffer.from(from.key),
  to: to && Buffer.from(to.key),
})

/** Whether these two, of which the first should be the lower one, are not in order. */
const areSwapped = (walked: WalkedTree, lower: Node | undefined, higher: Node | undefined): boolean =>
  lower !== undefined && higher !== undefined && compareKeys(walked, lower, higher) >= 0

/** The keys of free pages are numbers. */
function compareKeys({ tree }: WalkedTree, a: Node, b: Node): number {
  if (tree.flags !== FREE_FLAGS) return a.compare(b)
  if (a.key.length !== 8 || b.key.length !== 8) return 0
  return Number(a.key.readBigUInt64LE(0) - b.key.readBigUInt64LE(0))
}
