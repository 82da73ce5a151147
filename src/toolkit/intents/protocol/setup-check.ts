// Whether a table can hold transaction records.
import type { TableLayout } from '../../unit/protocol.js'

/** A sentence's end, or nothing. */
export function layoutProblem({ key }: TableLayout): string | undefined {
  const { partition, sort } = key
  if (partition.name !== 'id' || partition.type !== 'S')
    return `its partition key is ${partition.name} (${partition.type}), not id (S)`
  if (sort?.name !== 'part' || sort.type !== 'S')
    return `its sort key is ${sort === undefined ? 'missing' : `${sort.name} (${sort.type})`}, not part (S)`
  return undefined
}
