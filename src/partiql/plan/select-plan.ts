// How a SELECT reads: one item, some ranges of partitions, or everything.
//
//   WHERE --> every alternative names one partition?  no --> scan, with WHERE as its filter
//                          | yes
//                          v
//   alternatives, at most 50, that do not overlap --> one read by key for each, with what is left as its filter
//
// An OR is taken apart only where it names a key attribute; one of other attributes is a filter. A condition on the sort key that
// no range can express (NOT, <>) stays a filter, too, and where it stands in one of several alternatives all of them become
// filters of whole partitions.
import type { ConditionNode } from '../../expression/parse/tree.js'
import type { BoundCondition } from '../../expression/parse/types.js'
import { compareValues, sameValue } from '../../model/compare.js'
import { validationError } from '../../model/errors.js'
import { indexRange, itemRange, type KeyRange, type SortCondition } from '../../model/key-range.js'
import { limits } from '../../model/limits.js'
import type { KeySchema } from '../../model/table.js'
import type { AttributeValue } from '../../model/value.js'
import type { OrderBy } from '../meaning/meaning.js'
import { isOfType, keyMismatch, KeyReader, type KeyTest } from './key-conditions.js'

/** A read of one partition, or of a part of it. */
export interface KeyRead {
  readonly partition: AttributeValue
  /** All of them hold for what is read. */
  readonly sort: readonly SortCondition[]
  readonly filter: BoundCondition | undefined
}

/** The keys that a read is about: all that meet its conditions on the sort key. */
export function rangeOfRead({ partition, sort }: KeyRead, { key, of }: SelectKey): KeyRange {
  const one = of === 'table' ? itemRange : indexRange
  if (sort.length === 0) return one(key, partition)
  return sort.map((condition) => one(key, partition, condition)).reduce(intersection)
}

export type SelectPlan =
  | { readonly type: 'scan'; readonly filter: BoundCondition | undefined }
  | { readonly type: 'reads'; readonly reads: readonly KeyRead[]; readonly isReverse: boolean }

export interface SelectKey {
  readonly key: KeySchema
  /** Keys of an index are followed by those of the items, so that their ranges are others. */
  readonly of: 'table' | 'index'
}

export function planSelect(
  where: BoundCondition | undefined,
  order: readonly OrderBy[],
  target: SelectKey,
): SelectPlan {
  const { key } = target
  for (const { name } of order)
    if (name !== key.partition.name && name !== key.sort?.name)
      throw validationError(`Attribute ${name} in ORDER BY clause must be part of the primary key`)
  const plan = where && keyedPlan(where, target)
  if (plan === undefined) {
    if (order.length > 0) throw validationError(NO_PARTITION_TO_ORDER)
    return { type: 'scan', filter: where }
  }
  return ordered(plan, order, target)
}

const NO_PARTITION_TO_ORDER =
  'Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause.'
const NO_ORDER_OF_PARTITIONS =
  'Must have hash key in ORDER BY clause when more than one hash key condition specified in WHERE clause.'
const OVERLAP = 'Overlapping conditions with range keys are not supported in where clause'

/** One alternative of a WHERE. */
interface Branch {
  readonly tests: readonly KeyTest[]
  readonly filters: readonly ConditionNode[]
}

function keyedPlan(where: BoundCondition, target: SelectKey): readonly KeyRead[] | undefined {
  const reader = new KeyReader(where, target.key)
  if (!pinsPartition(where.tree, reader, target.key)) return undefined
  const branches = branchesOf(where.tree, reader)
  for (const { tests } of branches)
    for (const { part, condition } of tests) if (!isOfType(part, condition.values)) throw keyMismatch(part)
  const reads: KeyRead[] = []
  for (const branch of branches) {
    const read = readOf(branch, where, target)
    if (read === undefined) return undefined
    reads.push(read)
  }
  const { sort } = target.key
  const isNegated = (filter: ConditionNode): boolean =>
    sort !== undefined && isNegatedSort(filter, reader, target.key)
  if (reads.length > 1 && branches.some(({ filters }) => filters.some(isNegated)))
    return wholePartitions(reads, where)
  if (reads.length > 1) refuseOverlap(reads, target)
  return reads
}

/** Whether every alternative has an equality on the partition key. */
function pinsPartition(node: ConditionNode, reader: KeyReader, key: KeySchema): boolean {
  if (node.type === 'and') return node.terms.some((term) => pinsPartition(term, reader, key))
  if (node.type === 'or') return node.terms.every((term) => pinsPartition(term, reader, key))
  const test = reader.testOf(node)
  if (test !== undefined) return test.part === key.partition && test.condition.op === '='
  return reader.membersOf(node)?.part === key.partition
}

function branchesOf(node: ConditionNode, reader: KeyReader): readonly Branch[] {
  const test = reader.testOf(node)
  if (test !== undefined) return [{ tests: [test], filters: [] }]
  const members = reader.membersOf(node)
  if (members !== undefined) {
    const { part, values } = members
    return bounded(
      values.map((value) => ({ tests: [{ part, condition: { op: '=', values: [value] } }], filters: [] })),
    )
  }
  if (node.type === 'and') {
    return node.terms.reduce<readonly Branch[]>(
      (branches, term) => crossed(branches, branchesOf(term, reader)),
      [{ tests: [], filters: [] }],
    )
  }
  if (node.type === 'or' && reader.namesKey(node))
    return bounded(node.terms.flatMap((term) => branchesOf(term, reader)))
  return [{ tests: [], filters: [node] }]
}

const crossed = (left: readonly Branch[], right: readonly Branch[]): readonly Branch[] =>
  left.length * right.length > limits.statementReadsMax
    ? tooManyReads()
    : left.flatMap((one) =>
        right.map((two) => ({
          tests: [...one.tests, ...two.tests],
          filters: [...one.filters, ...two.filters],
        })),
      )

const bounded = (branches: readonly Branch[]): readonly Branch[] =>
  branches.length > limits.statementReadsMax ? tooManyReads() : branches

function tooManyReads(): never {
  throw validationError('Too many decomposed read operations for a given query.')
}

/** Undefined where an alternative asks for two different partitions: none has what it wants. */
function readOf({ tests, filters }: Branch, where: BoundCondition, { key }: SelectKey): KeyRead | undefined {
  let partition: AttributeValue | undefined
  const sort: SortCondition[] = []
  const further: ConditionNode[] = []
  for (const { part, condition } of tests) {
    if (part !== key.partition) {
      sort.push(condition)
    } else if (condition.op !== '=') {
      further.push(conditionNode(part.name, condition, where))
    } else {
      const [value] = condition.values
      if (partition !== undefined && !sameValue(partition, value)) return undefined
      partition = value
    }
  }
  if (partition === undefined) return undefined
  const all = [...further, ...filters]
  const tree: ConditionNode | undefined = all.length > 1 ? { type: 'and', terms: all } : all[0]
  return {
    partition,
    sort,
    filter: tree && { tree, bindings: where.bindings },
  }
}

/** A condition on the partition key beside an equality: `pk = 'a' AND pk > 'A'`. */
function conditionNode(name: string, { op, values }: SortCondition, where: BoundCondition): ConditionNode {
  const operands = values.map((value) => ({ type: 'value' as const, name: nameOfValue(value, where) }))
  const path = { type: 'path' as const, steps: [name] }
  if (op === 'BETWEEN') return { type: 'between', operand: path, lower: operands[0]!, upper: operands[1]! }
  if (op === 'begins_with') return { type: 'function', name: op, args: [path, operands[0]!] }
  return { type: 'compare', operator: op, left: path, right: operands[0]! }
}

/** The value came from the bindings, so it is there. */
function nameOfValue(value: AttributeValue, { bindings }: BoundCondition): string {
  for (const [name, each] of bindings.values) if (each === value) return name
  throw new Error('a value of a statement that none of its bindings has')
}

function intersection(a: KeyRange, b: KeyRange): KeyRange {
  const from = a.from > b.from ? a.from : b.from
  const ends = [a.to, b.to].filter((to) => to !== undefined).toSorted()
  const [to] = ends
  if (to === undefined) return { from }
  return { from, to: to < from ? from : to }
}

/** NOT, <> and the like of the sort key: DynamoDB does not look whether such alternatives overlap. */
function isNegatedSort(node: ConditionNode, reader: KeyReader, key: KeySchema): boolean {
  if (!reader.namesKey(node, key.sort)) return false
  return node.type === 'not' || (node.type === 'compare' && node.operator === '<>')
}

function wholePartitions(reads: readonly KeyRead[], where: BoundCondition): readonly KeyRead[] {
  const whole: KeyRead[] = []
  for (const { partition } of reads)
    if (!whole.some((read) => sameValue(read.partition, partition)))
      whole.push({ partition, sort: [], filter: where })
  return whole
}

function refuseOverlap(reads: readonly KeyRead[], target: SelectKey): void {
  const ranges = reads.map((read) => rangeOfRead(read, target))
  for (const [at, one] of reads.entries())
    for (let other = at + 1; other < reads.length; other++)
      if (sameValue(one.partition, reads[other]!.partition) && overlap(ranges[at]!, ranges[other]!))
        throw validationError(OVERLAP)
}

function overlap(a: KeyRange, b: KeyRange): boolean {
  const { from, to } = intersection(a, b)
  return to === undefined || from < to
}

function ordered(reads: readonly KeyRead[], order: readonly OrderBy[], target: SelectKey): SelectPlan {
  const { key } = target
  if (order.length === 0) return { type: 'reads', reads, isReverse: false }
  const byPartition = order.find(({ name }) => name === key.partition.name)
  const bySort = order.find(({ name }) => name === key.sort?.name)
  const several = reads.some(({ partition }) => !sameValue(partition, reads[0]!.partition))
  if (several && byPartition === undefined) throw validationError(NO_ORDER_OF_PARTITIONS)
  // DynamoDB reads a partition backwards where only the partition key is ordered by.
  const isReverse = bySort?.isDescending ?? true
  const direction = byPartition?.isDescending === true ? -1 : 1
  const sorted = reads.toSorted((a, b) => {
    const partitions = compareValues(a.partition, b.partition) ?? 0
    if (partitions !== 0) return partitions * direction
    return (rangeOfRead(a, target).from < rangeOfRead(b, target).from ? -1 : 1) * (isReverse ? -1 : 1)
  })
  return { type: 'reads', reads: sorted, isReverse }
}

/** The key of the only item that a plan reads; undefined where there may be several, or where a filter may leave it out. */
export function onlyKey(
  plan: SelectPlan,
  key: KeySchema,
): Readonly<Record<string, AttributeValue>> | undefined {
  const [read, ...more] = plan.type === 'reads' ? plan.reads : []
  if (read === undefined || more.length > 0 || read.filter !== undefined) return undefined
  if (key.sort === undefined) return { [key.partition.name]: read.partition }
  const [sort, ...further] = read.sort
  if (
    sort?.op !== '=' ||
    further.some(({ op, values }) => op !== '=' || !sameValue(values[0], sort.values[0]))
  )
    return undefined
  return { [key.partition.name]: read.partition, [key.sort.name]: sort.values[0] }
}
