// What of each item a Query or Scan answers: Select, and what it may be combined with.
import { RewordedError, validationError } from '../../model/errors.js'
import type { Item } from '../../model/value.js'
import type { Input } from '../request/context.js'
import type { RequestedProjection } from './read-expressions.js'
import type { ReadTarget } from './read-target.js'
import type { StringShape } from '../shapes/shape.js'

export const selectShape: StringShape = {
  kind: 'string',
  values: ['SPECIFIC_ATTRIBUTES', 'COUNT', 'ALL_ATTRIBUTES', 'ALL_PROJECTED_ATTRIBUTES'],
}

export type Selection =
  | { readonly kind: 'count' }
  /** All that the table or the index holds of an item. */
  | { readonly kind: 'held' }
  /** The whole item, where a local index holds only a part of it. */
  | { readonly kind: 'fetched' }
  | { readonly kind: 'specific'; readonly project: (item: Item) => Item; readonly from: 'held' | 'fetched' }

/** Refuses combinations of parameters that are wrong whatever the table is. */
export function checkSelect(input: Input, operation: 'Query' | 'Scan'): void {
  const wrong = wrongSelect(input)
  if (wrong === undefined) return
  const counted = `1 validation error detected: ${wrong}`
  throw operation === 'Query' ? new RewordedError(counted, wrong) : new RewordedError(wrong, wrong, counted)
}

function wrongSelect(input: Input): string | undefined {
  const select = (input['Select'] ?? undefined) as string | undefined
  const projecting = ['ProjectionExpression', 'AttributesToGet'].find((name) => input[name] != null)
  if (select === 'ALL_PROJECTED_ATTRIBUTES' && input['IndexName'] == null)
    return 'ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName'
  if (select === 'SPECIFIC_ATTRIBUTES' && projecting === undefined)
    return 'Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES'
  if (projecting === undefined || select === undefined || select === 'SPECIFIC_ATTRIBUTES') return undefined
  const wanted = select === 'COUNT' ? 'only the Count' : select
  return `Cannot specify the ${projecting} when choosing to get ${wanted}`
}

export function selectionOf(
  input: Input,
  target: ReadTarget,
  projection: RequestedProjection | undefined,
): Selection {
  const { index, heldNames } = target
  if (projection !== undefined) {
    const names = new Set(projection.paths.map(([name]) => String(name)))
    const missing = heldNames === undefined ? [] : [...names].filter((name) => !heldNames.has(name))
    if (missing.length > 0 && index?.kind === 'global') {
      throw validationError(
        `One or more parameter values were invalid: Global secondary index ${index.name} does not project [${missing.join(', ')}]`,
      )
    }
    return {
      kind: 'specific',
      project: projection.project,
      from: missing.length === 0 ? 'held' : 'fetched',
    }
  }
  if (input['Select'] === 'COUNT') return { kind: 'count' }
  if (input['Select'] !== 'ALL_ATTRIBUTES' || heldNames === undefined) return { kind: 'held' }
  if (index?.kind === 'global') {
    throw validationError(
      'One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global secondary index ' +
        `${index.name} because its projection type is not ALL`,
    )
  }
  return { kind: 'fetched' }
}
