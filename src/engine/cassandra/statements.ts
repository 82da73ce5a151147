// The CQL of the adapter. One table for each space; the names of spaces need no quotes.
//
//   partition   row    version   past              head   lft   rgt
//   blob        blob   text      text, by blanks   blob   blob  blob
import { createHash } from 'node:crypto'
import type { CellName, PlainWrite, RowChange, RowPut, SpaceKind } from '../engine.js'
import { cellNames } from '../engine.js'
import type { KeyBytes } from '../../model/brand.js'

export interface CqlStatement {
  readonly query: string
  readonly params: unknown[]
}

/** `left` and `right` are words of CQL's future. */
const COLUMNS: Readonly<Record<CellName, string>> = { head: 'head', left: 'lft', right: 'rgt' }
export const ROW_COLUMNS = 'partition, row, version, past, head, lft, rgt'

/** Plain rows are put at most once and removed at most once, so that two fixed times order them, and no clock does. */
const PUT_TIME = 1
const REMOVAL_TIME = 2

export const blob = (bytes: KeyBytes): Buffer => Buffer.from(bytes, 'latin1')

/**
 * The id is given, and follows from the names: two hosts that are told to create the table at the same moment create the same one.
 * Without it each would choose an id, and the hosts would disagree for good.
 */
export const tableCreation = (keyspace: string, space: string, kind: SpaceKind): string =>
  `CREATE TABLE IF NOT EXISTS ${keyspace}.${space} (partition blob, row blob, version text, past text, head blob, lft blob, ` +
  `rgt blob, PRIMARY KEY (partition, row)) WITH id = '${tableId(keyspace, space)}'` +
  (kind === 'passing' ? ` AND gc_grace_seconds = ${PASSING_GRACE_SECONDS}` : '')

/**
 * A read passes over the marks of all rows that were removed, and fails at 100,000 of them, which is what a ledger or an index has in
 * the ten days that Cassandra keeps them. As long as a host's hints: one that was away for longer may bring rows back.
 */
const PASSING_GRACE_SECONDS = 3 * 3600

function tableId(keyspace: string, space: string): string {
  const hex = createHash('sha256').update(`${keyspace}.${space}`).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** A change as part of a conditional batch. */
export function changeStatement(table: string, { address, seen, next }: RowChange): CqlStatement {
  const where = `WHERE partition = ? AND row = ?`
  const place = [blob(address.partition), blob(address.row)]
  const [condition, compared] = conditionOf(seen)
  if (next === 'removed')
    return { query: `DELETE FROM ${table} ${where}${condition}`, params: [...place, ...compared] }
  if (next === undefined) {
    // Compared alone. CQL has no condition without a change, so the row is given the version that it has, or the absent row is removed.
    return seen === 'absent' || seen === 'any'
      ? { query: `DELETE FROM ${table} ${where}${condition}`, params: [...place, ...compared] }
      : {
          query: `UPDATE ${table} SET version = ? ${where}${condition}`,
          params: [seen, ...place, ...compared],
        }
  }
  const { columns, values } = assignments(next)
  return {
    query: `UPDATE ${table} SET ${columns.map((name) => `${name} = ?`).join(', ')} ${where}${condition}`,
    params: [...values, ...place, ...compared],
  }
}

/** A condition that every row meets: a step of rows that are not looked at has to be ordered among the others all the same. */
export const ALWAYS = { text: ' IF version != ?', value: '-' }

function conditionOf(seen: RowChange['seen']): [string, unknown[]] {
  if (seen === 'any') return ['', []]
  if (seen === 'absent') return [' IF version = null', []]
  return [' IF version = ?', [seen]]
}

function assignments({ version, past, cells }: RowPut): {
  readonly columns: string[]
  readonly values: unknown[]
} {
  const columns = ['version', 'past']
  const values: unknown[] = [version, past.join(' ')]
  for (const name of cellNames) {
    const cell = cells[name]
    if (cell === undefined) continue
    columns.push(COLUMNS[name])
    values.push(cell === null ? null : asBuffer(cell))
  }
  return { columns, values }
}

export function plainStatement(table: string, { address, head }: PlainWrite): CqlStatement {
  const place = [blob(address.partition), blob(address.row)]
  return head === undefined
    ? {
        query: `DELETE FROM ${table} USING TIMESTAMP ${REMOVAL_TIME} WHERE partition = ? AND row = ?`,
        params: place,
      }
    : {
        query: `INSERT INTO ${table} (partition, row, head) VALUES (?, ?, ?) USING TIMESTAMP ${PUT_TIME}`,
        params: [...place, asBuffer(head)],
      }
}

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
