// npm run sim -- [locks] ...: the simulators of the store and of locks. They prove what ships and do not ship with it.
import { UsageError } from '../../src/cli/command/arguments.js'
import { processEnvironment } from '../../src/cli/process-environment.js'

const [first = '', ...others] = process.argv.slice(2)
const isLocks = first === 'locks'
const args = isLocks ? others : process.argv.slice(2)
const { help, run } = isLocks ? await import('./locks.js') : await import('./worlds.js')
const world = processEnvironment()
if (args.includes('--help')) world.print(help)
else
  try {
    process.exitCode = await run(args, world)
  } catch (error) {
    world.printError(`sim: ${error instanceof Error ? error.message : String(error)}`)
    process.exitCode = error instanceof UsageError ? 2 : 1
  }
