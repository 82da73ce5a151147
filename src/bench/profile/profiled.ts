// Loaded into a server before anything else (node --import): makes a processor profile of it from one word on its channel
// to the next, and answers where the time went; or for how long its main thread was busy. Costs nothing until it is asked.
import { type Profiler, Session } from 'node:inspector'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { selfTimes } from './self-times.js'

export interface Spent {
  readonly activeMs: number
  readonly longestMs: number
}

const SAMPLING_MICROS = 250

const session = new Session()
session.connect()

function post(method: string, params: object = {}): Promise<unknown> {
  return new Promise((resolve, reject) => {
    session.post(method, params, (error, result) => {
      if (error === null) resolve(result)
      else reject(error)
    })
  })
}

async function begin(): Promise<object> {
  await post('Profiler.enable')
  await post('Profiler.setSamplingInterval', { interval: SAMPLING_MICROS })
  await post('Profiler.start')
  return {}
}

async function end(): Promise<object> {
  const { profile } = (await post('Profiler.stop')) as { readonly profile: Profiler.Profile }
  return selfTimes(profile)
}

const RESOLUTION_MS = 1
const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
let before = performance.eventLoopUtilization()
let cpuBefore = process.cpuUsage()

/** For how long the main thread was busy, and for how long at a stretch, since it was last asked. */
function spent(): Promise<Spent> {
  const now = performance.eventLoopUtilization()
  const activeMs = performance.eventLoopUtilization(now, before).active
  const { user, system } = process.cpuUsage(cpuBefore)
  // On a busy machine a stretch lasts longer than it takes: never longer than what the process has computed in all.
  const longestMs = Math.min(Math.max(0, delay.max / 1e6 - RESOLUTION_MS), (user + system) / 1000)
  before = now
  cpuBefore = process.cpuUsage()
  delay.enable()
  delay.reset()
  return Promise.resolve({ activeMs, longestMs })
}

const WORDS: Readonly<Record<string, () => Promise<object>>> = { begin, end, spent }

process.on('message', (word: string) => {
  const answer = WORDS[word]?.()
  void answer?.then(
    (result) => process.send?.(result),
    (error: unknown) => process.send?.({ error: String(error) }),
  )
})
// The channel alone keeps nobody alive.
process.channel?.unref()
