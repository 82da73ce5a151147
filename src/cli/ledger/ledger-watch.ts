// seriatim ledger watch: one look at a server, against what was seen before.
import { LedgerRewritten } from '../../mirror/ledger-rewritten.js'
import { checkAndRemember } from '../../mirror/watch.js'
import { readArguments, UsageError } from '../command/arguments.js'
import type { CommandEnvironment } from '../command/environment.js'
import { sourceAt, readTrust, TRUST_HELP, TRUST_OPTIONS } from './ledger-trust.js'

export const help = `seriatim ledger watch FILE --endpoint URL --key KEY

  FILE               the last checkpoint that was seen; made by the first call
  --endpoint URL     a running server, or the address of an exported folder that is hosted somewhere
${TRUST_HELP}

Fetches the newest checkpoint. If the ledger begins with everything that the one in FILE is of, it takes that one's place. If not, the
server has rewritten its past: the command ends with 1, leaves FILE as it is, and prints both signed checkpoints, which show it to others.`

const OPTIONS = { endpoint: { type: 'string' }, ...TRUST_OPTIONS } as const

export async function run(args: readonly string[], world: CommandEnvironment): Promise<number> {
  const { values, positionals } = readArguments(args, OPTIONS, 'with positionals')
  const [file, ...more] = positionals
  if (file === undefined || more.length > 0)
    throw new UsageError('give the file that remembers the checkpoint')
  const source = sourceAt(values.endpoint)
  try {
    const { origin, size } = await checkAndRemember(source, file, readTrust(values))
    world.print(`${origin}: ${size} blocks, and none of those seen before has changed`)
    return 0
  } catch (error) {
    if (!(error instanceof LedgerRewritten)) throw error
    world.print(`${error.earlier}\n${error.later}`)
    throw error
  }
}
