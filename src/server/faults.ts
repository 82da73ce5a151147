// Faults on demand, for tests of clients: the header `x-seriatim-fault` of one request says what happens to it. Only on
// a server that was started with faults, which listens on loopback only.

export type Fault =
  /** Refused as if there were too many requests; nothing was done. */
  | { readonly kind: 'throttle' }
  /** An internal error, or a lost connection, before or after the operation was done. */
  | { readonly kind: 'error' | 'lose'; readonly when: 'before' | 'after' }
  | { readonly kind: 'delay'; readonly delayMs: number }

export const FAULT_HEADER = 'x-seriatim-fault'
const DELAY_MS_MAX = 60_000

/** `throttle`, `error-before`, `error-after`, `lose-before`, `lose-after`, `delay-250`; undefined for anything else. */
export function parseFault(text: string): Fault | undefined {
  const [kind, argument] = text.split('-', 2)
  if (kind === 'throttle' && argument === undefined) return { kind }
  if ((kind === 'error' || kind === 'lose') && (argument === 'before' || argument === 'after')) {
    return { kind, when: argument }
  }
  if (kind === 'delay' && argument !== undefined && /^\d{1,5}$/.test(argument)) {
    return { kind, delayMs: Math.min(Number(argument), DELAY_MS_MAX) }
  }
  return undefined
}
