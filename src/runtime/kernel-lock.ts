// A lock that the kernel holds for an open file description: it ends with the last descriptor of it, however the process
// ends, and it is the same lock for every process of the machine, whatever namespace it is in (docs/adr/0020).
import { createRequire } from 'node:module'
import { platform } from 'node:process'

/** Takes the lock for this descriptor, which is open for writing. False: another open file description has it. */
export type TryLock = (descriptor: number) => boolean

/** There can be no lock here; the message says why. */
export class NoLocks extends Error {
  override readonly name = 'NoLocks'
}

/** Windows keeps other processes from reading what is locked: the lock is on a byte far behind what is written there. */
const WINDOWS_LOCKED_BYTE = 2 ** 30

/** What systems call a lock that another has. */
const HELD = new Set(['EAGAIN', 'EACCES', 'EBUSY'])
/** What they answer where a file system has no locks, or none of this kind. */
const MISSING = new Set(['ENOLCK', 'EOPNOTSUPP', 'ENOTSUP', 'ENOSYS', 'EINVAL'])

/** Loaded when the first folder is opened: a store in memory needs none. */
export function kernelLock(): TryLock {
  let tryLock: (descriptor: number, offset?: number, length?: number) => boolean
  // Its native part calls libuv, which Deno does not have: to load it would end the process.
  if ('Deno' in globalThis) throw new NoLocks('Deno cannot load the package fs-native-extensions')
  try {
    // A package of CommonJS: Node reads it at once, where an import would have its exports parsed first.
    const load = createRequire(import.meta.url)
    ;({ tryLock } = load('fs-native-extensions') as typeof import('fs-native-extensions'))
  } catch (error) {
    throw new NoLocks(`the package fs-native-extensions cannot be loaded (${messageOf(error)})`, {
      cause: error,
    })
  }
  return platform === 'win32'
    ? (descriptor) => tryLock(descriptor, WINDOWS_LOCKED_BYTE, 1)
    : (descriptor) => tryLock(descriptor)
}

/** The answer of the system as a value. */
export function answerOf(tryLock: TryLock, descriptor: number): 'taken' | 'held' {
  try {
    return tryLock(descriptor) ? 'taken' : 'held'
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? ''
    if (HELD.has(code)) return 'held'
    if (MISSING.has(code)) throw new NoLocks(`its file system has no locks (${code})`, { cause: error })
    throw error
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? (error.message.split('\n')[0] as string) : String(error)
}
