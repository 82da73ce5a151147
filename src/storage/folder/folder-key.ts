// The key of the ledger as a file of the data folder that only its owner may read.
import { open, readFile, rename, stat } from 'node:fs/promises'
import { realFiles } from '../../runtime/real-files.js'
import type { KeyPlace } from '../contract/key-place.js'
import type { DataFolder } from './folder.js'

const OWNER_ONLY = 0o600

export const folderKey = (folder: Pick<DataFolder, 'path' | 'keyPath' | 'beginLedger'>): KeyPlace => ({
  name: folder.keyPath,
  async read() {
    try {
      const [text, { ino }] = [
        await readFile(folder.keyPath, 'utf8'),
        await stat(folder.keyPath, { bigint: true }),
      ]
      return { text, home: String(ino) }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    }
  },
  async write(text) {
    await folder.beginLedger()
    const draft = `${folder.keyPath}.new`
    const handle = await open(draft, 'w', OWNER_ONLY)
    try {
      await handle.writeFile(text)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(draft, folder.keyPath)
    await realFiles().syncFolder(folder.path)
  },
})
