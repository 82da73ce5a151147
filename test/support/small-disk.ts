// A file system with an end, for tests of full disks: a tmpfs, which needs the rights of root.
import { execFileSync } from 'node:child_process'
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Skip } from '../clients/installed.js'
import { testFolder } from './folder.js'

export interface SmallDisk extends Disposable {
  readonly path: string
  /** Takes all the room that is left, but so many bytes. */
  fill(leftBytes?: number): void
  /** Gives it back. */
  free(): void
}

/** To be given to `test` as its options. */
export const needsSmallDisk: Skip = mayMount()
  ? { skip: false }
  : { skip: 'a tmpfs cannot be mounted here; it needs Linux and the rights of root' }

export function smallDisk(bytes: number): SmallDisk {
  const path = testFolder()
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', path])
  const ballast = join(path, 'ballast')
  return {
    path: join(path, 'data'),
    fill: (leftBytes = 0) => {
      const file = openSync(ballast, 'w')
      const block = Buffer.alloc(4096, 1)
      let written = 0
      try {
        for (;;) written += writeSync(file, block)
      } catch {
        // There is no more of it.
      }
      closeSync(file)
      if (leftBytes > 0) execFileSync('truncate', ['-s', String(Math.max(0, written - leftBytes)), ballast])
    },
    free: () => rmSync(ballast),
    [Symbol.dispose]: () => void execFileSync('umount', ['-l', path]),
  }
}

function mayMount(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false
  const path = testFolder()
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=65536', 'tmpfs', path], { stdio: 'ignore' })
    execFileSync('umount', [path], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
