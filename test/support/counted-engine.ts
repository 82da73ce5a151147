// An engine whose calls are counted.
import type { Engine } from '../../src/engine/engine.js'

export interface EngineCalls {
  read: number
  cas: number
  write: number
  range: number
  /** The longest chain of calls that waited for each other is at most the number of rounds in which calls were sent. */
  rounds: number
}

/** The same engine, each call of which takes at least a turn; and how many there were. */
export interface CountedEngine {
  readonly engine: Engine
  readonly calls: EngineCalls
  /** What was counted since the last time. */
  readonly take: () => EngineCalls
}

export function countedEngine(engine: Engine): CountedEngine {
  const calls: EngineCalls = { read: 0, cas: 0, write: 0, range: 0, rounds: 0 }
  let waiting: (() => void)[] = []
  /** All calls that are sent before one of them is answered are one round. */
  const counted = async <T>(name: 'read' | 'cas' | 'write' | 'range', call: () => Promise<T>): Promise<T> => {
    calls[name]++
    await new Promise<void>((resolve) => {
      waiting.push(resolve)
      if (waiting.length > 1) return
      setImmediate(() => {
        calls.rounds++
        const all = waiting
        waiting = []
        for (const go of all) go()
      })
    })
    return call()
  }
  return {
    calls,
    take: () => {
      const taken = { ...calls }
      Object.assign(calls, { read: 0, cas: 0, write: 0, range: 0, rounds: 0 })
      return taken
    },
    engine: {
      name: engine.name,
      limits: engine.limits,
      scopeOf: (address) => engine.scopeOf(address),
      read: (...args) => counted('read', () => engine.read(...args)),
      cas: (...args) => counted('cas', () => engine.cas(...args)),
      write: (...args) => counted('write', () => engine.write(...args)),
      range: (...args) => counted('range', () => engine.range(...args)),
      createSpace: (space) => engine.createSpace(space),
      dropSpace: (space) => engine.dropSpace(space),
      close: () => engine.close(),
    },
  }
}
