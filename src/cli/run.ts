// Finds the command and turns what goes wrong into a sentence and an exit code: 0 done, 1 it could not, 2 wrong usage.
import { messageOf } from '../model/message-of.js'
import { UsageError } from './command/arguments.js'
import { version } from './command/version.js'
import type { CommandEnvironment } from './command/environment.js'

export interface Command {
  /** One line for the list of commands. */
  readonly summary: string
  readonly load: () => Promise<{
    readonly help: string
    run(args: readonly string[], world: CommandEnvironment): Promise<number>
  }>
}

const COMMANDS: ReadonlyMap<string, Command> = new Map<string, Command>([
  ['start', { summary: 'serve a store over HTTP', load: () => import('./server/start.js') }],
  [
    'health',
    { summary: 'ask a running server whether it is healthy', load: () => import('./server/health.js') },
  ],
  [
    'transactions',
    {
      summary: 'list transactions in flight, stalled, and recently completed',
      load: () => import('./operate/transactions.js'),
    },
  ],
  [
    'locks',
    {
      summary: 'list who holds and who waits for locks; break one',
      load: () => import('./operate/locks.js'),
    },
  ],
  [
    'changes',
    { summary: 'follow the changes of a table on the terminal', load: () => import('./operate/changes.js') },
  ],
  ['sql', { summary: 'run statements of PartiQL on any endpoint', load: () => import('./sql/sql.js') }],
  ['mcp', { summary: 'serve tables to agents and editors (MCP)', load: () => import('./mcp/mcp.js') }],
  [
    'ledger',
    { summary: 'export and verify a ledger; watch and cosign one', load: () => import('./ledger/ledger.js') },
  ],
  [
    'export',
    { summary: 'copy a table of any endpoint into a folder', load: () => import('./copies/export.js') },
  ],
  [
    'import',
    {
      summary: 'bring such a folder into a table of any endpoint',
      load: () => import('./copies/import.js'),
    },
  ],
  [
    'backup',
    { summary: 'make backups of tables of a running server', load: () => import('./copies/backup.js') },
  ],
  [
    'restore',
    {
      summary: 'bring a data folder back to a moment, in another folder',
      load: () => import('./copies/restore.js'),
    },
  ],
  [
    'verify',
    { summary: 'check a folder of data, changing nothing', load: () => import('./operate/verify.js') },
  ],
  [
    'sweep',
    {
      summary: 'finish or roll back what transactions on any endpoint left behind',
      load: () => import('./operate/sweep.js'),
    },
  ],
  ['demo', { summary: 'scenes about transactions, told and checked', load: () => import('./demo/demo.js') }],
  [
    'bench',
    { summary: 'measure this store, or any endpoint, on this machine', load: () => import('./bench.js') },
  ],
])

/** The last one as DynamoDB Local has it. */
const HELP: ReadonlySet<string> = new Set(['--help', '-h', '-help'])

export async function run(args: readonly string[], world: CommandEnvironment): Promise<number> {
  const [name, ...rest] = args
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    world.print(overview())
    return name === undefined ? 2 : 0
  }
  if (name === '--version' || name === '-v') {
    world.print(version())
    return 0
  }
  const command = COMMANDS.get(name)
  if (command === undefined) {
    const what = name.startsWith('-') ? 'option' : 'command'
    world.printError(
      `seriatim: there is no ${what} '${name}'; the commands are ${[...COMMANDS.keys()].join(', ')}`,
    )
    return 2
  }
  try {
    const loaded = await command.load()
    // Of a command of commands, its own says more.
    if (rest.some((arg) => HELP.has(arg)) && !(name === 'ledger' && rest.length > 1)) {
      world.print(loaded.help)
      return 0
    }
    return await loaded.run(rest, world)
  } catch (error) {
    world.printError(`seriatim ${name}: ${messageOf(error)}`)
    return error instanceof UsageError ? 2 : 1
  }
}

function overview(): string {
  const lines = [...COMMANDS].map(([name, { summary }]) => `  seriatim ${name.padEnd(12)} ${summary}`)
  return [
    'ACID transactions for DynamoDB-shaped data.',
    '',
    ...lines,
    '',
    '`seriatim <command> --help` says more, `seriatim --version` the version.',
  ].join('\n')
}
