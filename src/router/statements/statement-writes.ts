// INSERT, UPDATE and DELETE as writes of one item.
//
//   INSERT  a put, if there is no item of that key          UPDATE  an update, if there is one and the rest of WHERE holds
//   DELETE  a delete; where there is an item, the rest of WHERE has to hold
import { parseRecord } from '../../line/record.js'
import {
  conditionAttributes,
  refuseKeyUpdate,
  refuseNestedKeys,
  refuseSetsInIndexKeys,
  updatedAttributes,
  updateOperands,
  updateTargets,
} from '../../expression/expression.js'
import type { ConditionNode } from '../../expression/parse/tree.js'
import type { BoundCondition } from '../../expression/parse/types.js'
import { DynamoError, validationError } from '../../model/errors.js'
import { storableBytes, attribute, typeOf, type Item } from '../../model/value.js'
import { itemKey } from '../../model/key-bytes.js'
import type { ItemKey, KeyAttribute, TableShape } from '../../model/table.js'
import {
  statementShape,
  writeTarget,
  type BoundSelect,
  type BoundStatement,
  type WriteTarget,
} from '../../partiql/partiql.js'
import type { Mutation, WriteOutcome, WriteRequest } from '../../storage/contract/storage-node.js'
import { aboutOf } from '../request/about.js'
import type { Input, RequestScope, RouterContext } from '../request/context.js'
import { checkedKeyOf, checkKeyValue, type KeyRole } from '../request/keys.js'
import { doWrite } from '../writes/single-write.js'
import type { AskedStatement, TableStatement } from './statement-table.js'

export type WriteStatement = Exclude<BoundStatement, BoundSelect>

export const isWrite = (bound: BoundStatement): bound is WriteStatement =>
  bound.type !== 'select' && bound.type !== 'exists'

/** `messages`: what is said of a wrong key differs between single statements and those of a transaction. */
export interface KeyMessages {
  readonly itemKey: (table: TableShape, item: Item) => ItemKey
  readonly target: (where: BoundCondition | undefined, table: TableShape) => WriteTarget
}

export const ownMessages: KeyMessages = {
  itemKey: insertedKey,
  target: (where, { key }) => writeTarget(where, key, 'refused'),
}

export function writeOf(
  { table, bound }: TableStatement<WriteStatement>,
  messages: KeyMessages = ownMessages,
): WriteRequest & { readonly mutation: Mutation } {
  const { shape } = table
  const { name } = shape.key.partition
  if (bound.type === 'insert') {
    const { item } = bound
    const itemBytes = storableBytes(item)
    return {
      table: shape,
      key: messages.itemKey(shape, item),
      keyAttributes: item,
      mutation: { kind: 'put', item, itemBytes },
      condition: withPresence('attribute_not_exists', name, undefined),
    }
  }
  const { key: keyAttributes, condition } = messages.target(bound.where, shape)
  if (condition !== undefined) refuseNestedKeys(conditionAttributes(condition), shape.key, shape.indexes)
  const key = checkedKeyOf(shape, keyAttributes)
  if (bound.type === 'delete') {
    const unlessPresent = condition && withPresence('attribute_not_exists', name, condition)
    return {
      table: shape,
      key,
      keyAttributes,
      mutation: { kind: 'delete' },
      ...(unlessPresent && { condition: unlessPresent }),
    }
  }
  const { update } = bound
  refuseKeyUpdate(update, shape.key)
  refuseSetsInIndexKeys(update, shape.indexes)
  refuseNestedKeys([...updateTargets(update), ...updateOperands(update)], shape.key, shape.indexes)
  return {
    table: shape,
    key,
    keyAttributes,
    mutation: { kind: 'update', update },
    condition: withPresence('attribute_exists', name, condition),
  }
}

/** What the block of a ledger table says of it. */
export function aboutStatement(
  { table, statement }: TableStatement,
  { parameters }: AskedStatement,
  { principal }: RequestScope,
): { readonly about?: string } {
  const { shape } = table
  if (shape.logged?.keys !== true) return {}
  const { text } = statement
  // There may be more than it has places for: those say nothing, and would be kept for good.
  const used = parameters.slice(0, statement.parameters)
  const said = { shape: statementShape(text), text, ...(used.length > 0 && { parameters: used }) }
  return aboutOf(shape, { principal, statements: [said] })
}

/** The item is there, and the condition holds; or it is not there, or the condition holds. */
export function withPresence(
  presence: 'attribute_exists' | 'attribute_not_exists',
  keyName: string,
  condition: BoundCondition | undefined,
): BoundCondition {
  const isAlias = keyName.startsWith('#')
  const path = { type: 'path' as const, steps: [isAlias ? KEY_ALIAS : keyName] }
  const test: ConditionNode = { type: 'function', name: presence, args: [path] }
  const names = new Map([...(condition?.bindings.names ?? []), [KEY_ALIAS, keyName] as const])
  const bindings = isAlias
    ? { names, values: condition?.bindings.values ?? NO_VALUES }
    : (condition?.bindings ?? NO_BINDINGS)
  if (condition === undefined) return { tree: test, bindings }
  const type = presence === 'attribute_exists' ? 'and' : 'or'
  return { tree: { type, terms: [test, condition.tree] }, bindings }
}

/** Aliases of statements are numbers. */
const KEY_ALIAS = '#key'
const NO_VALUES = new Map<string, never>()
const NO_BINDINGS = { names: new Map<string, string>(), values: NO_VALUES }

function insertedKey(table: TableShape, item: Item): ItemKey {
  const { partition, sort } = table.key
  checkPart(partition, 'partition', item)
  if (sort !== undefined) checkPart(sort, 'sort', item)
  return itemKey(table.key, item)
}

function checkPart(part: KeyAttribute, role: KeyRole, item: Item): void {
  const value = attribute(item, part.name)
  if (value === undefined)
    throw validationError(`Key attribute should be present in the item: Key ${part.name}`)
  if (typeOf(value) !== part.type)
    throw validationError(
      `Key attribute's data type should match its data type in table's schema: Key ${part.name}`,
    )
  checkKeyValue(part.name, role, value)
}

export const DUPLICATE_ITEM = 'Duplicate primary key exists in table'

/** Sends it; throws what refuses it. */
export async function doStatementWrite(
  context: RouterContext,
  input: Input,
  bound: WriteStatement,
  request: WriteRequest,
): Promise<WriteOutcome & { verdict: 'done' }> {
  const wantsImage = bound.type !== 'insert' && bound.returning !== undefined
  try {
    return await doWrite(context, input, wantsImage ? { ...request, answersImage: true } : request)
  } catch (error) {
    if (bound.type !== 'insert' || !(error instanceof DynamoError)) throw error
    if (error.name !== 'ConditionalCheckFailedException') throw error
    throw new DynamoError('DuplicateItemException', DUPLICATE_ITEM)
  }
}

/** What RETURNING answers, as JSON text; undefined where there is nothing of it. */
export function returnedImage(
  bound: WriteStatement,
  outcome: WriteOutcome & { verdict: 'done' },
): Uint8Array | string | undefined {
  const returning = bound.type === 'insert' ? undefined : bound.returning
  if (returning === undefined) return undefined
  const record = returning.endsWith('OLD') ? outcome.old : outcome.new
  if (record === undefined || bound.type !== 'update' || returning.startsWith('ALL')) return record?.json
  const part = updatedAttributes(bound.update, parseRecord(record))
  return Object.keys(part).length === 0 ? undefined : JSON.stringify(part)
}
