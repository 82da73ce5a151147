#!/usr/bin/env node
// The command line. Each command is a file of its own, loaded when it is asked for.
import { run } from './run.js'
import { processWorld } from './world.js'

process.exitCode = await run(process.argv.slice(2), processWorld())
// Everything is closed by now. Should something keep the process alive all the same, end it.
setTimeout(() => process.exit(), 1000).unref()
