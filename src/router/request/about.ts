// Who writes, and by which statements: what the block of a ledger table says of it. Other tables are told nothing.
import type { Principal } from './access.js'
import type { About, AboutStatement } from '../../commit-log/commit-record.js'
import type { TableShape } from '../../model/table.js'

export interface WriteAbout {
  readonly principal: Principal
  /** The unit of work, as its client names it. */
  readonly unit?: string | undefined
  readonly statements?: readonly AboutStatement[] | undefined
}

/** A member of a write or an action, if its table is a ledger and there is anything to say. */
export function aboutOf(table: TableShape, of: WriteAbout): { readonly about?: string } {
  if (table.logged?.keys !== true) return NOTHING
  const { principal, unit, statements } = of
  if (principal.id === '' && unit === undefined && statements === undefined) return NOTHING
  const about: About = {
    ...(principal.id !== '' && { by: principal.id }),
    ...(unit !== undefined && { unit }),
    ...(statements !== undefined && { statements }),
  }
  return { about: JSON.stringify(about) }
}

const NOTHING = {}
