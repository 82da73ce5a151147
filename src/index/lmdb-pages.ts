// Which pages of LMDB's file are in use. A file may end before the last page that its meta page names, if the missing
// pages are free: a transaction that takes pages at the end and gives them back never writes them.
//
//   meta --> root of each tree --> branch pages --> leaf pages --> roots of named trees, overflow pages
//
//   page:   18 flags (u16)  20 end of the pointers (u16)  24 pointers (u16 each, from the end of this header)
//   branch: the child is the first 6 bytes of a node
//   node:   4 flags (u16)  6 bytes of the key (u16)  8 key, data
//   tree:   24 overflow pages (u64)  40 root (u64)
//   data of a node on overflow pages: 0 first page (u64)  16 pages (u64)

export interface PagedFile {
  readonly read: (page: number) => Buffer
  /** Whole pages that the file has. */
  readonly pages: number
}

const HEADER_BYTES = 24
const NODE_BYTES = 8
const TREE_BYTES = 48
const BRANCH = 0x01
const LEAF = 0x02
const ON_OVERFLOW_PAGES = 0x01
const TREE = 0x02
const NO_ROOT = 0xffff_ffff_ffff_ffffn

/** True if everything that these trees (as the meta page has them) refer to is in the file. Reads every branch page. */
export function holdsAllPages(paged: PagedFile, trees: readonly Buffer[]): boolean {
  return trees.every((tree) => holdsTree(paged, tree, 'named'))
}

/** `leaves`: only those of the main tree hold named ones. */
function holdsTree(paged: PagedFile, tree: Buffer, leaves: 'named' | 'data'): boolean {
  const root = tree.readBigUInt64LE(40)
  if (root === NO_ROOT) return true
  const looksAtLeaves = leaves === 'named' || tree.readBigUInt64LE(24) > 0n
  const left = [Number(root)]
  let seen = 0
  for (let page = left.pop(); page !== undefined; page = left.pop()) {
    // A damaged file may refer to itself in a circle.
    if (page >= paged.pages || ++seen > paged.pages) return false
    const bytes = paged.read(page)
    const flags = bytes.readUInt16LE(18)
    const nodes = nodesOf(bytes)
    if (nodes === undefined || (flags & (BRANCH | LEAF)) === 0) return false
    if ((flags & BRANCH) !== 0) {
      const children = nodes.map((at) => bytes.readUIntLE(at, 6))
      if (children.some((child) => child >= paged.pages)) return false
      if (looksAtLeaves || !isLeaf(paged, children[0])) left.push(...children)
    } else if (!nodes.every((at) => holdsNode(paged, bytes, at))) {
      return false
    }
  }
  return true
}

/** All children of a branch page are of one kind. */
const isLeaf = (paged: PagedFile, page: number | undefined): boolean =>
  page !== undefined && (paged.read(page).readUInt16LE(18) & LEAF) !== 0

function holdsNode(paged: PagedFile, bytes: Buffer, at: number): boolean {
  const flags = bytes.readUInt16LE(at + 4)
  const data = at + NODE_BYTES + bytes.readUInt16LE(at + 6)
  if ((flags & TREE) !== 0)
    return (
      data + TREE_BYTES <= bytes.length && holdsTree(paged, bytes.subarray(data, data + TREE_BYTES), 'data')
    )
  if ((flags & ON_OVERFLOW_PAGES) === 0) return true
  return (
    data + 24 <= bytes.length &&
    bytes.readBigUInt64LE(data) + bytes.readBigUInt64LE(data + 16) <= BigInt(paged.pages)
  )
}

/** Undefined if they are not where nodes can be. */
function nodesOf(bytes: Buffer): readonly number[] | undefined {
  const pointersEnd = HEADER_BYTES + bytes.readUInt16LE(20)
  if (pointersEnd > bytes.length) return undefined
  const nodes: number[] = []
  for (let at = HEADER_BYTES; at < pointersEnd; at += 2) nodes.push(bytes.readUInt16LE(at) + HEADER_BYTES)
  return nodes.every((at) => at + NODE_BYTES <= bytes.length) ? nodes : undefined
}
