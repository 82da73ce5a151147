// seriatim ledger: what a ledger has, and whether it is true. Each command is a file of its own beside this one.
import { UsageError } from '../command/arguments.js'
import type { CommandEnvironment } from '../command/environment.js'
import * as ask from './ledger-ask.js'
import * as cosign from './ledger-cosign.js'
import * as copy from './ledger-export.js'
import * as verify from './ledger-verify.js'
import * as watch from './ledger-watch.js'
import * as witness from './ledger-witness.js'

interface LedgerCommand {
  /** One line for the list of commands. */
  readonly summary: string
  readonly command: {
    readonly help: string
    run(args: readonly string[], world: CommandEnvironment): Promise<number>
  }
}

const COMMANDS: ReadonlyMap<string, LedgerCommand> = new Map<string, LedgerCommand>([
  ['digest', { summary: 'print a signed checkpoint of now', command: ask.printDigest }],
  ['block', { summary: 'print a block', command: ask.printBlock }],
  ['history', { summary: 'print the versions of an item', command: ask.printHistory }],
  ['prove', { summary: 'print a proof of a version of an item', command: ask.printProof }],
  ['redact', { summary: 'remove the data of an old version', command: ask.redactVersion }],
  ['export', { summary: 'copy a ledger to a folder that any web server can host', command: copy }],
  ['verify', { summary: 'check an exported ledger, or one proof, offline', command: verify }],
  ['watch', { summary: 'refuse a server that has rewritten its past', command: watch }],
  ['witness', { summary: 'cosign checkpoints of other servers', command: witness }],
  ['cosign', { summary: 'ask witnesses to cosign a checkpoint', command: cosign }],
])

export const help = [
  'seriatim ledger COMMAND',
  '',
  ...[...COMMANDS].map(([name, { summary }]) => `  seriatim ledger ${name.padEnd(9)} ${summary}`),
  '',
  '`seriatim ledger COMMAND --help` says more.',
].join('\n')

export async function run(args: readonly string[], world: CommandEnvironment): Promise<number> {
  const [name = '', ...rest] = args
  const found = COMMANDS.get(name)
  if (found === undefined)
    throw new UsageError(
      `give one of the commands ${[...COMMANDS.keys()].join(', ')}${name === '' ? '' : `, not '${name}'`}`,
    )
  const { command } = found
  if (rest.includes('--help') || rest.includes('-h')) {
    world.print(command.help)
    return 0
  }
  return command.run(rest, world)
}
