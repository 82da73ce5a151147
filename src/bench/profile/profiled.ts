// Loaded into a server before anything else (node --import): makes a processor profile of it from one word on its channel
// to the next, and answers where the time went. Costs nothing until it is asked.
import { type Profiler, Session } from 'node:inspector'
import { selfTimes } from './self-times.js'

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

process.on('message', (word: unknown) => {
  const answer = word === 'begin' ? begin() : word === 'end' ? end() : undefined
  void answer?.then(
    (result) => process.send?.(result),
    (error: unknown) => process.send?.({ error: String(error) }),
  )
})
// The channel alone keeps nobody alive.
process.channel?.unref()
