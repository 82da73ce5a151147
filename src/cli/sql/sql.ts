// seriatim sql: statements of PartiQL against any endpoint, one after the other, with their rows as tables.
import { messageOf } from '../../model/message-of.js'
import { createInterface } from 'node:readline'
import type { Item } from '../../model/value.js'
import { readArguments, UsageError } from '../command/arguments.js'
import { askEndpoint, Refused } from '../command/ask-endpoint.js'
import { credentials, type CommandEnvironment } from '../command/environment.js'
import { tableLines } from './sql-table.js'

export const help = `seriatim sql --endpoint URL [--strict] [STATEMENT]

  --endpoint URL   a running server, or any DynamoDB endpoint; AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY sign the requests
  --strict         refuse a SELECT that would read a whole table; Seriatim only

With a STATEMENT it runs that and ends. Without one it reads statements from its input, each until a ; at the end of a line, and
on a terminal shows a prompt with the history of the session. Ends with 0 if every statement was answered, else with 1.

  \\d               the tables
  \\d TABLE         the key and the indexes of a table
  \\?               this list
  \\q               end
  EXPLAIN SELECT … what a statement would do; Seriatim only`

const OPTIONS = { endpoint: { type: 'string' }, strict: { type: 'boolean', default: false } } as const

const PAGES_MAX = 100
const TARGET = 'DynamoDB_20120810.'

export async function run(args: readonly string[], world: CommandEnvironment): Promise<number> {
  const { values, positionals } = readArguments(args, OPTIONS, 'with positionals')
  const { endpoint, strict } = values
  if (endpoint === undefined || positionals.length > 1)
    throw new UsageError('give --endpoint URL, and at most one statement')
  if (!URL.canParse(endpoint))
    throw new UsageError(`--endpoint must be a URL such as http://127.0.0.1:8000, not '${endpoint}'`)
  const session = new SqlSession(endpoint, strict, world)
  const [statement] = positionals
  if (statement !== undefined) await session.take(statement)
  else await prompt(session)
  return session.failed ? 1 : 0
}

/** Lines of the input until it ends; a statement may have several of them. */
async function prompt(session: SqlSession): Promise<void> {
  const { stdin, stdout } = process
  const isTerminal = stdin.isTTY && stdout.isTTY
  const lines = createInterface({ input: stdin, terminal: isTerminal, ...(isTerminal && { output: stdout }) })
  const ask = (): void => {
    if (!isTerminal) return
    lines.setPrompt(session.isOpen ? '   ...> ' : 'seriatim> ')
    lines.prompt()
  }
  ask()
  for await (const line of lines) {
    await session.line(line)
    if (session.isOver) break
    ask()
  }
  lines.close()
  if (!session.isOver) await session.end()
}

/** What was typed so far, and what became of it. */
export class SqlSession {
  readonly #endpoint: string
  readonly #isStrict: boolean
  readonly #world: Pick<CommandEnvironment, 'print' | 'printError'>
  #text = ''
  #failed = false
  #isOver = false

  constructor(endpoint: string, isStrict: boolean, world: Pick<CommandEnvironment, 'print' | 'printError'>) {
    this.#endpoint = endpoint
    this.#isStrict = isStrict
    this.#world = world
  }

  get failed(): boolean {
    return this.#failed
  }
  get isOver(): boolean {
    return this.#isOver
  }
  /** A statement has begun and not ended. */
  get isOpen(): boolean {
    return this.#text !== ''
  }

  async line(line: string): Promise<void> {
    if (this.#text === '' && (line.trim() === '' || line.trim().startsWith('\\'))) return this.take(line)
    this.#text += this.#text === '' ? line : `\n${line}`
    if (!line.trimEnd().endsWith(';')) return
    await this.end()
  }

  /** Runs what has no ; yet. */
  async end(): Promise<void> {
    const text = this.#text
    this.#text = ''
    await this.take(text)
  }

  async take(text: string): Promise<void> {
    const [command = '', table] = text.trim().split(/\s+/)
    try {
      if (command === '') return
      if (command === '\\q') this.#isOver = true
      else if (command === '\\?') this.#world.print(help)
      else if (command === '\\d') await (table === undefined ? this.#tables() : this.#table(table))
      else if (command.startsWith('\\'))
        throw new Refused('Usage', `there is no ${command}; \\? lists what there is`)
      else await this.#execute(text.trim().replace(/;\s*$/, ''))
    } catch (error) {
      this.#failed = true
      const code = error instanceof Refused ? `${error.code}: ` : ''
      this.#world.printError(`${code}${messageOf(error)}`)
    }
  }

  async #execute(text: string): Promise<void> {
    const Statement = this.#isStrict && /^select\s/i.test(text) ? `STRICT ${text}` : text
    const items: Item[] = []
    let NextToken: string | undefined
    let pages = 0
    do {
      const page = (await this.#ask('ExecuteStatement', {
        Statement,
        ...(NextToken !== undefined && { NextToken }),
      })) as { readonly Items?: readonly Item[]; readonly NextToken?: string }
      items.push(...(page.Items ?? []))
      ;({ NextToken } = page)
    } while (NextToken !== undefined && ++pages < PAGES_MAX)
    for (const line of tableLines(items)) this.#world.print(line)
    if (NextToken !== undefined) this.#world.print(`(the first ${PAGES_MAX} pages; there are more)`)
  }

  async #tables(): Promise<void> {
    let start: string | undefined
    let pages = 0
    do {
      const page = (await this.#ask('ListTables', {
        ...(start !== undefined && { ExclusiveStartTableName: start }),
      })) as { readonly TableNames?: readonly string[]; readonly LastEvaluatedTableName?: string }
      for (const name of page.TableNames ?? []) this.#world.print(name)
      start = page.LastEvaluatedTableName
    } while (start !== undefined && ++pages < PAGES_MAX)
  }

  async #table(name: string): Promise<void> {
    const TableName = name.replaceAll(/["';]/g, '')
    const { Table } = (await this.#ask('DescribeTable', { TableName })) as { readonly Table: DescribedTable }
    const types = new Map(Table.AttributeDefinitions.map((one) => [one.AttributeName, one.AttributeType]))
    const key = (schema: KeyElements): string =>
      schema.map((one) => `${one.AttributeName} ${types.get(one.AttributeName)} ${one.KeyType}`).join(', ')
    this.#world.print(`${Table.TableName}: ${key(Table.KeySchema)}; ${Table.ItemCount ?? 0} items`)
    for (const index of [...(Table.GlobalSecondaryIndexes ?? []), ...(Table.LocalSecondaryIndexes ?? [])])
      this.#world.print(
        `  ${index.IndexName}: ${key(index.KeySchema)}; ${index.Projection?.ProjectionType ?? 'ALL'}`,
      )
  }

  #ask(operation: string, input: object): Promise<unknown> {
    return askEndpoint({
      endpoint: this.#endpoint,
      target: TARGET + operation,
      input,
      credentials: credentials(),
    })
  }
}

type KeyElements = readonly { readonly AttributeName: string; readonly KeyType: string }[]
interface DescribedIndex {
  readonly IndexName: string
  readonly KeySchema: KeyElements
  readonly Projection?: { readonly ProjectionType?: string }
}
interface DescribedTable {
  readonly TableName: string
  readonly ItemCount?: number
  readonly KeySchema: KeyElements
  readonly AttributeDefinitions: readonly { readonly AttributeName: string; readonly AttributeType: string }[]
  readonly GlobalSecondaryIndexes?: readonly DescribedIndex[]
  readonly LocalSecondaryIndexes?: readonly DescribedIndex[]
}
