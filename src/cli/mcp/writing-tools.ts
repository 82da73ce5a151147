// The tools that write, which are there only with --write, and only for the tables that it names.
import { AnswerTooLarge, wholeAnswer } from './answers.js'
import { DYNAMODB, keyOf, names, parameters, statement, tableName, values } from './reading-tools.js'
import { writableTable, writingStatement } from './statement-guard.js'
import { WrongToolCall, type Tool, type ToolArgument, type ToolInput } from './tool.js'

const condition: ToolArgument = {
  type: 'string',
  description: 'ConditionExpression: the write is refused unless it holds',
}
const returned = (...allowed: readonly string[]): ToolArgument => ({
  type: 'string',
  enum: ['NONE', ...allowed],
  description: 'What of the item is answered',
})
const ACTIONS: ReadonlySet<string> = new Set(['Put', 'Update', 'Delete', 'ConditionCheck'])

export function writingTools(tables: ReadonlySet<string>, answerBytesMax: number): readonly Tool[] {
  const only = `Tables that may be written to: ${[...tables].join(', ')}.`
  const tool = (
    name: string,
    description: string,
    known: Tool['arguments'],
    operation: string,
    check: (input: ToolInput) => void,
  ): Tool => ({
    name,
    description: `${description} ${only}`,
    effect: 'writes',
    arguments: known,
    async run(input, ask) {
      check(input)
      const answer = await ask(DYNAMODB + operation, input)
      try {
        return wholeAnswer(answer, answerBytesMax, '')
      } catch (error) {
        if (!(error instanceof AnswerTooLarge)) throw error
        return wholeAnswer({ Done: true, LeftOut: error.message }, answerBytesMax, '')
      }
    },
  })
  const namedTable = ({ TableName }: ToolInput): void => writableTable(TableName, tables)
  const conditional = {
    TableName: tableName,
    ConditionExpression: condition,
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
  }
  return [
    tool(
      'put_item',
      'Writes one item, in place of the one with its key.',
      {
        ...conditional,
        Item: { type: 'object', required: true, description: 'The item as DynamoDB JSON' },
        ReturnValues: returned('ALL_OLD'),
      },
      'PutItem',
      namedTable,
    ),
    tool(
      'update_item',
      'Changes attributes of one item.',
      {
        ...conditional,
        Key: keyOf,
        UpdateExpression: {
          type: 'string',
          required: true,
          description: 'Such as "SET stock = stock - :n REMOVE #old"',
        },
        ReturnValues: returned('ALL_OLD', 'UPDATED_OLD', 'ALL_NEW', 'UPDATED_NEW'),
      },
      'UpdateItem',
      namedTable,
    ),
    tool(
      'delete_item',
      'Deletes one item.',
      { ...conditional, Key: keyOf, ReturnValues: returned('ALL_OLD') },
      'DeleteItem',
      namedTable,
    ),
    tool(
      'transact_write_items',
      'Writes up to 100 items, all or none.',
      {
        TransactItems: {
          type: 'array',
          required: true,
          description:
            'Each with one of Put, Update, Delete, ConditionCheck, as TransactWriteItems of DynamoDB has them',
        },
        ClientRequestToken: { type: 'string', description: 'The same token again does the transaction once' },
      },
      'TransactWriteItems',
      ({ TransactItems }) => {
        for (const action of TransactItems as readonly unknown[]) checkAction(action, tables)
      },
    ),
    tool(
      'write_statement',
      'Runs an INSERT, UPDATE or DELETE of PartiQL.',
      { Statement: statement, Parameters: parameters },
      'ExecuteStatement',
      ({ Statement }) => void writingStatement(Statement as string, tables),
    ),
  ]
}

function checkAction(action: unknown, tables: ReadonlySet<string>): void {
  const entries = typeof action === 'object' && action !== null ? Object.entries(action) : []
  if (entries.length !== 1 || !ACTIONS.has(entries[0]![0]))
    throw new WrongToolCall(`Each of TransactItems has one of ${[...ACTIONS].join(', ')}`)
  const [, body] = entries[0]! as [string, { readonly TableName?: unknown } | null]
  writableTable(body?.TableName, tables)
}
