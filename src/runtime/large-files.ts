// Large files, written as a whole and read in pieces.
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { realFiles } from './real-files.js'

/** A name that exists is a file that is whole, and durable. If it fails, nothing is left of it. */
export async function writePieces(file: string, pieces: Iterable<Uint8Array>): Promise<void> {
  const draft = `${file}.new`
  const handle = await open(draft, 'w')
  try {
    try {
      for (const piece of pieces) await handle.writeFile(piece)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(draft, file)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
  await realFiles().syncFolder(dirname(file))
}

/** The bytes of a file from the first to the last. */
export async function* readPieces(file: string, bytesMax = 256 * 1024): AsyncIterable<Buffer> {
  const handle = await open(file, 'r')
  try {
    for (;;) {
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(bytesMax), 0, bytesMax)
      if (bytesRead === 0) return
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    await handle.close()
  }
}
