// Up to 25 statements, each on an item of its own and with an answer of its own: all read, or all write.
import { parseRecord } from '../../line/record.js'
import { DynamoError, validationError } from '../../model/errors.js'
import { limits } from '../../model/limits.js'
import type { ItemKey } from '../../model/table.js'
import type { AttributeValue } from '../../model/value.js'
import { onlyKey, type BoundSelect } from '../../partiql/partiql.js'
import type { ItemRecord, WriteRequest } from '../../storage/contract/storage-node.js'
import { projector } from '../../expression/expression.js'
import { furtherMembers, internalError, joinReply, storageRefusal, type ItemJson } from '../request/reply.js'
import {
  addConsumed,
  type Consumed,
  consumedByOutcome,
  consumedCapacity,
  readUnits,
  returnConsumedCapacityShape,
} from '../request/capacity.js'
import type { Input, Operation, RequestScope, RouterContext, Table } from '../request/context.js'
import { wouldWrite } from '../request/operation-bounds.js'
import { checkedKeyOf } from '../request/keys.js'
import type { Reply } from '../request/router.js'
import { TurnBudget } from '../request/turns.js'
import { statementMembers } from './execute-statement.js'
import { parseAllParameters } from './statement-parameters.js'
import { bindRead } from './statement-reads.js'
import { askedStatement, tableStatement, type TableStatement } from './statement-table.js'
import {
  aboutStatement,
  doStatementWrite,
  isWrite,
  returnedImage,
  writeOf,
  type WriteStatement,
} from './statement-writes.js'

export const batchExecuteStatement: Operation = {
  name: 'BatchExecuteStatement',
  shape: {
    kind: 'struct',
    members: {
      ReturnConsumedCapacity: returnConsumedCapacityShape,
      Statements: {
        kind: 'list',
        required: true,
        lengthMin: 1,
        lengthMax: limits.batchStatementsMax,
        member: { kind: 'struct', members: { ...statementMembers, ConsistentRead: { kind: 'boolean' } } },
      },
    },
  },

  async run(context, input, scope) {
    const members = input['Statements'] as readonly Input[]
    const parameters = await parseAllParameters(context, members)
    const bound = members.map((member, at) => bindMember(context, member, parameters[at]!, scope))
    refuseMixed(bound, members)
    refuseRepeated(bound)
    const turns = new TurnBudget(context.runtime)
    const answers = bound.some((member) => isBound(member) && member.type === 'write')
      ? await writeAll(context, input, bound, turns, (at) =>
          bindMember(context, members[at] as Input, parameters[at]!, scope),
        )
      : await readAll(context, bound, turns)
    return answerOf(input, answers)
  },
}

interface Refused {
  readonly refusal: DynamoError
  readonly table?: Table
}
interface Read {
  readonly type: 'read'
  readonly table: Table
  readonly key: ItemKey
  readonly bound: BoundSelect
  readonly consistent: boolean
}
interface Write {
  readonly type: 'write'
  readonly table: Table
  readonly key: ItemKey
  readonly found: TableStatement<WriteStatement>
  readonly request: WriteRequest
}
type Member = Refused | Read | Write

const KEY_NEEDED =
  'Select statements within BatchExecuteStatement must specify the primary key in the where clause.'

/** What is wrong with one member is an answer to that member. Reads the catalogue. */
function bindMember(
  context: RouterContext,
  member: Input,
  parameters: readonly AttributeValue[] | DynamoError,
  scope: RequestScope,
): Member {
  if (parameters instanceof DynamoError) return { refusal: parameters }
  try {
    const asked = askedStatement(member['Statement'] as string, parameters, scope, 'refused')
    const found = tableStatement(context.catalog, asked)
    const { statement, table, bound } = found
    if (isWrite(bound)) {
      const request = {
        ...writeOf(found as TableStatement<WriteStatement>),
        ...aboutStatement(found, asked, scope),
      }
      return {
        type: 'write',
        table,
        key: request.key,
        found: found as TableStatement<WriteStatement>,
        request,
      }
    }
    const { index } = statement.source
    const consistent = member['ConsistentRead'] === true
    const { plan } = bindRead(
      context,
      found as TableStatement<BoundSelect>,
      consistent ? 'strong' : 'eventual',
    )
    const key = index === undefined ? onlyKey(plan, table.shape.key) : undefined
    if (key === undefined) throw validationError(KEY_NEEDED)
    return { type: 'read', table, key: checkedKeyOf(table.shape, key), bound, consistent }
  } catch (error) {
    // A key that may not do one of them is told so for the whole request.
    if (!(error instanceof DynamoError) || error.name === 'AccessDeniedException') throw error
    return { refusal: error }
  }
}

const isBound = (member: Member): member is Read | Write => 'type' in member

/**
 * One that is refused counts by its first word, as the edge counts it: what is read for a client may be dropped if it does not
 * fit, and what has been written may not.
 */
function refuseMixed(bound: readonly Member[], members: readonly Input[]): void {
  const reads = bound.some((member) => isBound(member) && member.type === 'read')
  if (reads && members.some(({ Statement }) => wouldWrite(Statement)))
    throw validationError('Read and write requests together in the same batch is not supported.')
}

function refuseRepeated(members: readonly Member[]): void {
  const bound = members.filter(isBound)
  const names = new Set(bound.map(({ table, key }) => `${table.shape.space} ${key.bytes}`))
  if (names.size < bound.length) throw validationError('Provided list of item keys contains duplicates')
}

interface Answer {
  readonly table?: Table
  readonly item?: ItemJson | undefined
  readonly refusal?: DynamoError
  readonly consumed?: Consumed
}

/** Reads at once. What is projected is worked out in turns, and nothing is answered beyond what an answer may have. */
async function readAll(
  context: RouterContext,
  members: readonly Member[],
  turns: TurnBudget,
): Promise<readonly Answer[]> {
  const found = await Promise.all(members.map((member) => recordOf(context, member)))
  const answers: Answer[] = []
  let bytes = 0
  for (const [at, member] of members.entries()) {
    const got = found[at]
    if (!isBound(member) || member.type === 'write' || got === undefined || 'refusal' in got) {
      answers.push(got !== undefined && 'refusal' in got ? got : member)
      continue
    }
    const { table, bound, consistent } = member
    const { record } = got
    const consumed = { table: readUnits(record?.itemBytes ?? 0, consistent) }
    let item: ItemJson | undefined = record?.json
    if (record !== undefined && bound.projection !== undefined) {
      item = JSON.stringify(projector(bound.projection)(parseRecord(record)))
      if (turns.isDue(record.json.length)) await turns.next()
    }
    bytes += item?.length ?? 0
    answers.push(bytes > limits.batchGetBytesMax ? { table, refusal: tooMuch() } : { table, item, consumed })
  }
  return answers
}

const tooMuch = (): DynamoError =>
  new DynamoError(
    'ThrottlingException',
    `The items of the batch have more than ${limits.batchGetBytesMax} bytes as text. Ask for this one again, with fewer others`,
  )

/** What was found for a member that reads; undefined for others. */
async function recordOf(
  context: RouterContext,
  member: Member,
): Promise<{ readonly record: ItemRecord | undefined } | Required<Refused> | undefined> {
  if (!isBound(member) || member.type === 'write') return undefined
  const { table, key, consistent } = member
  try {
    return { record: await context.nodeOf(key.hash).get(table.shape.space, key, consistent) }
  } catch (error) {
    return { table, refusal: refusalOf(error) }
  }
}

const refusalOf = (error: unknown): DynamoError =>
  error instanceof DynamoError ? error : (storageRefusal(error) ?? internalError(error))

/**
 * In several turns. What the catalogue says holds for one turn: in each further one the members are bound to it anew, and one
 * whose table is gone by then is refused, whatever the others have written.
 */
async function writeAll(
  context: RouterContext,
  input: Input,
  members: readonly Member[],
  turns: TurnBudget,
  bindAgain: (at: number) => Member,
): Promise<readonly Answer[]> {
  const answers: Promise<Answer>[] = []
  let isFirstTurn = true
  for (const [at, bound] of members.entries()) {
    const member = isFirstTurn ? bound : orRefused(() => bindAgain(at))
    answers.push(runMember(context, input, member))
    if (at < members.length - 1 && turns.isDue(costOf(member))) {
      isFirstTurn = false
      await turns.next()
    }
  }
  return Promise.all(answers)
}

function orRefused(bind: () => Member): Member {
  try {
    return bind()
  } catch (error) {
    return { refusal: refusalOf(error) }
  }
}

/** What a write may take of a turn: how large the stored item is that it looks at is not known before. */
const LOOKING_COST = 64 * 1024
const costOf = (member: Member): number =>
  isBound(member) && member.type === 'write' && member.request.mutation.kind === 'put'
    ? (member.request.mutation.itemBytes ?? 0)
    : LOOKING_COST

/** Never rejects. */
async function runMember(context: RouterContext, input: Input, member: Member): Promise<Answer> {
  if (!isBound(member) || member.type === 'read') return member
  try {
    return await runWrite(context, input, member)
  } catch (error) {
    return { table: member.table, refusal: refusalOf(error) }
  }
}

async function runWrite(
  context: RouterContext,
  { ReturnConsumedCapacity }: Input,
  { table, found, request }: Write,
): Promise<Answer> {
  // ReturnValuesOnConditionCheckFailure of a member has no effect.
  const outcome = await doStatementWrite(context, { ReturnConsumedCapacity }, found.bound, request)
  return {
    table,
    item: returnedImage(found.bound, outcome),
    consumed: consumedByOutcome(request.table, outcome),
  }
}

const CODES: Readonly<Record<string, string>> = {
  ValidationException: 'ValidationError',
  ConditionalCheckFailedException: 'ConditionalCheckFailed',
  DuplicateItemException: 'DuplicateItem',
  ResourceNotFoundException: 'ResourceNotFound',
  TransactionConflictException: 'TransactionConflict',
  ThrottlingException: 'ThrottlingError',
}

function answerOf(input: Input, answers: readonly Answer[]): Reply {
  const pieces: (string | Uint8Array)[] = ['{"Responses":[']
  const byTable = new Map<string, Consumed>()
  for (const [at, { table, item, refusal, consumed }] of answers.entries()) {
    const members = furtherMembers({
      Error: refusal && { Code: CODES[refusal.name] ?? refusal.name, Message: refusal.message },
      TableName: table?.name,
    })
    pieces.push(`${at === 0 ? '' : ','}{${members.slice(1)}`)
    if (item !== undefined) pieces.push(`${members === '' ? '' : ','}"Item":`, item)
    pieces.push('}')
    if (table !== undefined && consumed !== undefined)
      byTable.set(table.name, addConsumed(byTable.get(table.name) ?? { table: 0 }, consumed))
  }
  const capacity = [...byTable].flatMap(
    ([name, consumed]) => consumedCapacity(input['ReturnConsumedCapacity'], name, consumed) ?? [],
  )
  pieces.push(`]${furtherMembers({ ConsumedCapacity: capacity.length > 0 ? capacity : undefined })}}`)
  return joinReply(pieces)
}
