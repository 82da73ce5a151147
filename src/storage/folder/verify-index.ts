// Checks the file of an index without LMDB: its pages, and every record by its checksum.
import { EntryDamaged, checksumOfKeyBytes, unsealed } from '../../ordered-map/checksum.js'
import type { KeyBounds } from '../../ordered-map/lmdb/file/lmdb-check.js'
import { inspectIndexFile } from '../../ordered-map/lmdb/file/lmdb-file.js'
import { APPLIED, ENTRIES, decodeApplied } from '../../ordered-map/lmdb/file/lmdb-options.js'
import { keyBefore } from '../../ordered-map/lmdb/file/one-bit.js'
import type { KeyBytes } from '../../model/brand.js'
import type { TableShape } from '../../model/table.js'
import { capitalised, nameOfRecord } from '../items/damage.js'
import { metaBounds, metaName } from '../../line/spaces.js'
import type { MetaEntry } from '../contract/storage-node.js'

export interface IndexFileReport {
  /** A sentence each. */
  readonly findings: readonly string[]
  /** `older`: the records have no checksums yet, and are believed. */
  readonly records: 'sound' | 'damaged' | 'older'
}

export interface IndexFileOptions {
  readonly tables: (meta: readonly Required<MetaEntry>[]) => readonly TableShape[]
  readonly findingsMax: number
  readonly onProgress?: ((sentence: string) => void) | undefined
}

/** A problem of which the sentence is made when the tables are known. */
interface Finding {
  readonly problem: string
  readonly keys: KeyBounds | undefined
}

export function verifyIndexFile(path: string, options: IndexFileOptions): IndexFileReport {
  const { findingsMax, onProgress } = options
  const findings: Finding[] = []
  const damaged: EntryDamaged[] = []
  const meta: Required<MetaEntry>[] = []
  const isOlder = !hasChecksums(path)
  inspectIndexFile(path, {
    found: (problem, keys) => {
      if (findings.length < findingsMax) findings.push({ problem, keys })
    },
    record: (tree, key, record) => {
      const value = isOlder ? record : unsealed(checksumOfKeyBytes(key, 0, key.length), record)
      const text = latin1(key)
      if (value === undefined) {
        if (damaged.length < findingsMax)
          damaged.push(new EntryDamaged(keyBefore(text, record) ?? text, 'wrong checksum'))
      } else if (tree === ENTRIES && text >= META.from && text < META.to) {
        meta.push({ name: metaName(text), value: Buffer.from(value) })
      }
    },
    progress: (pages) => onProgress?.(`${pages} pages of ${path} were looked at`),
  })
  const isSound = findings.length + damaged.length === 0
  const tables = isSound ? [] : options.tables(meta)
  return {
    records: isOlder ? 'older' : isSound ? 'sound' : 'damaged',
    findings: [
      ...findings.map((finding) => sentenceOf(path, finding, tables)),
      ...damaged.map(({ key, why }) => `${capitalised(nameOfRecord(key, tables))} is damaged (${why}).`),
    ],
  }
}

const META = metaBounds('')

/** Whether the records of this index have checksums. If it cannot be told, they should. */
export function hasChecksums(path: string): boolean {
  let answer = true
  inspectIndexFile(path, {
    upTo: 'branches',
    found: () => undefined,
    record: (tree, key, record) => {
      if (tree !== ENTRIES && latin1(key) === APPLIED) answer = decodeApplied(record)?.checksums ?? true
    },
  })
  return answer
}

function sentenceOf(path: string, { problem, keys }: Finding, tables: readonly TableShape[]): string {
  const what = `The index file in ${path}: ${problem}.`
  if (keys === undefined) return what
  const from = keys.from === undefined ? 'the first record' : nameOfRecord(latin1(keys.from), tables)
  const to = keys.to === undefined ? 'the end' : nameOfRecord(latin1(keys.to), tables)
  return `${what} It concerns records from ${from} up to ${to}.`
}

const latin1 = (bytes: Buffer): KeyBytes => bytes.toString('latin1') as KeyBytes
