// Loaded into a server before anything else (node --import): answers, on its channel, for how long its main thread has been
// busy, and for how long at a stretch, since it was last asked.
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'

const RESOLUTION_MS = 1
const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
delay.enable()
let before = performance.eventLoopUtilization()

process.on('message', () => {
  const now = performance.eventLoopUtilization()
  const activeMs = performance.eventLoopUtilization(now, before).active
  const longestMs = Math.max(0, delay.max / 1e6 - RESOLUTION_MS)
  before = now
  delay.reset()
  process.send?.({ activeMs, longestMs })
})
// The channel alone keeps nobody alive.
process.channel?.unref()
