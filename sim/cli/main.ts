// npm run sim -- [locks | workers] ...: the simulators of the store, of locks, and of tables at several workers. They prove what ships and do not ship with it.
import { UsageError } from '../../src/cli/command/arguments.js'
import { processEnvironment } from '../../src/cli/process-environment.js'

const [first = '', ...others] = process.argv.slice(2)
const isNamed = first === 'locks' || first === 'workers'
const args = isNamed ? others : process.argv.slice(2)
const { help, run } = await (first === 'locks'
  ? import('./locks.js')
  : first === 'workers'
    ? import('./workers.js')
    : import('./worlds.js'))
const world = processEnvironment()
if (args.includes('--help')) world.print(help)
else
  try {
    process.exitCode = await run(args, world)
  } catch (error) {
    world.printError(`sim: ${error instanceof Error ? error.message : String(error)}`)
    process.exitCode = error instanceof UsageError ? 2 : 1
  }
