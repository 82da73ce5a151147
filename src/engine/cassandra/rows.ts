// A row of CQL as a row of the engine.
import type { types } from 'cassandra-driver'
import type { KeyBytes } from '../../model/brand.js'
import { type Cells, type EngineRow, NO_VERSION, type VersionId } from '../engine.js'

export function rowOf(space: string, row: types.Row): EngineRow {
  const past = row['past'] as string | null
  const version = row['version'] as VersionId | null
  return {
    address: {
      space,
      partition: (row['partition'] as Buffer).toString('latin1') as KeyBytes,
      row: (row['row'] as Buffer).toString('latin1') as KeyBytes,
    },
    version: version ?? NO_VERSION,
    past: past === null || past === '' ? [] : (past.split(' ') as VersionId[]),
    cells: cellsOf(row),
  }
}

function cellsOf(row: types.Row): Cells {
  const head = row['head'] as Buffer | null
  const left = row['lft'] as Buffer | null
  const right = row['rgt'] as Buffer | null
  return { ...(head && { head }), ...(left && { left }), ...(right && { right }) }
}

/** What the row takes in memory, about. */
export const rowBytesOf = ({ address, cells: { head, left, right } }: EngineRow): number =>
  200 + address.row.length + (head?.length ?? 0) + (left?.length ?? 0) + (right?.length ?? 0)
