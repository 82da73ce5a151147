// SELECT: what it reads, by its plan, and one page of it.
import {
  comparisonsOf,
  conditionAttributes,
  evaluateCondition,
  projectionPaths,
  refuseNestedKeys,
} from '../../expression/expression.js'
import { valueAt } from '../../expression/parse/paths.js'
import type { BoundCondition } from '../../expression/parse/types.js'
import { validationError } from '../../model/errors.js'
import { segmentRange, type KeyRange } from '../../model/key-range.js'
import { limits } from '../../model/limits.js'
import { setAttribute, type Item, type MutableItem } from '../../model/value.js'
import {
  planSelect,
  rangeOfRead,
  refuseScan,
  type BoundSelect,
  type KeyRead,
  type SelectKey,
  type SelectPlan,
} from '../../partiql/partiql.js'
import { compareValues } from '../../model/compare.js'
import { readUnits, type Consumed } from '../request/capacity.js'
import type { RangeContext, Table } from '../request/context.js'
import { checkKeyValue } from '../request/keys.js'
import type { ItemJson } from '../request/reply.js'
import { storageNodesOf } from '../reads/query.js'
import { type RequestedProjection, selectionOf, type Selection } from '../reads/read-expressions.js'
import { readRows } from '../reads/read-page.js'
import {
  isVectorIndex,
  notByVector,
  readTarget,
  type ReadTarget,
  rangeAfter,
  startPosition,
} from '../reads/read-target.js'
import { javaSetOrder } from '../shapes/java-order.js'
import type { TableStatement } from './statement-table.js'

const NO_PATHS: RequestedProjection['paths'] = []

/** A SELECT that can be read. */
export interface BoundRead {
  readonly target: ReadTarget
  readonly plan: SelectPlan
  readonly selection: Selection
  readonly projection: RequestedProjection | undefined
}

export function bindRead(
  context: Pick<RangeContext, 'catalog' | 'statementScans'>,
  { statement, table, bound }: TableStatement<BoundSelect>,
  consistency: 'strong' | 'eventual',
): BoundRead {
  const target = targetOf(context, table, statement.source.index, consistency)
  const { key, indexes } = table.shape
  const paths = bound.projection === undefined ? NO_PATHS : projectionPaths(bound.projection)
  if (bound.where !== undefined) refuseNestedKeys(conditionAttributes(bound.where), key, indexes)
  if (paths.length > 0) refuseNestedKeys(paths, key, indexes)
  const plan = planSelect(bound.where, bound.order, keyOf(target))
  refuseScan(statement, plan, keyOf(target), context.statementScans)
  checkKeys(plan, target)
  refuseUnprojected(plan, target)
  const projection = bound.projection && { paths, project: columnsOf(bound) }
  return { target, plan, selection: selectionOf({}, target, projection), projection }
}

const keyOf = ({ key, index }: ReadTarget): SelectKey => ({
  key,
  of: index === undefined ? 'table' : 'index',
})

/** The columns of the answer, by their names: `m.x` is `x`. */
function columnsOf({ projection, columns }: BoundSelect): (item: Item) => Item {
  const { tree, bindings } = projection!
  return (item) => {
    const row: MutableItem = {}
    for (const [at, path] of tree.paths.entries()) {
      const value = valueAt(path, item, bindings.names)
      if (value !== undefined) setAttribute(row, columns[at]!, value)
    }
    return row
  }
}

function targetOf(
  context: Pick<RangeContext, 'catalog'>,
  table: Table,
  index: string | undefined,
  consistency: 'strong' | 'eventual',
): ReadTarget {
  if (index === undefined) return readTarget(context, table.name, {})
  const shape = table.shape.indexes.find(({ name }) => name === index)
  if (shape === undefined && isVectorIndex(table, index)) throw notByVector('Scan')
  // Query names the index here.
  if (shape === undefined) throw validationError('The table does not have the specified index')
  if (shape.kind === 'global' && consistency === 'strong')
    throw validationError('Strongly consistent read is not supported on Global Secondary Indexes')
  return readTarget(context, table.name, { IndexName: index })
}

function checkKeys(plan: SelectPlan, { key }: ReadTarget): void {
  if (plan.type === 'scan') return
  for (const { partition, sort } of plan.reads) {
    checkKeyValue(key.partition.name, 'partition', partition)
    for (const { values } of sort) for (const value of values) checkKeyValue(key.sort!.name, 'sort', value)
  }
}

/** A read by the key of an index refuses a filter on what the index does not hold, unless one alternative needs none of it. */
function refuseUnprojected(plan: SelectPlan, { index, heldNames }: ReadTarget): void {
  if (plan.type === 'scan' || index === undefined || heldNames === undefined) return
  const reads = plan.reads.toSorted((a, b) => compareValues(a.partition, b.partition) ?? 0)
  let missing: readonly string[] = []
  for (const { filter } of reads) {
    const names = filter === undefined ? [] : conditionAttributes(filter).map(([name]) => String(name))
    missing = javaSetOrder(names.filter((name) => !heldNames.has(name)))
    if (missing.length === 0) return
  }
  if (missing.length > 0)
    throw validationError(
      `One or more parameter values were invalid: Secondary index ${index.name} does not project one or more filter attributes: [${missing.join(', ')}]`,
    )
}

/** Where a page begins: at a read of the plan, behind an item. */
export interface ReadPosition {
  readonly read: number
  readonly after: Item
}

export interface StatementPage {
  readonly items: readonly ItemJson[]
  readonly consumed: Consumed
  /** Undefined: there is nothing more. */
  readonly next: ReadPosition | undefined
}

export interface PageRequest {
  readonly start: ReadPosition | undefined
  readonly entriesMax: number | undefined
  readonly consistent: boolean
}

/** Rows of all reads together, in their order, until there are enough of them, looked at or as bytes. */
export async function readStatementPage(
  context: RangeContext,
  read: BoundRead,
  { start, entriesMax, consistent }: PageRequest,
): Promise<StatementPage> {
  const steps = stepsOf(context, read)
  const items: ItemJson[] = []
  let units = 0
  let walkedUnits = 0
  let entriesLeft = entriesMax ?? Number.MAX_SAFE_INTEGER
  let bytesLeft = limits.pageBytesMax
  for (let at = start?.read ?? 0; at < steps.length; at++) {
    const step = steps[at]!
    const after = start !== undefined && at === start.read ? start.after : undefined
    const reverse = read.plan.type === 'reads' && read.plan.isReverse
    const { filter } = step
    const rows = await readRows({
      target: read.target,
      nodes: step.nodes,
      range:
        after === undefined ? step.range : rangeAfter(step.range, startPosition(read.target, after), reverse),
      reverse,
      entriesMax: entriesLeft,
      bytesMax: bytesLeft,
      filter: filter && ((item) => evaluateCondition(filter, item)),
      filterComparisons: filter && comparisonsOf(filter),
      selection: read.selection,
      consistent,
      capacityDetail: undefined,
    })
    items.push(...rows.items)
    units += readUnits(rows.heldBytes, consistent)
    walkedUnits += rows.walkedUnits
    entriesLeft -= rows.scanned
    bytesLeft -= rows.heldBytes
    if (rows.position !== undefined)
      return {
        items,
        consumed: consumedOf(read.target, units, walkedUnits),
        next: { read: at, after: rows.position },
      }
  }
  return { items, consumed: consumedOf(read.target, units, walkedUnits), next: undefined }
}

interface Step {
  readonly nodes: RangeContext['nodes']
  readonly range: KeyRange
  readonly filter: BoundCondition | undefined
}

function stepsOf(context: RangeContext, { plan, target }: BoundRead): readonly Step[] {
  if (plan.type === 'scan') return [{ nodes: context.nodes, range: segmentRange(0, 1), filter: plan.filter }]
  return plan.reads.map((read: KeyRead) => {
    const range = rangeOfRead(read, keyOf(target))
    return { nodes: storageNodesOf(context, target, range.from), range, filter: read.filter }
  })
}

/** Unlike Query, charges for every item behind a local index that was looked at. */
function consumedOf({ index }: ReadTarget, units: number, walkedUnits: number): Consumed {
  if (index === undefined) return { table: units }
  return { table: walkedUnits, [index.kind]: new Map([[index.name, units]]) }
}
