// A change of the catalogue that has to happen, though it may have to wait: what ends a backup, a restore or an import. While the disk is
// full it is refused like any other change, and tried again until there is room, or the store is closed.
import type { Runtime } from '../../../runtime/runtime.js'

export interface Persistence {
  readonly runtime: Runtime
  /** Aborted when the store is closed: it is no use any more. What is left is then found by the next start. */
  readonly closing: AbortSignal
  /** Told of the first failure only. */
  readonly onError: (error: unknown) => void
}

const PAUSE_MS = 1000

/** Resolves to false if the store was closed before. */
export async function persistently(
  change: () => Promise<unknown>,
  { runtime, closing, onError }: Persistence,
): Promise<boolean> {
  for (let tries = 0; !closing.aborted; tries++) {
    try {
      await change()
      return true
    } catch (error) {
      if (tries === 0 && !closing.aborted) onError(error)
    }
    await pause(runtime, closing, PAUSE_MS)
  }
  return false
}

/** Resolves after that time, or when the store is closed. */
export async function pause({ clock }: Runtime, closing: AbortSignal, forMs: number): Promise<void> {
  if (closing.aborted) return
  await new Promise<void>((resolve) => {
    const end = (): void => {
      cancel()
      closing.removeEventListener('abort', end)
      resolve()
    }
    const cancel = clock.timer(forMs, end)
    closing.addEventListener('abort', end)
  })
}
