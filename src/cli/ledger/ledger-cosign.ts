// seriatim ledger cosign: takes the newest checkpoint of a ledger to witnesses.
import { cosignedCheckpoint } from '../../mirror/cosign.js'
import { writeWhole } from '../../runtime/small-files.js'
import { readArguments, UsageError } from '../command/arguments.js'
import type { CommandEnvironment } from '../command/environment.js'
import { sourceAt, readTrust, TRUST_HELP, TRUST_OPTIONS } from './ledger-trust.js'

export const help = `seriatim ledger cosign --endpoint URL --key KEY --witness URL [--out FILE]

  --endpoint URL     a running server, or the address of an exported folder that is hosted somewhere
  --witness URL      of a witness (C2SP tlog-witness); may be repeated
  --out FILE         where the checkpoint goes: printed, unless it is said
${TRUST_HELP}

Fetches the newest checkpoint, gives it to each witness with the proof that it goes on where the witness's last one ended, and adds
their signatures. With --witness-key their signatures are verified, too.`

const OPTIONS = {
  endpoint: { type: 'string' },
  witness: { type: 'string', multiple: true, default: [] as string[] },
  out: { type: 'string' },
  ...TRUST_OPTIONS,
} as const

export async function run(args: readonly string[], world: CommandEnvironment): Promise<number> {
  const { values } = readArguments(args, OPTIONS)
  const source = sourceAt(values.endpoint)
  if (values.witness.length === 0) throw new UsageError('give at least one --witness URL')
  const trust = readTrust(values)
  const { note } = await cosignedCheckpoint(source, values.witness, trust)
  if (values.out === undefined) world.print(note.trimEnd())
  else await writeWhole(values.out, note)
  return 0
}
