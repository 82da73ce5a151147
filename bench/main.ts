// npm run bench -- ...: the benchmarks beside the package, which know its peers and make the page of figures.
import { UsageError } from '../src/cli/command/arguments.js'
import { processEnvironment } from '../src/cli/process-environment.js'
import { help, run } from './command.js'

const args = process.argv.slice(2)
const world = processEnvironment()
if (args.includes('--help') || args.includes('-h')) {
  world.print(help)
} else {
  try {
    process.exitCode = await run(args, world)
  } catch (error) {
    world.printError(`bench: ${error instanceof Error ? error.message : String(error)}`)
    process.exitCode = error instanceof UsageError ? 2 : 1
  }
}
