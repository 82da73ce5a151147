// seriatim verify: look at a folder of data without changing it, or mend it.
import { readArguments, UsageError } from '../command/arguments.js'
import type { CommandEnvironment } from '../command/environment.js'

export const help = `seriatim verify [--path DIR] [--buckets DIR] [--repair [--drop-damaged]]

  --path DIR     the folder of data: ./data unless told otherwise; no server may be using it
  --buckets DIR  the folder of buckets that the server is started with: backups are kept there
  --repair         if it is not sound, make its indexes anew from what can be read and from what follows from it; the old
                   files are kept beside them
  --drop-damaged   with --repair: leave out records that cannot be mended. Otherwise they stay, and reading them is an error

Checks the journal, the index, the log of commits and the files of backups, and without --repair changes nothing. A damaged backup
cannot be mended: --repair sets its file aside and says what that means. Ends with 0 if the folder is sound, with 1 if it is not.`

const OPTIONS = {
  path: { type: 'string', default: './data' },
  buckets: { type: 'string' },
  repair: { type: 'boolean', default: false },
  'drop-damaged': { type: 'boolean', default: false },
} as const

export async function run(args: readonly string[], world: CommandEnvironment): Promise<number> {
  const { path, buckets, repair, 'drop-damaged': dropDamaged } = readArguments(args, OPTIONS).values
  if (path === '') throw new UsageError('--path must name a folder')
  if (dropDamaged && !repair) throw new UsageError('--drop-damaged goes with --repair')
  const { problems, repaired, summary } = await world.verifyFolder(path, {
    repair,
    dropDamaged,
    ...(buckets !== undefined && { buckets }),
    onProgress: (sentence) => world.printError(`seriatim verify: ${sentence}`),
  })
  for (const sentence of repaired ?? []) world.print(sentence)
  for (const problem of problems) world.printError(`seriatim verify: ${problem}`)
  world.print(summary)
  return problems.length === 0 ? 0 : 1
}
