import { parseRecord } from '../../line/record.js'
import { limits } from '../../model/limits.js'
import { onlyKey } from '../../partiql/partiql.js'
import type { BoundSelect } from '../../partiql/partiql.js'
import { furtherMembers, listReply, type ItemJson } from '../request/reply.js'
import {
  consumedCapacity,
  isCapacityWanted,
  readUnits,
  returnConsumedCapacityShape,
  type Consumed,
} from '../request/capacity.js'
import type { Input, Operation, RequestScope, RouterContext, Table } from '../request/context.js'
import { checkedKeyOf } from '../request/keys.js'
import type { Reply } from '../request/router.js'
import type { RequestShape } from '../shapes/shape.js'
import { writeCapacity } from '../writes/single-write.js'
import { explained } from './explain.js'
import { tokenPosition, tokenFor } from './next-token.js'
import { parseParameters } from './statement-parameters.js'
import { bindRead, readStatementPage } from './statement-reads.js'
import {
  askedStatement,
  tableStatement,
  type AskedStatement,
  type TableStatement,
} from './statement-table.js'
import {
  aboutStatement,
  doStatementWrite,
  isWrite,
  returnedImage,
  writeOf,
  type WriteStatement,
} from './statement-writes.js'

export const statementMembers: Readonly<Record<string, RequestShape>> = {
  Statement: {
    kind: 'string',
    required: true,
    lengthMin: 1,
    lengthMax: limits.statementCharactersMax,
  },
  Parameters: { kind: 'list', member: { kind: 'any' }, lengthMin: 1 },
  ReturnValuesOnConditionCheckFailure: { kind: 'string', values: ['ALL_OLD', 'NONE'] },
}

export const executeStatement: Operation = {
  name: 'ExecuteStatement',
  shape: {
    kind: 'struct',
    members: {
      ...statementMembers,
      ConsistentRead: { kind: 'boolean' },
      NextToken: { kind: 'string', lengthMin: 1, lengthMax: 32_768 },
      ReturnConsumedCapacity: returnConsumedCapacityShape,
      Limit: { kind: 'integer', valueMin: 1 },
    },
  },

  run(context, input, scope) {
    // Parameters are looked at before the statement.
    const parameters = parseParameters(input['Parameters'])
    const asked = askedStatement(input['Statement'] as string, parameters, scope, 'refused', 'allowed')
    const found = tableStatement(context.catalog, asked)
    if (asked.statement.mode === 'explain') return explained(context, input, found)
    return isWrite(found.bound)
      ? runWrite(context, input, found as TableStatement<WriteStatement>, aboutStatement(found, asked, scope))
      : runSelect(context, input, scope, asked, found as TableStatement<BoundSelect>)
  },
}

async function runWrite(
  context: RouterContext,
  input: Input,
  found: TableStatement<WriteStatement>,
  about: { readonly about?: string },
): Promise<Reply> {
  const request = { ...writeOf(found), ...about }
  const outcome = await doStatementWrite(context, input, found.bound, request)
  const image = returnedImage(found.bound, outcome)
  return itemsReply(image === undefined ? [] : [image], {
    ConsumedCapacity: writeCapacity(found.table, input, request, outcome),
  })
}

const itemsReply = (items: readonly ItemJson[], further: Readonly<Record<string, unknown>>): Reply =>
  listReply('{"Items":[', items, `]${furtherMembers(further)}}`)

async function runSelect(
  context: RouterContext,
  input: Input,
  scope: RequestScope,
  { parameters }: AskedStatement,
  found: TableStatement<BoundSelect>,
): Promise<Reply> {
  const { statement, table } = found
  const consistent = input['ConsistentRead'] === true
  const { index } = statement.source
  const read = bindRead(context, found, consistent ? 'strong' : 'eventual')
  const capacity = (consumed: () => Consumed): object | undefined => {
    const detail = input['ReturnConsumedCapacity']
    return isCapacityWanted(detail) ? consumedCapacity(detail, table.name, consumed()) : undefined
  }
  const key = index === undefined && isUnpaged(input) ? onlyKey(read.plan, table.shape.key) : undefined
  if (key !== undefined) {
    const record = await getRecord(context, table, key, consistent)
    const row =
      record && (read.projection ? JSON.stringify(read.projection.project(parseRecord(record))) : record.json)
    return itemsReply(row === undefined ? [] : [row], {
      ConsumedCapacity: capacity(() => ({ table: readUnits(record?.itemBytes ?? 0, consistent) })),
    })
  }
  const subject = { text: statement.text, parameters, target: read.target }
  const limit = input['Limit']
  const page = await readStatementPage(context, read, {
    start: tokenPosition(context, scope, subject, input['NextToken']),
    entriesMax: typeof limit === 'number' ? Math.floor(limit) : undefined,
    consistent,
  })
  return itemsReply(page.items, {
    NextToken: page.next && tokenFor(context, scope, subject, page.next),
    ConsumedCapacity: capacity(() => page.consumed),
  })
}

/** With a limit even one item is a page, which may have a next one. */
const isUnpaged = (input: Input): boolean => input['Limit'] == null && input['NextToken'] == null

export function getRecord(
  context: RouterContext,
  { shape }: Table,
  key: Parameters<typeof checkedKeyOf>[1],
  consistent: boolean,
): ReturnType<RouterContext['nodes'][number]['get']> {
  const { hash, bytes } = checkedKeyOf(shape, key)
  return context.nodeOf(hash).get(shape.space, { hash, bytes }, consistent)
}
