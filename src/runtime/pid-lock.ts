// The lock file of versions before format 4: it names a process, which owned the folder for as long as it lived. Such a
// process may still run.
import { readIfThere } from './small-files.js'

/** The process that the file names, if it can be seen and runs. */
export async function holderByPid(file: string): Promise<number | undefined> {
  const holder = await readIfThere(file)
  if (holder === undefined) return undefined
  const pid = Number.parseInt(holder, 10)
  return Number.isInteger(pid) && isAlive(pid) && (await identityOf(pid)) === holder ? pid : undefined
}

/** Gone, or killed and only not waited for by its parent. */
export async function hasEnded(pid: number): Promise<boolean> {
  return !isAlive(pid) || (await identityOf(pid)) === 'gone'
}

/** A process id alone comes back after a restart of the machine or the container; with its start time it does not. */
async function identityOf(pid: number): Promise<string> {
  const stat = await readIfThere(`/proc/${pid}/stat`)
  const boot = await readIfThere('/proc/sys/kernel/random/boot_id')
  // The name of the program, in brackets, may hold blanks; its state is the first field behind it, the start time the 20th.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
  // Killed, and only not waited for by its parent.
  if (fields?.[0] === 'Z' || fields?.[0] === 'X') return 'gone'
  return `${pid} ${boot?.trim() ?? ''} ${fields?.[19] ?? ''}`.trim()
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
