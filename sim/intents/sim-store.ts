// DynamoDB in memory, as far as units of work use it: the very expressions that are sent are evaluated as the store
// evaluates them. One item is atomic, and nothing else is, but for TransactWriteItems where the world has it.
import { applyUpdate, evaluateCondition, openExpressions } from '../../src/expression/expression.js'
import { compareValues } from '../../src/model/compare.js'
import { itemBytes, attribute, type Item } from '../../src/model/value.js'
import { limits } from '../../src/model/limits.js'
import type { KeySchema } from '../../src/model/table.js'

/** Requests in this world carry no binaries, so that the SDK's form of an item is the wire's. */
export type Input = Readonly<Record<string, unknown>>

/** Thrown as the SDK throws it. */
export class Refused extends Error {
  readonly Item: Item | undefined
  readonly CancellationReasons: readonly object[] | undefined

  constructor(
    name: string,
    members: { readonly item?: Item | undefined; readonly reasons?: readonly object[] } = {},
  ) {
    super(name)
    this.name = name
    this.Item = members.item
    this.CancellationReasons = members.reasons
  }
}

interface Table {
  readonly schema: KeySchema
  readonly items: Map<string, Item>
  /** Keys in order, for scans; undefined when items came or went. */
  order: readonly string[] | undefined
}

export interface StoreFeatures {
  readonly transactions: boolean
  /** ReturnValuesOnConditionCheckFailure. */
  readonly returnsOld: boolean
  /** Rows in a page of a query. */
  readonly pageItems: number
}

const SCAN_ITEMS = 50

export class SimStore {
  readonly #tables = new Map<string, Table>()
  readonly #tokens = new Map<string, string>()
  readonly #features: StoreFeatures

  constructor(features: StoreFeatures) {
    this.#features = features
  }

  create(name: string, schema: KeySchema): void {
    this.#tables.set(name, { schema, items: new Map(), order: undefined })
  }

  /** As an operator would put data there. */
  load(table: string, item: Item): void {
    const { schema, items } = this.#table(table)
    items.set(keyText(schema, item), item)
  }

  items(table: string): readonly Item[] {
    return [...this.#table(table).items.values()]
  }

  /** One operation, at one moment. */
  execute(operation: string, input: Input): object {
    switch (operation) {
      case 'GetItem': {
        const item = this.#get(input)
        return item === undefined ? {} : { Item: item }
      }
      case 'BatchGetItem':
        return this.#batchGet(input)
      case 'PutItem':
      case 'UpdateItem':
      case 'DeleteItem':
        return this.#write(operation, input)
      case 'Query':
        return this.#query(input)
      case 'Scan':
        return this.#scan(input)
      case 'TransactWriteItems':
        return this.#transact(input)
      case 'DescribeTable':
        return { Table: description(this.#table(input['TableName'] as string).schema) }
      default:
        throw new Refused('UnknownOperationException')
    }
  }

  #table(name: string): Table {
    const table = this.#tables.get(name)
    if (table === undefined) throw new Refused('ResourceNotFoundException')
    return table
  }

  #get(input: Input): Item | undefined {
    const { schema, items } = this.#table(input['TableName'] as string)
    return items.get(keyText(schema, (input['Key'] ?? input['Item']) as Item))
  }

  #batchGet(input: Input): object {
    const responses: Record<string, Item[]> = {}
    for (const [table, { Keys }] of Object.entries(input['RequestItems'] as Record<string, { Keys: Item[] }>))
      responses[table] = Keys.map((key) => this.#get({ TableName: table, Key: key })).filter(
        (item) => item !== undefined,
      )
    return { Responses: responses }
  }

  #write(operation: string, input: Input): object {
    const { key, after } = this.#checked(operation, input)
    replace(this.#table(input['TableName'] as string), key, after)
    return input['ReturnValues'] === 'ALL_NEW' ? { Attributes: after } : {}
  }

  /** What the write would leave, or Refused. */
  #checked(operation: string, input: Input): { readonly key: string; readonly after: Item | undefined } {
    const { schema } = this.#table(input['TableName'] as string)
    const keyAttributes = (input['Key'] ?? input['Item']) as Item
    const key = keyText(schema, keyAttributes)
    const before = this.#get(input)
    const expressions = openExpressions(input)
    const text = input['UpdateExpression'] as string | undefined
    const update = text === undefined ? undefined : expressions.update(text)
    const conditionText = input['ConditionExpression'] as string | undefined
    const condition =
      conditionText === undefined ? undefined : expressions.condition(conditionText, 'ConditionExpression')
    expressions.finish()
    if (condition !== undefined && !evaluateCondition(condition, before)) {
      const wanted = input['ReturnValuesOnConditionCheckFailure'] === 'ALL_OLD' && this.#features.returnsOld
      throw new Refused('ConditionalCheckFailedException', { item: wanted ? before : undefined })
    }
    if (operation === 'ConditionCheck') return { key, after: before }
    if (operation === 'DeleteItem') return { key, after: undefined }
    if (operation === 'PutItem') return { key, after: fitting(input['Item'] as Item) }
    const result = applyUpdate(update!, before, keyAttributes)
    if ('refusal' in result) throw new Refused('ValidationException')
    return { key, after: result.item && fitting(result.item) }
  }

  #query(input: Input): object {
    const { schema, items } = this.#table(input['TableName'] as string)
    const expressions = openExpressions(input)
    const condition = expressions.condition(
      input['KeyConditionExpression'] as string,
      'KeyConditionExpression',
    )
    const projection = input['ProjectionExpression'] as string | undefined
    if (projection !== undefined) expressions.projection(projection)
    expressions.finish()
    const found = [...items.values()].filter((item) => evaluateCondition(condition, item))
    const sort = schema.sort
    if (sort !== undefined)
      found.sort((a, b) => compareValues(attribute(a, sort.name)!, attribute(b, sort.name)!) ?? 0)
    if (input['ScanIndexForward'] === false) found.reverse()
    return paged(schema, found, input, this.#features.pageItems)
  }

  #scan(input: Input): object {
    const table = this.#table(input['TableName'] as string)
    const { schema } = table
    const filter = input['FilterExpression'] as string | undefined
    const expressions = openExpressions(input)
    const bound = filter === undefined ? undefined : expressions.condition(filter, 'FilterExpression')
    table.order ??= [...table.items.keys()].toSorted()
    const from = startOf(schema, table.order, input)
    const keys = table.order.slice(from, from + SCAN_ITEMS)
    const Items = keys.map((key) => table.items.get(key)!)
    const rest =
      from + SCAN_ITEMS < table.order.length ? { LastEvaluatedKey: keyOf(schema, Items.at(-1)!) } : {}
    return { ...rest, Items: Items.filter((item) => bound === undefined || evaluateCondition(bound, item)) }
  }

  #transact(input: Input): object {
    if (!this.#features.transactions) throw new Refused('UnknownOperationException')
    const token = input['ClientRequestToken'] as string
    const payload = JSON.stringify(input['TransactItems'])
    const known = this.#tokens.get(token)
    if (known !== undefined) {
      if (known !== payload) throw new Refused('IdempotentParameterMismatchException')
      return {}
    }
    const writes = (input['TransactItems'] as Record<string, Input>[]).map((action) => {
      const [kind, member] = Object.entries(action)[0]!
      return { operation: kind === 'ConditionCheck' ? kind : `${kind}Item`, input: member }
    })
    const reasons: object[] = []
    const effects: (() => void)[] = []
    for (const { operation, input: member } of writes) {
      try {
        const { key, after } = this.#checked(operation, member)
        const table = this.#table(member['TableName'] as string)
        reasons.push({ Code: 'None' })
        if (operation !== 'ConditionCheck') effects.push(() => replace(table, key, after))
      } catch (error) {
        if (!(error instanceof Refused) || error.name !== 'ConditionalCheckFailedException') throw error
        reasons.push({ Code: 'ConditionalCheckFailed', ...(error.Item && { Item: error.Item }) })
      }
    }
    if (
      effects.length < writes.filter(({ operation }) => operation !== 'ConditionCheck').length ||
      reasons.some((reason) => (reason as { Code: string }).Code !== 'None')
    )
      throw new Refused('TransactionCanceledException', { reasons })
    for (const effect of effects) effect()
    this.#tokens.set(token, payload)
    return {}
  }
}

function replace(table: Table, key: string, after: Item | undefined): void {
  if ((after === undefined) === table.items.has(key)) table.order = undefined
  if (after === undefined) table.items.delete(key)
  else table.items.set(key, after)
}

function startOf(schema: KeySchema, order: readonly string[], input: Input): number {
  const start = input['ExclusiveStartKey'] as Item | undefined
  if (start === undefined) return 0
  const text = keyText(schema, start)
  const at = order.findIndex((key) => key > text)
  return at < 0 ? order.length : at
}

function paged(
  schema: KeySchema,
  found: readonly Item[],
  input: Input,
  pageItems: number,
): { Items: Item[]; LastEvaluatedKey?: Item } {
  const start = input['ExclusiveStartKey'] as Item | undefined
  const limit = Math.min((input['Limit'] as number | undefined) ?? pageItems, pageItems)
  let from = 0
  if (start !== undefined) {
    const text = keyText(schema, start)
    const at = found.findIndex((item) => keyText(schema, item) === text)
    if (at >= 0) from = at + 1
    else {
      // It was deleted: go on behind where it stood.
      const sort = schema.sort
      const reverse = input['ScanIndexForward'] === false
      const isBehind = (item: Item): boolean => {
        if (sort === undefined) return keyText(schema, item) > text
        const order = compareValues(attribute(item, sort.name)!, attribute(start, sort.name)!) ?? 0
        return reverse ? order < 0 : order > 0
      }
      const next = found.findIndex(isBehind)
      from = next < 0 ? found.length : next
    }
  }
  const Items = found.slice(from, from + limit)
  const last = Items.at(-1)
  return from + limit < found.length && last !== undefined
    ? { Items, LastEvaluatedKey: keyOf(schema, last) }
    : { Items }
}

function fitting(item: Item): Item {
  if (itemBytes(item) > limits.itemBytesMax) throw new Refused('ValidationException')
  return item
}

function keyOf(schema: KeySchema, item: Item): Item {
  const { partition, sort } = schema
  return {
    [partition.name]: attribute(item, partition.name)!,
    ...(sort !== undefined && { [sort.name]: attribute(item, sort.name)! }),
  }
}

const keyText = ({ partition, sort }: KeySchema, item: Item): string => {
  const text = (name: string): string => Object.values(attribute(item, name) ?? {}).join('')
  return sort === undefined ? text(partition.name) : `${text(partition.name)}\u0000${text(sort.name)}`
}

function description({ partition, sort }: KeySchema): object {
  const parts = [{ ...partition, role: 'HASH' }, ...(sort === undefined ? [] : [{ ...sort, role: 'RANGE' }])]
  return {
    TableStatus: 'ACTIVE',
    KeySchema: parts.map(({ name, role }) => ({ AttributeName: name, KeyType: role })),
    AttributeDefinitions: parts.map(({ name, type }) => ({ AttributeName: name, AttributeType: type })),
  }
}
