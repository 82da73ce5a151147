// Runs the simulator in a process of its own; resolves to its exit code and what it printed.
import { spawn } from 'node:child_process'

// A world is garbage when it is over: a larger young generation lets most of it die there.
const NODE_FLAGS = ['--enable-source-maps', '--max-semi-space-size=32']

export function simulate(args, onOutput = () => undefined) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [...NODE_FLAGS, 'dist/sim/cli/main.js', ...args])
    let output = ''
    const take = (text) => {
      output += text
      onOutput(output)
    }
    child.stdout.on('data', take)
    child.stderr.on('data', take)
    child.on('close', (code) => resolve({ code, output }))
  })
}
