// What `open` refuses of its options.
import { memoryMbBounds } from '../model/memory-budget.js'
import { isShardMinutes, streamLimits } from '../router/lineage/lineage.js'
import type { OpenOptions } from './store.js'

/** Throws a sentence that says what is wrong. */
export function refuseOptions(options: OpenOptions): void {
  const { path, snapshotAgeMs, lockMsMax, memoryMb, shardMinutes, creatingMs } = options
  if (path === undefined && !options.memory && options.engine === undefined)
    throw new TypeError('open() needs a place for the data: { path: DIR }, { memory: true } or { engine }')
  if (snapshotAgeMs !== undefined && !(Number.isSafeInteger(snapshotAgeMs) && snapshotAgeMs >= 1))
    throw new RangeError(`snapshotAgeMs is a whole number from 1 on, not ${snapshotAgeMs}`)
  if (lockMsMax !== undefined && !(Number.isSafeInteger(lockMsMax) && lockMsMax >= 1))
    throw new RangeError(`lockMsMax is a whole number from 1 on, not ${lockMsMax}`)
  if (
    memoryMb !== undefined &&
    !(Number.isSafeInteger(memoryMb) && memoryMb >= memoryMbBounds.min && memoryMb <= memoryMbBounds.max)
  )
    throw new RangeError(
      `memoryMb is a whole number from ${memoryMbBounds.min} to ${memoryMbBounds.max}, not ${memoryMb}`,
    )
  if (shardMinutes !== undefined && !isShardMinutes(shardMinutes))
    throw new RangeError(
      `shardMinutes is a whole number from 1 to ${streamLimits.shardMinutesMax}, not ${shardMinutes}`,
    )
  if (creatingMs !== undefined && !(Number.isSafeInteger(creatingMs) && creatingMs >= 0))
    throw new RangeError(`creatingMs is a whole number from 0 on, not ${creatingMs}`)
}
