// seriatim ledger export: a ledger as a folder.
import { exportLedger } from '../../mirror/export-ledger.js'
import { readArguments, UsageError } from '../command/arguments.js'
import type { CommandEnvironment } from '../command/environment.js'
import { progressOf, sourceAt, readTrust, TRUST_HELP, TRUST_OPTIONS } from './ledger-trust.js'

export const help = `seriatim ledger export DIR --endpoint URL --key KEY

  --endpoint URL     a running server, or the address of an exported folder that is hosted somewhere
${TRUST_HELP}

Writes the checkpoint, the tiles, the headers and the blocks to DIR, under the paths that the server has below /ledger/: any web server
can host the folder. Into a folder that has an export already, only what is new is written, if it goes on where that one ended; an
export that was ended before it was through goes on where it was. Data that was redacted since is removed from the folder.`

const OPTIONS = { endpoint: { type: 'string' }, ...TRUST_OPTIONS } as const

export async function run(args: readonly string[], world: CommandEnvironment): Promise<number> {
  const { values, positionals } = readArguments(args, OPTIONS, 'with positionals')
  const [folder, ...more] = positionals
  if (folder === undefined || more.length > 0) throw new UsageError('give one folder to export to')
  const source = sourceAt(values.endpoint)
  const { checkpoint, filesWritten } = await exportLedger(source, folder, readTrust(values), {
    onProgress: progressOf((line) => world.printError(`seriatim ledger export: ${line}`)),
  })
  world.print(`${folder}: ${checkpoint.size} blocks of ${checkpoint.origin}, ${filesWritten} files written`)
  return 0
}
