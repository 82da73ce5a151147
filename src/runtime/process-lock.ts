// A lock file: one owner at a time, by a lock of the kernel on it.
//
//   open --> lock --held--> who holds it, as far as the file tells
//              \--taken--> is the name still that of this file? --no--> again
//                              \--yes--> owned until the descriptor is closed, or the process ends
//
// The file is never removed: whoever opens it before and locks it after would own a file without a name, beside the owner
// of the next one. What is written in it is for the message alone and decides nothing.
import { close, constants, fstat, ftruncate, open, read, write, type Stats } from 'node:fs'
import { readlink, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { answerOf, type TryLock } from './kernel-lock.js'
import { hasEnded } from './pid-lock.js'

const openFile = promisify(open)
const closeFile = promisify(close)
const truncateFile = promisify(ftruncate)
const fileStat = promisify(fstat) as (descriptor: number) => Promise<Stats>
const writeFile = promisify(write) as (descriptor: number, text: string, at: number) => Promise<unknown>
const readFile = promisify(read)

/** Who holds a lock; whatever the file does not tell is absent. */
export interface Holder {
  readonly pid?: number
  /** If it is not this one. */
  readonly host?: string
  /** Its process numbers are those of another container. */
  readonly isElsewhere?: boolean
}

export type LockResult = { readonly release: () => Promise<void> } | { readonly heldBy: Holder }

/** Each of them needs a file that was removed or replaced between two system calls. */
const ATTEMPTS_MAX = 10
const HOLDER_BYTES_MAX = 1024

/**
 * Takes the lock, or tells who has it. A killed process has its files until its last thread has ended, a moment after it is
 * seen as ended: that is waited for.
 */
export async function takeLock(file: string, tryLock: TryLock): Promise<LockResult> {
  for (let waitedMs = 0; ; waitedMs += LOOK_AGAIN_MS) {
    const result = await takeNamedLock(file, tryLock)
    if (!('heldBy' in result) || waitedMs >= ENDING_MS_MAX || !(await isEnding(result.heldBy))) return result
    await setTimeout(LOOK_AGAIN_MS)
  }
}

async function takeNamedLock(file: string, tryLock: TryLock): Promise<LockResult> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const result = await attemptLock(file, tryLock)
    if (result !== undefined) return result
  }
  return { heldBy: {} }
}

/** Whether the process that holds the lock has been killed, as far as it can be seen from here. */
async function isEnding({ pid, host, isElsewhere }: Holder): Promise<boolean> {
  return pid !== undefined && host === undefined && isElsewhere !== true && (await hasEnded(pid))
}

/** Undefined: the name has become that of another file. */
async function attemptLock(file: string, tryLock: TryLock): Promise<LockResult | undefined> {
  // Node opens with O_CLOEXEC: a process that this one starts has no part in the lock.
  const descriptor = await openFile(file, constants.O_RDWR | constants.O_CREAT, 0o644)
  let isOwned = false
  try {
    if (answerOf(tryLock, descriptor) === 'held') return { heldBy: await readHolder(descriptor) }
    if (!(await isNamed(file, descriptor))) return undefined
    // On a full disk the owner stays unnamed.
    await writeHolder(descriptor).catch((error: NodeJS.ErrnoException) => {
      if (!['ENOSPC', 'EDQUOT'].includes(error.code ?? '')) throw error
    })
    isOwned = true
    return { release: once(() => release(descriptor)) }
  } finally {
    if (!isOwned) await closeFile(descriptor)
  }
}

/** How long the threads of a killed process may take to end. */
const ENDING_MS_MAX = 5_000
/** How long a process that its killed owner has left behind may take to finish its commit and end. */
const LEFT_BEHIND_MS_MAX = 10_000
const LOOK_AGAIN_MS = 20

/** Whether another process keeps a lock on the file, longer than one that is about to end. */
export async function staysLocked(file: string, tryLock: TryLock): Promise<boolean> {
  for (let waitedMs = 0; await isLocked(file, tryLock); waitedMs += LOOK_AGAIN_MS) {
    if (waitedMs >= LEFT_BEHIND_MS_MAX) return true
    await setTimeout(LOOK_AGAIN_MS)
  }
  return false
}

/** A file that is not there has none. */
async function isLocked(file: string, tryLock: TryLock): Promise<boolean> {
  let descriptor: number
  try {
    descriptor = await openFile(file, constants.O_RDWR)
  } catch {
    return false
  }
  try {
    return answerOf(tryLock, descriptor) === 'held'
  } finally {
    await closeFile(descriptor)
  }
}

async function isNamed(file: string, descriptor: number): Promise<boolean> {
  const locked = await fileStat(descriptor)
  const named = await stat(file).catch(() => undefined)
  return named !== undefined && named.ino === locked.ino && named.dev === locked.dev
}

async function writeHolder(descriptor: number): Promise<void> {
  const namespace = await pidNamespace()
  const holder = { pid: process.pid, host: hostname(), ...(namespace !== undefined && { namespace }) }
  await truncateFile(descriptor, 0)
  await writeFile(descriptor, `${JSON.stringify(holder)}\n`, 0)
}

async function readHolder(descriptor: number): Promise<Holder> {
  const { bytesRead, buffer } = await readFile(
    descriptor,
    Buffer.alloc(HOLDER_BYTES_MAX),
    0,
    HOLDER_BYTES_MAX,
    0,
  )
  try {
    const found = JSON.parse(buffer.toString('utf8', 0, bytesRead)) as Record<string, unknown>
    const { pid, host, namespace } = found
    return {
      ...(Number.isInteger(pid) && { pid: pid as number }),
      ...(typeof host === 'string' && host !== hostname() && { host }),
      ...(typeof namespace === 'string' && { isElsewhere: namespace !== (await pidNamespace()) }),
    }
  } catch {
    // It has not said yet who it is.
    return {}
  }
}

const pidNamespace = (): Promise<string | undefined> => readlink('/proc/self/ns/pid').catch(() => undefined)

async function release(descriptor: number): Promise<void> {
  // The name of an owner that has gone would only mislead.
  await truncateFile(descriptor, 0).catch(() => undefined)
  await closeFile(descriptor)
}

function once(action: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined
  return () => (done ??= action())
}
