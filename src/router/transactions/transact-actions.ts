// The actions of a TransactWriteItems: parsed and checked without their tables, then bound to them.
//
//   shape --> one action an element --> values and expressions --> 4 MB --> tables --> keys --> one operation an item
//
// What is wrong whatever the table is, refuses the request as a whole; what is wrong with regard to the table's key is
// a reason to cancel the transaction, and only the first such action is named.
import type { AboutStatement } from '../../commit-log/commit-record.js'
import { keyAttributesOf } from '../../model/table.js'
import { emptyIndexKeyRefusal } from '../../rules/item/index-keys.js'
import {
  conditionAttributes,
  refuseKeyUpdate,
  refuseNestedKeys,
  updateOperands,
} from '../../expression/expression.js'
import type { BoundCondition } from '../../expression/parse/types.js'
import { DynamoError, validationError } from '../../model/errors.js'
import { itemBytes, type Item } from '../../model/value.js'
import { limits } from '../../model/limits.js'
import {
  checkAttributeName,
  EMPTY_NAME,
  parseItem,
  refuseDeepValues,
  TOO_DEEP,
} from '../../model/parse-value.js'
import type { Action } from '../../storage/contract/transactions.js'
import { aboutOf, type WriteAbout } from '../request/about.js'
import type { Input, RequestScope, RouterContext, Table } from '../request/context.js'
import { checkedKeyOf, keyOfItem } from '../request/keys.js'
import { haveTransactionsMoved, toldOfTransactions } from '../request/wording.js'
import { type RequestShape, tableNameShape } from '../shapes/shape.js'
import { tableNameOf } from '../shapes/table-name.js'
import { ELEMENT_BYTES, TurnBudget } from '../request/turns.js'
import {
  checkConditionParameters,
  checkUpdateParameters,
  openCondition,
  openUpdate,
} from '../writes/single-write.js'
import { attributesForKey, type GivenItem, givenItem, putOf } from '../writes/given-item.js'
import { eachOrCancelled, refuseRepeatedItems } from './transact-refusals.js'

const attributes: RequestShape = { kind: 'map', member: { kind: 'any' }, required: true }

const conditionMembers: Readonly<Record<string, RequestShape>> = {
  TableName: tableNameShape,
  ConditionExpression: { kind: 'string' },
  ExpressionAttributeNames: { kind: 'map', member: { kind: 'string' } },
  ExpressionAttributeValues: { kind: 'map', member: { kind: 'any' } },
  ReturnValuesOnConditionCheckFailure: { kind: 'string', values: ['ALL_OLD', 'NONE'] },
}

/** What is said of the list where transactions have moved. */
export const ofTransactItems = (constraint: string): string =>
  `Value at 'TransactItems' failed to satisfy constraint: ${constraint}`

export const transactItemsShape = shapeOfActions(1, limits.transactionActionsMax)

export function shapeOfActions(
  lengthMin: number,
  lengthMax: number,
  more: Readonly<Record<string, RequestShape>> = {},
): RequestShape {
  return {
    kind: 'list',
    ...(lengthMin > 0 && { required: true as const }),
    lengthMin,
    lengthMax,
    newerConstraint: ofTransactItems,
    member: {
      kind: 'struct',
      members: {
        ...more,
        ConditionCheck: {
          kind: 'struct',
          members: {
            ...conditionMembers,
            Key: attributes,
            ConditionExpression: { kind: 'string', required: true },
          },
        },
        Put: { kind: 'struct', members: { ...conditionMembers, Item: attributes } },
        Delete: { kind: 'struct', members: { ...conditionMembers, Key: attributes } },
        Update: {
          kind: 'struct',
          members: {
            ...conditionMembers,
            Key: attributes,
            UpdateExpression: { kind: 'string', required: true },
          },
        },
      },
    },
  }
}

/** One action of the request, bound to its table. */
export interface BoundAction {
  readonly table: Table
  readonly action: Action
  /** The item it failed on is wanted in the reason. */
  readonly showsItem: boolean
}

interface ParsedAction {
  readonly tableName: string
  readonly input: Input
  /** The whole item, or the key. */
  readonly attributes: GivenItem
  readonly mutation: Action['mutation']
  readonly condition: BoundCondition | undefined
  /** By which its unit of work came to it, as its client says. */
  readonly statements?: readonly AboutStatement[]
}

export function parseActions(
  elements: readonly Input[],
  scope: RequestScope,
  bytesMax: number = limits.transactionBytesMax,
): readonly ParsedAction[] {
  const parsing = new Parsing(scope, bytesMax)
  for (const element of elements) parsing.take(element)
  return parsing.end()
}

/** The same, in several turns if there is much of it: nothing of it depends on the catalogue, or on what is stored. */
export function parseActionsInTurns(
  { runtime }: RouterContext,
  elements: readonly Input[],
  scope: RequestScope,
  bytesMax: number = limits.transactionBytesMax,
): readonly ParsedAction[] | Promise<readonly ParsedAction[]> {
  const parsing = new Parsing(scope, bytesMax)
  const turns = new TurnBudget(runtime)
  // Most transactions need no turn: they are spared the promise.
  for (let at = 0; at < elements.length; at++)
    if (turns.isDue(parsing.take(elements[at]!)) && at + 1 < elements.length)
      return parseRest(elements, at + 1, parsing, turns)
  return parsing.end()
}

async function parseRest(
  elements: readonly Input[],
  from: number,
  parsing: Parsing,
  turns: TurnBudget,
): Promise<readonly ParsedAction[]> {
  await turns.next()
  for (const element of elements.slice(from))
    if (turns.isDue(parsing.take(element, 'with-text'))) await turns.next()
  return parsing.end()
}

/** To bind a character of an expression takes as long as to check so many bytes of an item. */
const BYTES_PER_CHARACTER = 4

/** A value of an expression may be nested by as many more levels than an item, as long as it is not written. */
const LEVELS_MORE = 1

class Parsing {
  readonly #scope: RequestScope
  readonly #bytesMax: number
  readonly #levelsMore: number
  readonly #parsed: ParsedAction[] = []
  #bytes = 0

  constructor(scope: RequestScope, bytesMax: number) {
    this.#scope = scope
    this.#bytesMax = bytesMax
    this.#levelsMore = haveTransactionsMoved(scope.addressed.region) ? 0 : LEVELS_MORE
  }

  /** How much work that was, in bytes of an item. With the text that a put leaves, the step that writes it is shorter. */
  take(element: Input, texts: 'with-text' | 'without-text' = 'without-text'): number {
    const [kind, input] = theOne(element)
    const tableName = tableNameOf(input['TableName'])
    this.#scope.authorise(tableName, kind)
    const {
      attributes: given,
      mutation: parsed,
      condition,
    } = toldOfTransactions(input, () => parse(kind, input, this.#levelsMore))
    const bytes = parsed.kind === 'put' ? (parsed.itemBytes ?? 0) : itemBytes(given as Item)
    const isText = parsed.kind === 'put' && parsed.json === undefined && texts === 'with-text'
    const mutation = isText ? { ...parsed, json: Buffer.from(JSON.stringify(parsed.item)) } : parsed
    this.#bytes += bytes
    const statements = statementsOf(element)
    this.#parsed.push({
      tableName,
      input,
      attributes: given,
      mutation,
      condition,
      ...(statements && { statements }),
    })
    return (
      ELEMENT_BYTES +
      (isText ? 2 : 1) * bytes +
      BYTES_PER_CHARACTER * (lengthOf(input['ConditionExpression']) + lengthOf(input['UpdateExpression']))
    )
  }

  end(): readonly ParsedAction[] {
    if (this.#bytes > this.#bytesMax) {
      throw validationError('The aggregate size of the items in the transaction cannot exceed 4 MB')
    }
    return this.#parsed
  }
}

/** Only where the shape of the request has them. */
const statementsOf = (element: Input): readonly AboutStatement[] | undefined =>
  (element['Statements'] as readonly Input[] | null | undefined)?.map((each) => ({
    shape: each['Shape'] as string,
    text: each['Text'] as string,
    ...(each['Parameters'] != null && { parameters: each['Parameters'] as readonly unknown[] }),
  }))

const lengthOf = (text: unknown): number => (typeof text === 'string' ? text.length : 0)

const KINDS = ['ConditionCheck', 'Put', 'Delete', 'Update'] as const
type Kind = (typeof KINDS)[number]

function theOne(element: Input): readonly [Kind, Input] {
  let kind: Kind | undefined
  let count = 0
  for (const each of KINDS) {
    if (element[each] === undefined || element[each] === null) continue
    kind ??= each
    count++
  }
  if (kind === undefined) {
    throw validationError(
      'Invalid Request: TransactWriteRequest should contain Delete or Put or Update request',
    )
  }
  if (count > 1) {
    throw validationError('TransactItems can only contain one of Check, Put, Update or Delete')
  }
  return [kind, element[kind] as Input]
}

function parse(
  kind: Kind,
  input: Input,
  levelsMore: number,
): Pick<ParsedAction, 'attributes' | 'mutation' | 'condition'> {
  switch (kind) {
    case 'Put': {
      checkConditionParameters(input)
      const given = givenItem(input['Item'], parseWholeItem)
      return { attributes: given, mutation: putOf(given), condition: openCondition(input, levelsMore) }
    }
    case 'Update': {
      checkUpdateParameters(input)
      const { update, condition } = openUpdate(input, levelsMore)
      const key = parseItem(input['Key'])
      return { attributes: key, mutation: { kind: 'update', update }, condition }
    }
    case 'Delete':
    case 'ConditionCheck': {
      checkConditionParameters(input)
      // As in the service, the expression comes before the key of the same action.
      const condition = openCondition(input, levelsMore)
      const mutation = { kind: kind === 'Delete' ? 'delete' : 'check' } as const
      return { attributes: parseItem(input['Key']), mutation, condition }
    }
  }
}

/** An empty name of an attribute is told before values that are nested too deep, and those before an empty name within a value. */
function parseWholeItem(json: unknown): Item {
  try {
    return parseItem(json)
  } catch (error) {
    if (!(error instanceof DynamoError) || typeof json !== 'object' || json === null) throw error
    if (Object.hasOwn(json, '') && error.message === TOO_DEEP) checkAttributeName('')
    if (!Object.hasOwn(json, '') && error.message === EMPTY_NAME) refuseDeepValues(json)
    throw error
  }
}

/** Reads the catalogue, so what it gives must be sent to the nodes in the same turn. */
export function bindActions(
  context: RouterContext,
  parsed: readonly ParsedAction[],
  about: WriteAbout,
): readonly BoundAction[] {
  const tables = parsed.map(({ tableName }) => context.catalog.table(tableName))
  const bound = eachOrCancelled(parsed, (each, at) => bind(tables[at] as Table, each, about))
  refuseRepeatedItems(bound.map(({ action }) => ({ space: action.table.space, key: action.key })))
  return bound
}

function bind(
  table: Table,
  { input, attributes, mutation, condition, statements }: ParsedAction,
  about: WriteAbout,
): BoundAction {
  const { shape } = table
  const given = attributesForKey(attributes, shape.key)
  const key = mutation.kind === 'put' ? keyOfItem(shape, given) : checkedKeyOf(shape, given)
  if (mutation.kind === 'update') {
    refuseKeyUpdate(mutation.update, shape.key)
    refuseNestedKeys(updateOperands(mutation.update), shape.key)
  }
  if (condition !== undefined) refuseNestedKeys(conditionAttributes(condition), shape.key)
  if (shape.indexes.length > 0 && mutation.kind !== 'check') {
    const refusal = emptyIndexKeyRefusal(shape, mutation)
    if (refusal !== undefined) throw validationError(refusal)
  }
  return {
    table,
    action: {
      table: shape,
      key,
      keyAttributes: keyAttributesOf(shape.key, given),
      mutation,
      ...(condition && { condition }),
      ...aboutOf(shape, statements === undefined ? about : { ...about, statements }),
    },
    showsItem: input['ReturnValuesOnConditionCheckFailure'] === 'ALL_OLD',
  }
}
