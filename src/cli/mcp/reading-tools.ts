// The tools that read: tables, items, queries, statements, transactions, history and proofs.
import { EXTENSION_PREFIX } from '../../port/extension.js'
import type { Proven } from '../../verify/proof.js'
import { answerText, AnswerTooLarge, pageAnswer, sizesOf, wholeAnswer, type AnswerPage } from './answers.js'
import { explainedStatement, readingStatement } from './statement-guard.js'
import type { Tool, ToolArgument, ToolInput } from './tool.js'

export interface ReadingTerms {
  readonly answerBytesMax: number
  /** Of which writing statements are explained. */
  readonly writableTables: ReadonlySet<string>
  /** Checks the text of a proof, by the key that was given at the start or else by that of the endpoint. */
  readonly prove: (
    proof: string,
    endpointKey: string,
  ) => Promise<{ readonly proven: Proven; readonly keyFrom: string }>
}

const ROWS_DEFAULT = 50
const ROWS_MAX = 1000
export const DYNAMODB = 'DynamoDB_20120810.'

export const tableName: ToolArgument = {
  type: 'string',
  required: true,
  description: 'The name of a table',
}
export const keyOf: ToolArgument = {
  type: 'object',
  required: true,
  description:
    'The key of an item as DynamoDB JSON: {"id":{"S":"a"},"year":{"N":"1965"}}. A number is a string of digits',
}
export const names: ToolArgument = {
  type: 'object',
  description: 'ExpressionAttributeNames: {"#n":"name"}',
}
export const values: ToolArgument = {
  type: 'object',
  description: 'ExpressionAttributeValues as DynamoDB JSON: {":v":{"N":"1"}}',
}
const projection: ToolArgument = {
  type: 'string',
  description: 'Only these attributes: "id, #n, address.city"',
}
const limit: ToolArgument = {
  type: 'integer',
  minimum: 1,
  maximum: ROWS_MAX,
  description: `Rows to look at: ${ROWS_DEFAULT}; an answer may have fewer and say where to go on`,
}
const consistent: ToolArgument = { type: 'boolean', description: 'A strongly consistent read' }
const nextToken: ToolArgument = { type: 'string', description: 'NextToken of the page before' }
const ranged: Tool['arguments'] = {
  TableName: tableName,
  IndexName: { type: 'string', description: 'The name of an index of the table' },
  FilterExpression: { type: 'string', description: 'A filter of the rows' },
  ProjectionExpression: projection,
  ExpressionAttributeNames: names,
  ExpressionAttributeValues: values,
  ConsistentRead: consistent,
  Limit: limit,
  ExclusiveStartKey: { type: 'object', description: 'LastEvaluatedKey of the page before' },
}
export const statement: ToolArgument = {
  type: 'string',
  required: true,
  description: 'One statement of PartiQL: SELECT * FROM "Music" WHERE artist = ?',
}
export const parameters: ToolArgument = {
  type: 'array',
  description: 'The values of its question marks as DynamoDB JSON: [{"S":"Nina"}]',
}

export function readingTools({ answerBytesMax, writableTables, prove }: ReadingTerms): readonly Tool[] {
  const whole = (answer: unknown, hint = 'Nothing of it is shown.'): string =>
    wholeAnswer(answer, answerBytesMax, hint)
  const page = (operation: string, input: ToolInput, rows: AnswerPage['rows']): AnswerPage => {
    const { Limit = ROWS_DEFAULT, ...rest } = input
    return { operation, input: rest, rows, rowsMax: Limit as number, bytesMax: answerBytesMax }
  }
  const tool = (name: string, description: string, known: Tool['arguments'], run: Tool['run']): Tool => ({
    name,
    description,
    effect: 'reads',
    arguments: known,
    run,
  })

  return [
    tool(
      'list_tables',
      'The names of the tables.',
      {
        ExclusiveStartTableName: { type: 'string', description: 'LastEvaluatedTableName of the page before' },
      },
      async (input, ask) => whole(await ask(`${DYNAMODB}ListTables`, { ...input, Limit: 100 })),
    ),
    tool(
      'describe_table',
      'The keys, indexes, counts and sizes of a table.',
      { TableName: tableName },
      async (input, ask) => whole(await ask(`${DYNAMODB}DescribeTable`, input)),
    ),
    tool(
      'get_item',
      'One item by its key, as DynamoDB JSON.',
      {
        TableName: tableName,
        Key: keyOf,
        ProjectionExpression: projection,
        ExpressionAttributeNames: names,
        ConsistentRead: consistent,
      },
      async (input, ask) => {
        const answer = (await ask(`${DYNAMODB}GetItem`, input)) as { readonly Item?: object }
        try {
          return whole(answer)
        } catch (error) {
          if (!(error instanceof AnswerTooLarge) || answer.Item === undefined) throw error
          return whole({ LeftOut: [sizesOf(answer.Item)], Hint: 'Ask for fewer attributes.' })
        }
      },
    ),
    tool(
      'query',
      'Items of one partition key, in the order of their sort key, of a table or an index.',
      {
        ...ranged,
        KeyConditionExpression: {
          type: 'string',
          required: true,
          description: 'Such as "artist = :a AND #y BETWEEN :from AND :to"',
        },
        ScanIndexForward: { type: 'boolean', description: 'false: the last ones first' },
      },
      (input, ask) => pageAnswer(ask, page(`${DYNAMODB}Query`, input, 'Items')),
    ),
    tool(
      'scan',
      'Items of a whole table or index, page by page. Prefer query where the partition key is known.',
      ranged,
      (input, ask) => pageAnswer(ask, page(`${DYNAMODB}Scan`, input, 'Items')),
    ),
    tool(
      'select',
      'Runs a SELECT of PartiQL. Statements that write are refused.',
      {
        Statement: statement,
        Parameters: parameters,
        Limit: limit,
        NextToken: nextToken,
        ConsistentRead: consistent,
      },
      (input, ask) => {
        readingStatement(input['Statement'] as string)
        return pageAnswer(ask, page(`${DYNAMODB}ExecuteStatement`, input, 'Items'))
      },
    ),
    tool(
      'explain',
      'What a statement of PartiQL would read or write, without running it: operation, index, key, capacity. Seriatim only.',
      { Statement: statement, Parameters: parameters },
      async (input, ask) => {
        const Statement = explainedStatement(input['Statement'] as string, writableTables)
        return whole(await ask(`${DYNAMODB}ExecuteStatement`, { ...input, Statement }))
      },
    ),
    tool(
      'list_transactions',
      'Transactions in flight, stalled, and recently completed, with their items and the reasons of cancelled ones. Seriatim only.',
      { Limit: limit },
      (input, ask) => pageAnswer(ask, page(`${EXTENSION_PREFIX}ListTransactions`, input, 'InFlight')),
    ),
    tool(
      'item_history',
      'The versions of an item of a ledger table, the oldest first. Seriatim only.',
      {
        TableName: tableName,
        Key: keyOf,
        From: {
          type: 'string',
          description: 'What was current from this time on, such as 2030-01-31T12:00:00Z',
        },
        To: { type: 'string', description: 'until this time' },
        FromVersion: { type: 'integer', description: 'The first version' },
        ToVersion: { type: 'integer', description: 'The last version' },
        Limit: limit,
        NextToken: nextToken,
      },
      (input, ask) => pageAnswer(ask, page(`${EXTENSION_PREFIX}ListRevisions`, input, 'Revisions')),
    ),
    tool(
      'get_digest',
      'The signed checkpoint of all that was committed to ledger tables, and the public key. Seriatim only.',
      {},
      async (input, ask) => whole(await ask(`${EXTENSION_PREFIX}GetDigest`, input)),
    ),
    tool(
      'prove_item',
      'A proof of one version of an item of a ledger table, verified here: what it proves is answered, not what the endpoint claims. Seriatim only.',
      {
        TableName: tableName,
        Key: keyOf,
        Version: { type: 'integer', description: 'The newest unless told otherwise' },
      },
      async (input, ask) => {
        const { Size, Key } = (await ask(`${EXTENSION_PREFIX}GetDigest`, {})) as { Size: number; Key: string }
        const { Proof } = (await ask(`${EXTENSION_PREFIX}GetRevision`, { ...input, DigestSize: Size })) as {
          readonly Proof: string
        }
        const { proven, keyFrom } = await prove(Proof, Key)
        return provenText(proven, keyFrom, Proof, answerBytesMax)
      },
    ),
  ]
}

/** The proof itself is left out if only the rest has room. */
function provenText(
  { checkpoint, header, entry, item }: Proven,
  keyFrom: string,
  proof: string,
  bytesMax: number,
): string {
  const proves = {
    Verified: true,
    KeyFrom: keyFrom,
    Ledger: { Origin: checkpoint.origin, Blocks: checkpoint.size, Witnesses: checkpoint.witnesses },
    Block: header,
    Entry: entry,
    Item: item,
  }
  const text = answerText({ ...proves, Proof: proof })
  return Buffer.byteLength(text) <= bytesMax
    ? text
    : wholeAnswer({ ...proves, ProofBytes: proof.length }, bytesMax, 'Use seriatim ledger prove.')
}
