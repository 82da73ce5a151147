#!/usr/bin/env node
// The command line. Each command is a file of its own, loaded when it is asked for.
import module from 'node:module'
import { run } from './run.js'
import { processEnvironment } from './process-environment.js'
import { boundYoungSpace, nodesIn, youngSpaceBytesFor } from './server/young-space.js'

// From Node 22.1 on: what is compiled is kept for the next start, in the temporary folder, unless NODE_DISABLE_COMPILE_CACHE
// is set. The commands below are loaded after this line.
;(module as { readonly enableCompileCache?: () => unknown }).enableCompileCache?.()

// Whoever reads our output may stop reading, as `head` does.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
// And a server goes on although its terminal is gone.
process.stderr.on('error', () => undefined)

// A server lives long and shall stay small.
if (process.argv[2] === 'start') boundYoungSpace(youngSpaceBytesFor(nodesIn(process.argv)))

process.exitCode = await run(process.argv.slice(2), processEnvironment())
// Everything is closed by now. Should something keep the process alive all the same, end it.
setTimeout(() => process.exit(), 1000).unref()
