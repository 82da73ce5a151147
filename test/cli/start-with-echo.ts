// `seriatim` as a process, with a store of a few lines in the place of the real one; for the test of signals.
import { run } from '../../src/cli/run.js'
import { processWorld } from '../../src/cli/world.js'
import { listen } from '../../src/server/http-server.js'
import { echoRouter } from '../server/support.js'

process.exitCode = await run(process.argv.slice(2), {
  ...processWorld(),
  openStore: async () => ({ listen: (options) => listen(echoRouter, options), close: async () => {} }),
})
