// The pages of LMDB's file, read without LMDB: what it would do with a damaged one is not known beforehand.
//
//   page:   0 its own number (u64)  8 transaction (u64)  18 flags (u16)  20 end of the pointers (u16)  22 start of the nodes (u16)
//           24 pointers (u16 each), room, nodes up to the end of the page, one right behind another
//   node:   4 flags (u16)  6 bytes of the key (u16)  8 key, data
//           of a branch page: 0 the child (u48).  of a leaf page: 0 bytes of the data (u32)
//   data on overflow pages:  0 first page (u64)  16 pages (u64);  such a page: 20 pages (u32)  24 data
//   tree:   4 flags (u16)  6 depth (u16)  8 branch pages  16 leaf pages  24 overflow pages  32 entries  40 root (u64 each)
//
// Pointers and the start of the nodes count from the end of the header of 24 bytes. Numbers are little-endian.

export const PAGE_HEADER_BYTES = 24
export const TREE_BYTES = 48
const NODE_HEADER_BYTES = 8
const OVERFLOW_BYTES = 24
export const BRANCH = 0x01
export const LEAF = 0x02
const OVERFLOW = 0x04
const ON_OVERFLOW_PAGES = 0x01
const TREE = 0x02
const NO_ROOT = 0xffff_ffff_ffff_ffffn

export interface PagedFile {
  /** The bytes from that page on, its own or as many pages; zeros where the file ends. `into`: a buffer of that length. */
  readonly read: (page: number, pages?: number, into?: Buffer) => Buffer
  readonly pageBytes: number
  /** Whole pages that the file has. */
  readonly pages: number
}

export interface Tree {
  readonly flags: number
  readonly depth: number
  readonly branchPages: number
  readonly leafPages: number
  readonly overflowPages: number
  readonly entries: number
  /** Undefined: it is empty. */
  readonly root: number | undefined
}

/** A node in its page. Files have millions: nothing is made of its parts before it is asked for. */
export class Node {
  readonly at: number
  readonly bytes: number
  readonly #page: Buffer
  readonly #keyEnd: number
  readonly #dataEnd: number

  constructor(page: Buffer, at: number, keyEnd: number, dataEnd: number) {
    this.at = at
    this.bytes = paddedBytes(dataEnd - at)
    this.#page = page
    this.#keyEnd = keyEnd
    this.#dataEnd = dataEnd
  }

  get key(): Buffer {
    return this.#page.subarray(this.at + NODE_HEADER_BYTES, this.#keyEnd)
  }

  get flags(): number {
    return this.#page.readUInt16LE(this.at + 4)
  }

  /** Of a branch page. */
  get child(): number {
    return this.#page.readUIntLE(this.at, 6)
  }

  /** Of a leaf page: the data, or where it is. */
  get data(): Buffer {
    return this.#page.subarray(this.#keyEnd, this.#dataEnd)
  }

  get dataBytes(): number {
    return this.#page.readUInt32LE(this.at)
  }

  /** The order of the keys, as bytes. */
  compare(other: Node): number {
    const start = this.at + NODE_HEADER_BYTES
    const otherStart = other.at + NODE_HEADER_BYTES
    const length = this.#keyEnd - start
    const otherLength = other.#keyEnd - otherStart
    const both = Math.min(length, otherLength)
    for (let n = 0; n < both; n++) {
      const difference = this.#page[start + n]! - other.#page[otherStart + n]!
      if (difference !== 0) return difference
    }
    return length - otherLength
  }
}

export function treeOf(bytes: Buffer): Tree {
  const root = bytes.readBigUInt64LE(40)
  return {
    flags: bytes.readUInt16LE(4),
    depth: bytes.readUInt16LE(6),
    branchPages: Number(bytes.readBigUInt64LE(8)),
    leafPages: Number(bytes.readBigUInt64LE(16)),
    overflowPages: Number(bytes.readBigUInt64LE(24)),
    entries: Number(bytes.readBigUInt64LE(32)),
    root: root === NO_ROOT ? undefined : Number(root),
  }
}

/** What is wrong with the header of a page of a tree; undefined if nothing is. */
export function headerProblem(bytes: Buffer, page: number, transaction: number): string | undefined {
  if (Number(bytes.readBigUInt64LE(0)) !== page) return 'it has the number of another page'
  if (Number(bytes.readBigUInt64LE(8)) > transaction) return 'it is of a later transaction than the last one'
  const flags = bytes.readUInt16LE(18)
  if (flags !== BRANCH && flags !== LEAF) return 'it is of no known kind'
  const lower = bytes.readUInt16LE(20)
  const upper = bytes.readUInt16LE(22)
  if (lower % 2 !== 0 || lower > upper || upper > bytes.length - PAGE_HEADER_BYTES)
    return 'its room is out of bounds'
  return undefined
}

export const isBranch = (bytes: Buffer): boolean => bytes.readUInt16LE(18) === BRANCH

/** The nodes in the order of their pointers, without those that are out of bounds. */
export function pageNodesOf(bytes: Buffer): readonly Node[] {
  const pointersEnd = Math.min(PAGE_HEADER_BYTES + bytes.readUInt16LE(20), bytes.length - 1)
  const nodes: Node[] = []
  for (let at = PAGE_HEADER_BYTES; at < pointersEnd; at += 2) {
    const node = nodeAt(bytes, bytes.readUInt16LE(at) + PAGE_HEADER_BYTES)
    if (node !== undefined) nodes.push(node)
  }
  return nodes
}

export const nodesStart = (bytes: Buffer): number => PAGE_HEADER_BYTES + bytes.readUInt16LE(22)

/** Wherever a node may begin: where pointers into the part of the nodes say so; and elsewhere, and right behind other nodes. */
export function nodeStarts(bytes: Buffer): {
  readonly pointed: ReadonlySet<number>
  readonly others: ReadonlySet<number>
} {
  const pointed = new Set<number>()
  const others = new Set<number>()
  const pointersEnd = Math.min(PAGE_HEADER_BYTES + bytes.readUInt16LE(20), bytes.length - 1)
  for (let at = PAGE_HEADER_BYTES; at < pointersEnd; at += 2) {
    const start = bytes.readUInt16LE(at) + PAGE_HEADER_BYTES
    if (start >= nodesStart(bytes)) pointed.add(start)
    else others.add(start)
  }
  // Grows while it is walked over, up to the end of the page.
  for (const at of others.add(nodesStart(bytes))) {
    const node = nodeAt(bytes, at)
    if (node !== undefined && at + node.bytes < bytes.length) others.add(at + node.bytes)
  }
  return { pointed, others }
}

/**
 * What is wrong with the nodes: they must fill their part of the page, one right behind another. `scratch` is as long as the
 * page.
 */
export function nodesProblem(
  bytes: Buffer,
  nodes: readonly Node[],
  scratch: Uint16Array,
): string | undefined {
  if (nodes.length !== bytes.readUInt16LE(20) / 2) return 'a node of it is out of bounds'
  // By where they begin: how many bytes each has.
  const bytesFrom = scratch.fill(0)
  for (const node of nodes) bytesFrom[node.at] = node.bytes
  let at = nodesStart(bytes)
  let count = 0
  for (; bytesFrom[at]; count++) at += bytesFrom[at]!
  if (count !== nodes.length) return 'its nodes do not stand one behind another'
  return at === bytes.length ? undefined : 'its nodes do not fill it'
}

/** The bytes of a node in its page, apart from key and data that stand in it: where one flipped bit is not found by a checksum. */
export function nodeVariants(bytes: Buffer, at: number): readonly Node[] {
  const variants: Node[] = []
  const node = nodeAt(bytes, at)
  if (node !== undefined) variants.push(node)
  const isElsewhere = node !== undefined && node.data.length === OVERFLOW_BYTES && node.flags !== 0
  const places = isElsewhere
    ? [at, at + NODE_HEADER_BYTES + node.key.length, at + NODE_HEADER_BYTES + node.key.length + 16]
    : [at]
  for (const place of places) {
    for (let bit = 0; bit < 64 && place + 8 <= bytes.length; bit++) {
      const flipped = Buffer.from(bytes)
      flipped[place + (bit >> 3)]! ^= 1 << (bit & 7)
      const variant = nodeAt(flipped, at)
      if (variant !== undefined) variants.push(variant)
    }
  }
  return variants
}

/** The data of a node, whatever the pages that it is on say of themselves. */
export function dataInAnyCase(file: PagedFile, node: Node): Buffer | undefined {
  if (node.flags === 0) return node.data
  if (node.flags !== ON_OVERFLOW_PAGES) return undefined
  const first = Number(node.data.readBigUInt64LE(0))
  const pages = Math.ceil((node.dataBytes + PAGE_HEADER_BYTES) / file.pageBytes)
  if (!(first >= 2 && first + pages <= file.pages)) return undefined
  return file.read(first, pages).subarray(PAGE_HEADER_BYTES, PAGE_HEADER_BYTES + node.dataBytes)
}

function nodeAt(bytes: Buffer, at: number): Node | undefined {
  if (at % 2 !== 0 || at + NODE_HEADER_BYTES > bytes.length) return undefined
  const branch = isBranch(bytes)
  const flags = bytes.readUInt16LE(at + 4)
  const keyEnd = at + NODE_HEADER_BYTES + bytes.readUInt16LE(at + 6)
  const dataBytes = bytes.readUInt32LE(at)
  const dataEnd = keyEnd + (branch ? 0 : (flags & ON_OVERFLOW_PAGES) === 0 ? dataBytes : OVERFLOW_BYTES)
  if (dataEnd > bytes.length) return undefined
  return new Node(bytes, at, keyEnd, dataEnd)
}

/** Nodes begin at even places. */
const paddedBytes = (bytes: number): number => bytes + (bytes % 2)

/** The tree whose root a node of the main tree names, if it does. */
export const namedTree = ({ flags, data }: Node): Tree | undefined =>
  flags === TREE && data.length === TREE_BYTES ? treeOf(data) : undefined

/** More than any value has. */
const OVERFLOW_PAGES_MAX = 4096

/** The pages on which the data of a node of a leaf page is; none if it stands in its page. */
export function overflowPagesOf(node: Node, pageBytes: number): readonly number[] {
  if (node.flags !== ON_OVERFLOW_PAGES || pageBytes === 0) return []
  const first = Number(node.data.readBigUInt64LE(0))
  const pages = Math.ceil((node.dataBytes + PAGE_HEADER_BYTES) / pageBytes)
  return pages > OVERFLOW_PAGES_MAX ? [] : Array.from({ length: pages }, (_, at) => first + at)
}

export type NodeData =
  { readonly bytes: Buffer; readonly first?: number; readonly pages: number } | { readonly problem: string }

/** The data of a node of a leaf page, wherever it is. */
export function dataOf(file: PagedFile, node: Node): NodeData {
  if (node.flags === 0) return { bytes: node.data, pages: 0 }
  if (node.flags !== ON_OVERFLOW_PAGES) return { problem: 'it has unknown flags' }
  const first = Number(node.data.readBigUInt64LE(0))
  const pages = Math.ceil((node.dataBytes + PAGE_HEADER_BYTES) / file.pageBytes)
  if (!(first >= 2 && first + pages <= file.pages)) return { problem: 'its pages are not in the file' }
  const bytes = file.read(first, pages)
  if (
    Number(node.data.readBigUInt64LE(16)) !== pages ||
    bytes.readUInt32LE(20) !== pages ||
    bytes.readUInt16LE(18) !== OVERFLOW ||
    Number(bytes.readBigUInt64LE(0)) !== first
  )
    return { problem: 'its pages are not those of a value' }
  return { bytes: bytes.subarray(PAGE_HEADER_BYTES, PAGE_HEADER_BYTES + node.dataBytes), first, pages }
}
