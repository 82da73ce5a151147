// A lock file: one process at a time. The lock of a process that is gone is taken over.
import { open, unlink } from 'node:fs/promises'
import { readIfThere } from './small-files.js'

export type LockResult = { readonly release: () => Promise<void> } | { readonly heldBy: number | undefined }

const TAKEOVERS_MAX = 3

/** Takes the lock, or tells which process has it (undefined: several are after it at once). */
export async function takeLock(file: string): Promise<LockResult> {
  const owner = await identityOf(process.pid)
  for (let attempt = 0; attempt < TAKEOVERS_MAX; attempt++) {
    if (await createWith(file, owner)) return { release: () => unlink(file) }
    const holder = (await readIfThere(file)) ?? ''
    const pid = Number.parseInt(holder, 10)
    if (Number.isInteger(pid) && isAlive(pid) && (await identityOf(pid)) === holder) return { heldBy: pid }
    // Its owner is gone without having released it.
    await unlink(file).catch(() => undefined)
  }
  return { heldBy: undefined }
}

async function createWith(file: string, text: string): Promise<boolean> {
  try {
    const handle = await open(file, 'wx')
    await handle.writeFile(text)
    await handle.close()
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** A process id alone comes back after a restart of the machine or the container; with its start time it does not. */
async function identityOf(pid: number): Promise<string> {
  const stat = await readIfThere(`/proc/${pid}/stat`)
  const boot = await readIfThere('/proc/sys/kernel/random/boot_id')
  // The name of the program, in brackets, may hold blanks; the start time is the 20th field behind it.
  const started = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  return `${pid} ${boot?.trim() ?? ''} ${started ?? ''}`.trim()
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
