// Loaded into a server before anything else (node --import): makes a processor profile of it from one word on its channel
// to the next, and answers where the time went; or for how long its main thread was busy. Costs nothing until it is asked.
import { openSync, readSync } from 'node:fs'
import { type Profiler, Session } from 'node:inspector'
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

/** Begins to measure each turn of the event loop, until `spent`. It keeps turning meanwhile, so it costs a core. */
function watch(): Promise<object> {
  const watching = { longestMs: 0, busyMs: 0 }
  watched = watching
  let before = threadMs()
  const turn = (): void => {
    const now = threadMs()
    const turnMs = now - before
    before = now
    watching.longestMs = Math.max(watching.longestMs, turnMs)
    if (turnMs > TURN_MS) watching.busyMs += turnMs
    if (watched === watching) setImmediate(turn)
  }
  setImmediate(turn)
  return Promise.resolve({})
}

let watched: { longestMs: number; busyMs: number } | undefined

/** Of the turns since `watch`: all that took some time, and the longest, in processor time of the main thread. */
function spent(): Promise<Spent> {
  const { busyMs = 0, longestMs = 0 } = watched ?? {}
  watched = undefined
  return Promise.resolve({ activeMs: busyMs, longestMs })
}

/** Shorter turns are those of the watch itself. */
const TURN_MS = 2

/** On a busy machine a turn lasts longer than it takes. Where Linux does not say what a thread took, the process must do. */
const threadMs =
  openThreadTime() ??
  (() => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  })

function openThreadTime(): (() => number) | undefined {
  try {
    const file = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r')
    const text = Buffer.alloc(64)
    return () => {
      readSync(file, text, 0, text.length, 0)
      return Number(text.toString('latin1', 0, text.indexOf(0x20))) / 1e6
    }
  } catch {
    return undefined
  }
}

const WORDS: Readonly<Record<string, () => Promise<object>>> = { begin, end, watch, spent }

process.on('message', (word: string) => {
  const answer = WORDS[word]?.()
  void answer?.then(
    (result) => process.send?.(result),
    (error: unknown) => process.send?.({ error: String(error) }),
  )
})
// The channel alone keeps nobody alive.
process.channel?.unref()
