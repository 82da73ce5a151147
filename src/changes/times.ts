// Dates are made of what a record or the store's clock says, never of the system's.
import type { Timestamp } from '../model/brand.js'
import type { Clock } from '../runtime/runtime.js'

export const msOf = (timestamp: Timestamp): number => Math.floor(timestamp / 1000)

export const nowMs = (clock: Clock): number => Math.floor(clock.nowMicros() / 1000)

export const dateAt = (ms: number): Date => new Date(ms)

/** `2030-01-01T12:00:00.250Z`. */
export const isoTextAt = (ms: number): string => dateAt(ms).toISOString()

/** `2030-01-01T12:00:00Z`. */
export const secondsTextAt = (ms: number): string => isoTextAt(ms).replace(/\.\d{3}Z$/, 'Z')
