// A look at LMDB's file before it is mapped. A file that ends before its data does would end the process with SIGBUS at
// the first touch of a missing page, and a page that is not what LMDB takes it for can end it in other ways, or hide records
// that are there; it must be a sentence instead.
//
// The file begins with two meta pages, of which the one with the higher transaction number counts:
//
//   24 magic (u32)  28 version (u32)  48 page size (u32)  48, 96 trees: free pages, data  144 last page (u64)
//   152 transaction (u64)
import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { type FileCheck, type FileTrees, checkPages } from './lmdb-check.js'
import { ENTRIES } from './lmdb-options.js'
import { namedTree, pageNodesOf, type PagedFile, type Tree, treeOf } from './lmdb-pages.js'

const MAGIC = 0xbeefc0de
const VERSION = 2
const META = 0x08
const META_BYTES = 160
const PAGE_BYTES_MIN = 512
const PAGE_BYTES_MAX = 32_768
/** Of larger files a start looks at the branch pages only, for the time that it takes; `seriatim verify` looks at all. */
const START_BYTES_MAX = 64 * 1024 * 1024
const AHEAD_BYTES = 1024 * 1024

export class IndexDamaged extends Error {
  override readonly name = 'IndexDamaged'
}

/** Throws if the file in this folder cannot be mapped safely. A folder without a file is a new index. */
export function checkIndexFile(folder: string, bytesMax = START_BYTES_MAX): void {
  const path = join(folder, 'data.mdb')
  withFile(path, (file, size) => {
    const found = (why: string): never => {
      throw damagedFile(path, why)
    }
    const opened = openedFile(file, size)
    if (typeof opened === 'string') return found(opened)
    const { paged, trees } = opened
    const neededBytes = (trees.lastPage + 1) * paged.pageBytes
    // The last pages may be free ones that were never written.
    const isShort = size < neededBytes
    const why = isShort ? `it has ${size} bytes and should have ${neededBytes}` : undefined
    const upTo = isShort || size <= bytesMax ? 'leaves' : 'branches'
    // Pages are looked at in the order of their keys; that is quick once the system has read them in theirs.
    if (upTo === 'leaves') readAhead(file, size)
    checkPages(paged, trees, { upTo, found: (problem) => found(why ?? problem) })
  })
}

/** Looks at the whole file, unless told otherwise. False if there is none, or it cannot be read at all. */
export function inspectIndexFile(
  folder: string,
  check: Partial<FileCheck> & Pick<FileCheck, 'found'>,
): boolean {
  const path = join(folder, 'data.mdb')
  let isRead = false
  withFile(path, (file, size) => {
    const opened = openedFile(file, size)
    if (typeof opened === 'string') return check.found(opened)
    isRead = true
    checkPages(opened.paged, opened.trees, { upTo: 'leaves', ...check })
  })
  return isRead
}

export const damagedFile = (path: string, why: string): IndexDamaged =>
  new IndexDamaged(
    `The index file ${path} is damaged: ${why}. Run seriatim verify on the data folder, with --repair to mend what can be ` +
      'mended, or restore the folder from a copy; the journal alone does not hold what was written before its first segment.',
  )

/** Whether a start reads all of the file, so that the system has its pages. */
export function isReadAtStart(folder: string): boolean {
  let isRead = true
  withFile(join(folder, 'data.mdb'), (_, size) => {
    isRead = size <= START_BYTES_MAX
  })
  return isRead
}

/** Where the entries of an open file are, as of its last commit. Undefined: there are none, or it is damaged. */
export function entriesTreeOf(
  file: number,
): { readonly pageBytes: number; readonly pages: number; readonly entries: Tree } | undefined {
  const opened = openedFile(file, fstatSync(file).size)
  if (typeof opened === 'string') return undefined
  const { pageBytes, pages, read } = opened.paged
  const { root } = treeOf(opened.trees.main)
  if (root === undefined || root >= pages) return undefined
  const node = pageNodesOf(read(root)).find(
    ({ key }) => key.toString('latin1').replace(/\0$/, '') === ENTRIES,
  )
  const entries = node && namedTree(node)
  return entries && { pageBytes, pages, entries }
}

function withFile(path: string, look: (file: number, size: number) => void): void {
  if (!existsSync(path)) return
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    if (size > 0) look(file, size)
  } finally {
    closeSync(file)
  }
}

function readAhead(file: number, size: number): void {
  const bytes = Buffer.allocUnsafe(AHEAD_BYTES)
  for (let at = 0; at < size; at += AHEAD_BYTES) readSync(file, bytes, 0, AHEAD_BYTES, at)
}

/** Or what is wrong with it. */
function openedFile(
  file: number,
  size: number,
): { readonly paged: PagedFile; readonly trees: FileTrees } | string {
  const first = readMeta(file, 0)
  if (first === undefined) return NO_INDEX
  const { pageBytes } = first
  const second = readMeta(file, pageBytes)
  if (second === undefined || second.pageBytes !== pageBytes) return NO_INDEX
  const isSecond = second.trees.transaction > first.trees.transaction
  const { trees } = isSecond ? second : first
  // They are written in turns.
  const apart = Math.abs(second.trees.transaction - first.trees.transaction)
  if (apart > 1 || (apart === 1 && trees.transaction % 2 !== (isSecond ? 1 : 0)))
    return 'the numbers of its last two transactions do not belong together'
  const read = (page: number, pages = 1, into: Buffer = Buffer.allocUnsafe(pages * pageBytes)): Buffer =>
    into.fill(0, readSync(file, into, 0, into.length, page * pageBytes))
  return { paged: { read, pageBytes, pages: Math.floor(size / pageBytes) }, trees }
}

const NO_INDEX = 'it does not begin as an index does'

function readMeta(
  file: number,
  position: number,
): { readonly pageBytes: number; readonly trees: FileTrees } | undefined {
  const bytes = Buffer.alloc(META_BYTES)
  if (readSync(file, bytes, 0, META_BYTES, position) < META_BYTES) return undefined
  const pageBytes = bytes.readUInt32LE(48)
  if (bytes.readUInt32LE(24) !== MAGIC || bytes.readUInt32LE(28) !== VERSION) return undefined
  if (bytes.readUInt16LE(18) !== META) return undefined
  if (pageBytes < PAGE_BYTES_MIN || pageBytes > PAGE_BYTES_MAX || (pageBytes & (pageBytes - 1)) !== 0)
    return undefined
  const lastPage = Number(bytes.readBigUInt64LE(144))
  if (lastPage > PAGES_MAX) return undefined
  return {
    pageBytes,
    trees: {
      free: bytes.subarray(48, 96),
      main: bytes.subarray(96, 144),
      lastPage,
      transaction: Number(bytes.readBigUInt64LE(152)),
    },
  }
}

/** More than any disk has; what is kept of each is a byte. */
const PAGES_MAX = 2 ** 32
