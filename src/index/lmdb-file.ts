// A look at LMDB's file before it is mapped. A file that ends before its data does would end the process with SIGBUS at
// the first touch of a missing page; it must be a sentence instead.
//
// The file begins with two meta pages, of which the one with the higher transaction number counts:
//
//   24 magic (u32)  28 version (u32)  48 page size (u32)  48, 96 trees: free pages, data  144 last page (u64)
//   152 transaction (u64)
import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { holdsAllPages } from './lmdb-pages.js'

const MAGIC = 0xbeefc0de
const META_BYTES = 160

export class IndexDamaged extends Error {
  override readonly name = 'IndexDamaged'
}

/** Throws if the file in this folder cannot be mapped safely. A folder without a file is a new index. */
export function checkIndexFile(folder: string): void {
  const path = join(folder, 'data.mdb')
  if (!existsSync(path)) return
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    if (size === 0) return
    const first = readMeta(file, 0)
    const second = first && readMeta(file, first.pageBytes)
    if (first === undefined || second === undefined)
      throw damagedFile(path, 'it does not begin as an index does')
    const meta = second.transaction > first.transaction ? second : first
    const neededBytes = (meta.lastPage + 1) * meta.pageBytes
    // The last pages may be free ones that were never written.
    const { pageBytes } = meta
    const read = (page: number): Buffer => {
      const bytes = Buffer.alloc(pageBytes)
      readSync(file, bytes, 0, pageBytes, page * pageBytes)
      return bytes
    }
    const paged = { read, pages: Math.floor(size / pageBytes) }
    if (size < neededBytes && !holdsAllPages(paged, meta.trees))
      throw damagedFile(path, `it has ${size} bytes and should have ${neededBytes}`)
  } finally {
    closeSync(file)
  }
}

interface Meta {
  readonly pageBytes: number
  readonly lastPage: number
  readonly transaction: number
  readonly trees: readonly Buffer[]
}

function readMeta(file: number, position: number): Meta | undefined {
  const bytes = Buffer.alloc(META_BYTES)
  if (readSync(file, bytes, 0, META_BYTES, position) < META_BYTES || bytes.readUInt32LE(24) !== MAGIC)
    return undefined
  return {
    pageBytes: bytes.readUInt32LE(48),
    lastPage: Number(bytes.readBigUInt64LE(144)),
    transaction: Number(bytes.readBigUInt64LE(152)),
    trees: [bytes.subarray(48, 96), bytes.subarray(96, 144)],
  }
}

export const damagedFile = (path: string, why: string): IndexDamaged =>
  new IndexDamaged(
    `The index file ${path} is damaged: ${why}. Restore the data folder from a copy; the journal alone does not hold ` +
      'what was written before its first segment.',
  )
