// A server of the comparison: one of ours, a peer or a bare server.
import { type MeasuredServer, type Missing, startServer } from '../../src/bench/targets/server.js'
import type { Spent } from '../profile/profiled.js'
import type { SelfTimes } from '../profile/self-times.js'
import { type Build, commandOf, profiledCommand, TARGET_TITLES, type TargetName } from './commands.js'

export interface Target extends MeasuredServer {
  /** Of a server that was started to be profiled: from one call to the next. */
  readonly profiler?: ServerProfiler
}

export interface ServerProfiler {
  begin(): Promise<void>
  end(): Promise<SelfTimes>
  watch(): Promise<void>
  /** Since `watch`. */
  spent(): Promise<Spent>
}

export interface StartOptions {
  /** More arguments of its command line. */
  readonly extra?: readonly string[]
  readonly profiled?: true
  /** Of ours. */
  readonly build?: Build
}

export async function startTarget(
  name: TargetName,
  { extra = [], profiled, build }: StartOptions = {},
): Promise<Target | Missing> {
  const server = await startServer({
    name,
    title: TARGET_TITLES[name],
    commandAt(place) {
      const command = commandOf(name, place, extra, build)
      return profiled === true && !('missing' in command) ? profiledCommand(command) : command
    },
  })
  return profiled === true && !('missing' in server) ? { ...server, profiler: profilerOf(server) } : server
}

function profilerOf(server: MeasuredServer): ServerProfiler {
  return {
    begin: async () => void (await server.ask('begin')),
    end: async () => (await server.ask('end')) as SelfTimes,
    watch: async () => void (await server.ask('watch')),
    spent: async () => (await server.ask('spent')) as Spent,
  }
}
