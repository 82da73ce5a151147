// A command's environment in a real process.
import { workerPlace } from './server/worker-place.js'
import { credentials, type CommandEnvironment } from './command/environment.js'

export function processEnvironment(): CommandEnvironment {
  return {
    print: (line) => process.stdout.write(line + '\n'),
    printError: (line) => process.stderr.write(line + '\n'),
    onSignal: (callback) => {
      const signals = ['SIGINT', 'SIGTERM'] as const
      for (const signal of signals) process.on(signal, callback)
      return () => {
        for (const signal of signals) process.off(signal, callback)
      }
    },
    onHangup: (callback) => {
      process.on('SIGHUP', callback)
      return () => {
        process.off('SIGHUP', callback)
      }
    },
    exitNow: (code) => process.exit(code),
    openStore: async (options, hub) => {
      const { openLocalStore } = await import('../store/local-store.js')
      if (options.engine === undefined) return openLocalStore(options, undefined, hub)
      const { cassandra } = await import('../engine/cassandra/cassandra.js')
      return openLocalStore({ ...options, engine: cassandra(options.engine) })
    },
    ...workerPlace(process.env),
    verifyFolder: async (path, options) =>
      (await import('./operate/verify-folder.js')).verifyDataFolder(path, options),
    listTransactions: async (place, limit) => {
      const { transactionsIn, transactionsOf } = await import('./operate/find-transactions.js')
      return 'path' in place
        ? transactionsIn(place.path, limit)
        : transactionsOf(place.endpoint, limit, credentials())
    },
  }
}
