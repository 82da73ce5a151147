// The command line without its process: what it prints is kept, and the test sends the signals.
import type { FolderReport, StoreLocation, CommandEnvironment } from '../../src/cli/command/environment.js'
import { listen } from '../../src/server/http-server.js'
import { echoRouter } from '../server/support.js'

/** A world in which the store is a router of a few lines, and signals come from the test. */
export function testWorld(router = echoRouter) {
  const out: string[] = []
  const errors: string[] = []
  const opened: StoreLocation[] = []
  const exits: number[] = []
  let closes = 0
  let signal: (name: NodeJS.Signals) => void = () => {}
  let hangup: () => void = () => {}
  let ready: (port: number) => void
  const listening = new Promise<number>((resolve) => (ready = resolve))
  const world: CommandEnvironment = {
    print: (line) => {
      out.push(line)
      const port = /^seriatim listening on https?:\/\/[^:]+:(\d+)$/.exec(line)?.[1]
      if (port !== undefined) ready(Number(port))
    },
    printError: (line) => errors.push(line),
    onSignal: (callback) => {
      signal = callback
      return () => (signal = () => {})
    },
    onHangup: (callback) => {
      hangup = callback
      return () => (hangup = () => {})
    },
    exitNow: (code) => exits.push(code),
    openStore: async (given) => {
      // What a store is told of its place and size: where it tells of its progress is no part of that.
      const { onProgress, ...options } = given as StoreLocation & { readonly onProgress?: unknown }
      if (typeof onProgress !== 'function') throw new TypeError('a server tells nobody of its progress')
      opened.push(options)
      return {
        listen: (listenOptions) => listen(router, listenOptions),
        close: async () => {
          closes++
        },
      }
    },
    verifyFolder: async (path): Promise<FolderReport> => ({
      problems: path === 'torn' ? ['the journal is torn'] : [],
      summary: `looked at ${path}`,
    }),
    listTransactions: async () => ({ InFlight: [], Recent: [] }),
  }
  return {
    world,
    out,
    errors,
    opened,
    exits,
    listening,
    closes: () => closes,
    signal: (name: NodeJS.Signals) => signal(name),
    hangup: () => hangup(),
  }
}
