// SearchVectors: the items of a table whose vectors are nearest to a given one.
//
//   request --> strict shape --> search vector, condition --> a snapshot of the table --> pages of items, in turns
//                                                                                         |--> distance --> the best TopK
//                                                                  the same snapshot <---- their keys, and up to 16 MB of items
//
// The search is exact, and of one moment: it reads a snapshot, as a unit of work does, so that it sees every write that was
// answered before, and a transaction whole or not at all. It looks at every item of the table; nothing is kept for it. One search
// at a time does, keys in turn: many would do their part in the same turn of the event loop, for which all others would wait.
//
// May import: reads, tables and all below them.
import { checkExpressionParameters, openExpressions, projector } from '../../expression/expression.js'
import { parseRecord } from '../../line/record.js'
import type { Timestamp } from '../../model/brand.js'
import { validationError } from '../../model/errors.js'
import { itemKey } from '../../model/key-bytes.js'
import { keyAfter, segmentRange } from '../../model/key-range.js'
import { limits } from '../../model/limits.js'
import type { TableShape, VectorShape } from '../../model/table.js'
import type { AttributeValue, Item } from '../../model/value.js'
import { coordinate, indexedVector } from '../../rules/item/vectors.js'
import { returnConsumedCapacityShape } from '../request/capacity.js'
import type { Operation, RouterContext } from '../request/context.js'
import { furtherMembers } from '../request/reply.js'
import { TurnBudget } from '../request/turns.js'
import { checkShape } from '../shapes/check-shape.js'
import { indexNameShape, tableNameShape, type RequestShape, type StructShape } from '../shapes/shape.js'
import { tableNameOf } from '../shapes/table-name.js'
import { phaseOf } from '../tables/catalog/creation-pace.js'
import type { TableCatalog } from '../tables/catalog/catalog.js'
import { tableOperation } from '../tables/table-operation.js'
import { refusedSnapshot } from '../units/unit.js'
import { distanceTo } from './distance.js'
import { NearestItems, type NearItem } from './nearest-items.js'
import { searchedItem } from './searched-item.js'
import { searchConditionOf, type SearchCondition } from './search-condition.js'
import { checkStrictly } from './strict-shape.js'

interface SearchInput {
  readonly TableName: string
  readonly IndexName: string
  readonly SearchVector: readonly unknown[]
  readonly TopK: number
  readonly SearchConditionExpression?: string
  readonly ProjectionExpression?: string
  readonly ExpressionAttributeNames?: unknown
  readonly ExpressionAttributeValues?: unknown
  readonly ReturnConsumedCapacity?: string
}

const any: RequestShape = { kind: 'any' }

/** What the service checks once it has read the request. */
const modelShape: StructShape = {
  kind: 'struct',
  members: {
    TableName: tableNameShape,
    IndexName: indexNameShape,
    SearchVector: { kind: 'list', member: any, required: true },
    TopK: { kind: 'integer', required: true, valueMin: 1 },
    SearchConditionExpression: { kind: 'string' },
    ProjectionExpression: { kind: 'string' },
    ExpressionAttributeNames: { kind: 'map', member: { kind: 'string' } },
    ExpressionAttributeValues: { kind: 'map', member: any },
    ReturnConsumedCapacity: returnConsumedCapacityShape,
  },
}

const search = tableOperation<SearchInput>({
  name: 'SearchVectors',
  shape: modelShape,

  async run(catalog, input, scope, context) {
    const tableName = tableNameOf(input.TableName)
    scope.authorise(tableName)
    const resultsMax = Math.trunc(input.TopK)
    if (resultsMax > limits.searchResultsMax) {
      throw validationError(
        `Provided TopK value '${resultsMax}' is out of valid range. The value must be between 1 and ${limits.searchResultsMax} inclusive`,
      )
    }
    checkExpressionParameters({ ...input }, { expressions: EXPRESSIONS, others: [] })
    const expressions = openExpressions(input)
    const { SearchConditionExpression: conditionText, ProjectionExpression: projectionText } = input
    const bound =
      conditionText === undefined
        ? undefined
        : expressions.condition(conditionText, 'SearchConditionExpression')
    const projection = projectionText === undefined ? undefined : expressions.projection(projectionText)
    expressions.finish()
    const { shape } = catalog.table(tableName)
    const index = searchableIndex(catalog, shape, input.IndexName)
    const wanted = searchVector(input.SearchVector, index)
    const condition = searchConditionOf(bound, index)
    const project = projection && projector(projection)
    return context.searches.run(scope.principal.id, async () => {
      const { snapshots } = context.coordinator
      const at = await snapshots.open()
      try {
        const { best, looked } = await nearest(context, at, shape, index, wanted, condition, resultsMax)
        const results = await searchResults(context, at, shape, best, (item) =>
          searchedItem(shape, index, item, project),
        )
        const further = furtherMembers({
          ...(input.ReturnConsumedCapacity !== undefined &&
            input.ReturnConsumedCapacity !== 'NONE' && {
              ConsumedCapacity: { VectorSearchRequestBytes: searchedBytes(index, looked) },
            }),
        })
        return Buffer.from(`{"SearchResults":[${results.join(',')}]${further}}`)
      } finally {
        snapshots.forget(at)
      }
    })
  },
})

/** The strict reading comes before every other check, and looks at what is null as such. */
export const searchVectors: Operation = {
  name: 'SearchVectors',
  shape: { kind: 'struct', members: {} },
  run(context, input, scope) {
    checkStrictly(input)
    checkShape(modelShape, input)
    return search.run(context, input, scope)
  },
}

const EXPRESSIONS = ['ProjectionExpression', 'SearchConditionExpression']

function searchableIndex(
  catalog: TableCatalog,
  { name, vectors = [] }: TableShape,
  indexName: string,
): VectorShape {
  const record = catalog.record(name).vectorIndexes?.find((each) => each.name === indexName)
  const shape = vectors.find((each) => each.name === indexName)
  const phase = record && phaseOf(record, catalog.moment)
  if (shape === undefined || phase === 'allocating')
    throw validationError(`The table does not have the specified index: ${indexName}`)
  if (phase === 'backfilling') throw validationError(`Cannot search backfilling vector index: ${indexName}`)
  return shape
}

function searchVector(values: readonly unknown[], { dimensions }: VectorShape): Float32Array {
  const coordinates = values.map((value) =>
    typeof value === 'object' && value !== null ? coordinate(value as AttributeValue) : undefined,
  )
  if (coordinates.some((each) => each === undefined)) {
    throw validationError(
      'Search vector contains invalid values. All values in the search vector must be a 32-bit floating-point number attribute',
    )
  }
  if (coordinates.length !== dimensions) {
    throw validationError(
      `Input search vector dimension ${coordinates.length} does not match vector index dimension ${dimensions}`,
    )
  }
  return Float32Array.from(coordinates as number[])
}

const PAGE = { entriesMax: 1000, bytesMax: 64 * 1024 }

/** Looks at every item of the table as of that moment. Other requests have their turn between two pages. */
async function nearest(
  { coordinator: { snapshots }, nodes, runtime }: RouterContext,
  at: Timestamp,
  table: TableShape,
  index: VectorShape,
  wanted: Float32Array,
  condition: SearchCondition | undefined,
  resultsMax: number,
): Promise<{ readonly best: readonly NearItem[]; readonly looked: number }> {
  const distance = distanceTo(wanted, index.distance)
  const best = new NearestItems(resultsMax, index.distance)
  let looked = 0
  const look = (item: Item): void => {
    const vector = indexedVector(index, item)
    if (vector === undefined || condition?.(item) === false) return
    looked += 1
    best.offer(itemKey(table.key, item), distance(vector))
  }
  for (const node of nodes) {
    let range: ReturnType<typeof segmentRange> | undefined = segmentRange(0, 1)
    while (range !== undefined) {
      const request = { space: table.space, ...range, reverse: false, ...PAGE, at, table }
      const outcome = await snapshots.range(node, request)
      if (outcome.outcome !== 'read') throw refusedSnapshot(outcome)
      const { entries, more } = outcome.page
      for (const { record } of entries) look(parseRecord(record))
      const last = entries.at(-1)
      range = more && last !== undefined ? { from: keyAfter(last.key) } : undefined
      if (range !== undefined) await new Promise<void>((resolve) => runtime.defer(resolve))
    }
  }
  return { best: best.inOrder(), looked }
}

/** The results as JSON text, of as many bytes as an answer may have. Others have their turn between large items. */
async function searchResults(
  { coordinator: { snapshots }, runtime }: RouterContext,
  at: Timestamp,
  { space }: TableShape,
  best: readonly NearItem[],
  shownOf: (item: Item) => Item,
): Promise<readonly string[]> {
  const turns = new TurnBudget(runtime)
  const results: string[] = []
  let bytes = 0
  for (const { key, score } of best) {
    const outcome = await snapshots.read({ at, items: [{ space, key }] })
    if (outcome.outcome !== 'read') throw refusedSnapshot(outcome)
    const record = outcome.records[0]
    if (record === undefined) throw new Error('an item of a snapshot is gone')
    const result = JSON.stringify({ Item: shownOf(parseRecord(record)), Score: shownScore(score) })
    bytes += Buffer.byteLength(result)
    if (bytes > limits.batchGetBytesMax) throw tooLarge(results.length)
    results.push(result)
    if (turns.isDue(RESULT_COST * record.json.length)) await turns.next()
  }
  return results
}

/** One beyond the range of 32 bits, of which JSON has no number, is written as the protocol of AWS writes it: "Infinity". */
const shownScore = (score: number): number | string => (Number.isFinite(score) ? score : String(score))

/** The numbers of a vector are worked out anew for an answer: that takes longer than to copy their digits. */
const RESULT_COST = 4

const tooLarge = (fitting: number): Error =>
  validationError(
    `The results of the search exceed ${limits.batchGetBytesMax} bytes. Use a TopK of at most ${fitting}, or a ProjectionExpression`,
  )

/** Of the vectors that were compared; the service does not say what it counts, and says other numbers each time. */
const searchedBytes = ({ dimensions }: VectorShape, looked: number): number =>
  Math.max(1024, 4 * dimensions * looked)
