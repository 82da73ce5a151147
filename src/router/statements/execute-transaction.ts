// Up to 100 statements that take effect together: all SELECT by key, or all INSERT, UPDATE, DELETE and EXISTS.
//
// In DynamoDB's order: parameters of all of them; then each statement, which is told with its position; then tables that are not
// there and keys that are wrong, which are reasons to cancel; then two statements on one item.
import {
  conditionAttributes,
  projector,
  projectionPaths,
  refuseNestedKeys,
} from '../../expression/expression.js'
import { DynamoError, transactionCancelled, validationError } from '../../model/errors.js'
import { itemBytes, type Item, type AttributeValue } from '../../model/value.js'
import { limits } from '../../model/limits.js'
import { keyAttributesOf, type TableShape } from '../../model/table.js'
import { onlyKey, writeTarget, type BoundSelect, type BoundStatement } from '../../partiql/partiql.js'
import { returnConsumedCapacityShape } from '../request/capacity.js'
import type { Input, Operation, RequestScope, RouterContext, Table } from '../request/context.js'
import { checkedKeyOf, keyOfItem } from '../request/keys.js'
import { furtherMembers } from '../request/reply.js'
import { TurnBudget } from '../request/turns.js'
import { tokenOf } from '../transactions/client-tokens.js'
import { type BoundAction } from '../transactions/transact-actions.js'
import { readGets, type TransactGet } from '../transactions/transact-get-items.js'
import { refuseRepeatedItems } from '../transactions/transact-refusals.js'
import { commitActions } from '../transactions/transact-write-items.js'
import { statementMembers } from './execute-statement.js'
import { parseAllParameters } from './statement-parameters.js'
import { bindRead } from './statement-reads.js'
import {
  askedStatement,
  tableStatement,
  type AskedStatement,
  type TableStatement,
} from './statement-table.js'
import {
  aboutStatement,
  DUPLICATE_ITEM,
  isWrite,
  withPresence,
  writeOf,
  type KeyMessages,
  type WriteStatement,
} from './statement-writes.js'

export const executeTransaction: Operation = {
  name: 'ExecuteTransaction',
  shape: {
    kind: 'struct',
    members: {
      TransactStatements: {
        kind: 'list',
        required: true,
        lengthMin: 1,
        lengthMax: limits.transactionActionsMax,
        member: { kind: 'struct', members: statementMembers },
      },
      ClientRequestToken: { kind: 'string', lengthMin: 1, lengthMax: 36 },
      ReturnConsumedCapacity: returnConsumedCapacityShape,
    },
  },

  async run(context, input, scope) {
    const elements = input['TransactStatements'] as readonly Input[]
    const parameters = await parseAllParameters(context, elements)
    for (const one of parameters) if (one instanceof DynamoError) throw one
    const asked = await askAll(
      context,
      elements.map((element) => element['Statement'] as string),
      parameters as readonly (readonly AttributeValue[])[],
      scope,
    )
    refuseMixed(asked)
    return asked[0]!.statement.type === 'select'
      ? readAll(context, input, asked)
      : writeAll(context, input, scope, elements, asked)
  },
}

/** To read a character of a statement takes as long as to check so many bytes of an item. */
const BYTES_PER_CHARACTER = 4

/** Reads them, in several turns if they are long: a hundred of 8,192 characters take a tenth of a second. */
async function askAll(
  { runtime }: RouterContext,
  texts: readonly string[],
  parameters: readonly (readonly AttributeValue[])[],
  scope: RequestScope,
): Promise<readonly AskedStatement[]> {
  const turns = new TurnBudget(runtime)
  const asked: AskedStatement[] = []
  for (const [at, text] of texts.entries()) {
    asked.push(numbered(at, () => askedStatement(text, parameters[at]!, scope, 'allowed')))
    if (turns.isDue(BYTES_PER_CHARACTER * text.length)) await turns.next()
  }
  return asked
}

function numbered<Result>(at: number, step: () => Result): Result {
  try {
    return step()
  } catch (error) {
    if (!(error instanceof DynamoError) || error.name !== 'ValidationException') throw error
    throw validationError(`Validation failed in TransactStatements[${at}]: ${error.message}`)
  }
}

function refuseMixed(asked: readonly AskedStatement[]): void {
  const reads = asked.filter(({ statement }) => statement.type === 'select').length
  if (reads > 0 && reads < asked.length)
    throw validationError(
      'ExecuteTransaction API does not support both read and write operations in the same request.',
    )
}

/** A reason to cancel; undefined: none. */
type Reason = { readonly Code: string; readonly Message?: string }
const NO_REASON: Reason = { Code: 'None' }

/** All that is wrong with tables and keys is told at once; what is wrong with a statement as such refuses the request. */
function eachOrCancelled<Bound>(
  context: RouterContext,
  asked: readonly AskedStatement[],
  bind: (found: TableStatement, at: number) => Bound,
): readonly Bound[] {
  const reasons: Reason[] = []
  const found = asked.map((one, at): TableStatement | undefined => {
    const table = tableOrReason(context, one.tableName)
    if ('Code' in table) {
      reasons[at] = table
      return undefined
    }
    return numbered(at, () => tableStatement(context.catalog, one))
  })
  const bound = found.map((one, at): Bound | undefined => {
    if (one === undefined) return undefined
    try {
      return bind(one, at)
    } catch (error) {
      if (!(error instanceof KeyRefusal)) throw error
      reasons[at] = { Code: 'ValidationError', Message: error.message }
      return undefined
    }
  })
  if (reasons.length > 0) throw transactionCancelled(asked.map((_, at) => reasons[at] ?? NO_REASON))
  return bound as readonly Bound[]
}

/** Within this file only: a key that is wrong for its table. */
class KeyRefusal extends Error {}

function orKeyRefusal<Result>(step: () => Result, message?: string): Result {
  try {
    return step()
  } catch (error) {
    if (!(error instanceof DynamoError) || error.name !== 'ValidationException') throw error
    throw new KeyRefusal(message ?? error.message)
  }
}

function tableOrReason(context: RouterContext, name: string): Table | Reason {
  try {
    return context.catalog.table(name)
  } catch (error) {
    if (!(error instanceof DynamoError) || error.name !== 'ResourceNotFoundException') throw error
    return { Code: 'ResourceNotFound', Message: error.message }
  }
}

const KEY_NEEDED =
  'Select statements within ExecuteTransaction must specify the primary key in the where clause.'
const MISMATCH = 'The provided key element does not match the schema'
const KEY_TYPE = "Key attribute's data type should match"

async function readAll(
  context: RouterContext,
  input: Input,
  asked: readonly AskedStatement[],
): Promise<Awaited<ReturnType<typeof readGets>>> {
  const gets = eachOrCancelled(context, asked, (found, at) =>
    getOf(context, found as TableStatement<BoundSelect>, at),
  )
  refuseRepeatedItems(gets.map(({ table, key }) => ({ space: table.shape.space, key })))
  return readGets(context, input, gets)
}

function getOf(context: RouterContext, found: TableStatement<BoundSelect>, at: number): TransactGet {
  const { statement, table, bound } = found
  const key = numbered(at, () => {
    if (statement.source.index !== undefined)
      throw validationError('Reads on indices are not supported within transactions.')
    try {
      const { plan } = bindRead(context, found, 'strong')
      const only = onlyKey(plan, table.shape.key)
      if (only === undefined) throw validationError(KEY_NEEDED)
      return only
    } catch (error) {
      if (error instanceof DynamoError && error.message.startsWith(KEY_TYPE)) throw new KeyRefusal(MISMATCH)
      throw error
    }
  })
  const { projection } = bound
  return {
    table,
    key: orKeyRefusal(() => checkedKeyOf(table.shape, key)),
    projection: projection && { project: projector(projection), paths: projectionPaths(projection) },
  }
}

async function writeAll(
  context: RouterContext,
  input: Input,
  scope: RequestScope,
  elements: readonly Input[],
  asked: readonly AskedStatement[],
): Promise<Uint8Array> {
  const named = {
    actions: asked.map(({ statement, tableName }) => ({
      tableName,
      mutation: { kind: statement.type === 'exists' ? 'check' : statement.type },
    })),
  }
  // The same token for the same statements: parameters may be written in another order of members.
  const token = await tokenOf(context, scope, input, named, elements)
  const bound = eachOrCancelled(context, asked, (found, at) => {
    const about = isWrite(found.bound) ? aboutStatement(found, asked[at]!, scope) : {}
    return actionOf(found, elements[at]!, at, about)
  })
  refuseTooLarge(bound)
  refuseRepeatedItems(bound.map(({ action }) => ({ space: action.table.space, key: action.key })))
  try {
    const capacity = await commitActions(context, input, bound, token)
    const further = furtherMembers({ ConsumedCapacity: capacity.length > 0 ? capacity : undefined })
    return Buffer.from(`{"Responses":[]${further}}`)
  } catch (error) {
    throw withDuplicates(error, asked)
  }
}

/** As TransactWriteItems tells a wrong key. */
const transactionMessages: KeyMessages = {
  itemKey: (table, item) => orKeyRefusal(() => keyOfItem(table, item)),
  target: (where, { key }) => orKeyRefusal(() => writeTarget(where, key, 'refused'), MISMATCH),
}

function actionOf(
  found: TableStatement,
  input: Input,
  at: number,
  about: { readonly about?: string },
): BoundAction {
  const { table, bound } = found
  const showsItem = input['ReturnValuesOnConditionCheckFailure'] === 'ALL_OLD'
  if (!isWrite(bound)) return { table, action: checkOf(found, bound, at), showsItem }
  if (bound.type !== 'insert' && bound.returning !== undefined)
    numbered(at, () => {
      throw validationError('RETURNING clause is not supported in ExecuteTransaction.')
    })
  const request = numbered(at, () => writeOf(found as TableStatement<WriteStatement>, transactionMessages))
  const keyAttributes = keyAttributesOf(table.shape.key, request.keyAttributes)
  return { table, action: { ...request, keyAttributes, ...about }, showsItem }
}

function checkOf(
  { statement, table }: TableStatement,
  bound: BoundStatement,
  at: number,
): BoundAction['action'] {
  return numbered(at, () => {
    if (statement.source.index !== undefined)
      throw validationError('Operations on indices are not supported in transactions')
    const { key: keyAttributes, condition } = existsTarget((bound as BoundSelect).where, table.shape)
    refuseNestedKeys(conditionAttributes(condition), table.shape.key, table.shape.indexes)
    return {
      table: table.shape,
      key: orKeyRefusal(() => checkedKeyOf(table.shape, keyAttributes)),
      keyAttributes,
      mutation: { kind: 'check' },
      condition: withPresence('attribute_exists', table.shape.key.partition.name, condition),
    }
  })
}

function existsTarget(
  where: BoundSelect['where'],
  { key }: TableShape,
): { readonly key: Item; readonly condition: NonNullable<BoundSelect['where']> } {
  try {
    const target = writeTarget(where, key, 'conditions')
    if (target.condition !== undefined) return { key: target.key, condition: target.condition }
  } catch (error) {
    if (!(error instanceof DynamoError)) throw error
    if (error.message.startsWith(KEY_TYPE)) throw new KeyRefusal(MISMATCH)
  }
  throw validationError('EXISTS() must contain a single item read with additional condition')
}

function refuseTooLarge(bound: readonly BoundAction[]): void {
  let bytes = 0
  for (const { action } of bound)
    bytes +=
      action.mutation.kind === 'put' ? (action.mutation.itemBytes ?? 0) : itemBytes(action.keyAttributes)
  if (bytes > limits.transactionBytesMax)
    throw validationError('The aggregate size of the items in the transaction cannot exceed 4 MB')
}

interface ToldReason extends Reason {
  readonly Item?: Readonly<Record<string, AttributeValue>>
}

/** An INSERT is a put if absent: its failed condition is a duplicate. */
function withDuplicates(error: unknown, asked: readonly AskedStatement[]): unknown {
  if (!(error instanceof DynamoError) || error.name !== 'TransactionCanceledException') return error
  const reasons = error.members['CancellationReasons'] as readonly ToldReason[]
  const isDuplicate = (reason: ToldReason, at: number): boolean =>
    reason.Code === 'ConditionalCheckFailed' && asked[at]?.statement.type === 'insert'
  if (!reasons.some(isDuplicate)) return error
  return transactionCancelled(
    reasons.map((reason, at) =>
      isDuplicate(reason, at) ? { ...reason, Code: 'DuplicateItem', Message: DUPLICATE_ITEM } : reason,
    ),
  )
}
