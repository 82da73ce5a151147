// Takes files out of the system's page cache, so that a server meets them as after a reboot. GNU dd asks for that without
// any privilege (posix_fadvise, POSIX_FADV_DONTNEED), once what is dirty of a file has been written back (fdatasync). Pages
// that a process has mapped stay: the server must have ended.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { filesIn } from '../../src/bench/targets/folder.js'

const run = promisify(execFile)

export async function dropFromPageCache(folder: string): Promise<void> {
  for (const file of filesIn(folder)) {
    await run('dd', [`of=${file}`, 'oflag=nocache', 'conv=notrunc,fdatasync', 'count=0', 'status=none'])
  }
}
