// What an error of the driver or of a host means for the caller: was nothing done, or is it unknown?
import { EngineUnavailable, SpaceMissing } from '../engine.js'

/** Codes of the native protocol (section 9). */
const UNAVAILABLE = 0x1000
const OVERLOADED = 0x1001
const BOOTSTRAPPING = 0x1002
const INVALID = 0x2200
const UNPREPARED = 0x2500
const REFUSED_BEFORE_EXECUTION = new Set([
  UNAVAILABLE,
  OVERLOADED,
  BOOTSTRAPPING,
  0x2000,
  0x2100,
  0x2300,
  UNPREPARED,
])

interface DriverError {
  readonly name?: string
  readonly message?: string
  readonly code?: number | string
  readonly coordinator?: string
  readonly host?: string
  readonly innerErrors?: Readonly<Record<string, unknown>>
}

export const isSpaceMissing = (error: unknown): boolean => {
  const { code, message = '' } = error as DriverError
  return code === INVALID && /unconfigured table|does not exist/.test(message)
}

/** Hosts forget the statements of a table that was dropped, and say no more than that. */
export const isUnprepared = (error: unknown): boolean =>
  Object.values((error as DriverError).innerErrors ?? {}).some(
    (inner) => (inner as DriverError).code === UNPREPARED,
  )

/** True only if the step was not carried out and never will be. */
export function isUndone(error: unknown): boolean {
  const { name, code, innerErrors } = error as DriverError
  if (typeof code === 'number') return REFUSED_BEFORE_EXECUTION.has(code) || code === INVALID
  if (name === 'NoHostAvailableError') return Object.values(innerErrors ?? {}).every(isNeverSent)
  return false
}

/** Of a host that was passed over: the request did not leave, or the host refused it before it did anything. */
function isNeverSent(error: unknown): boolean {
  const { name, code, message = '' } = error as DriverError
  if (typeof code === 'number') return REFUSED_BEFORE_EXECUTION.has(code)
  if (name === 'BusyConnectionError') return true
  return (
    ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND'].includes(String(code)) ||
    /not connected|No connection|No host/i.test(message)
  )
}

/** What a caller is told of a read, or of a step that was not done. */
export function engineError(error: unknown, space: string, engine: string): Error {
  if (isSpaceMissing(error))
    return new SpaceMissing(`there is no space ${space} in ${engine}`, { cause: error })
  return new EngineUnavailable(`${engine}: ${sentenceOf(error)}`, { cause: error })
}

export function sentenceOf(error: unknown): string {
  const { name, message = String(error), coordinator, host, innerErrors } = error as DriverError
  if (name === 'NoHostAvailableError' && innerErrors !== undefined) {
    const each = Object.entries(innerErrors).map(
      ([at, inner]) => `${at}: ${(inner as DriverError).message ?? String(inner)}`,
    )
    return each.length === 0 ? 'no host answers' : `no host answers (${each.join('; ')})`
  }
  const at = coordinator ?? host
  return at === undefined ? message : `host ${at}: ${message}`
}
