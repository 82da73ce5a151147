// seriatim verify: look at a folder of data without changing it.
import { readArguments, UsageError } from './arguments.js'
import type { World } from './world.js'

export const help = `seriatim verify [--path DIR]

  --path DIR     the folder of data: ./data unless told otherwise; no server may be using it

Checks the journal and the index, and changes nothing. Ends with 0 if the folder is sound, with 1 if it is not.`

const OPTIONS = { path: { type: 'string', default: './data' } } as const

export async function run(args: readonly string[], world: World): Promise<number> {
  const { path } = readArguments(args, OPTIONS).values
  if (path === '') throw new UsageError('--path must name a folder')
  const { problems, summary } = await world.verifyFolder(path)
  for (const problem of problems) world.printError(`seriatim verify: ${problem}`)
  world.print(summary)
  return problems.length === 0 ? 0 : 1
}
