// A client that remembers: one file with the last checkpoint, replaced only by one that goes on where that one ended.
import { dirname } from 'node:path'
import { realFiles } from '../runtime/real-files.js'
import { readIfThere, writeWhole } from '../runtime/small-files.js'
import { type Checkpoint, openCheckpoint, type Trust } from '../verify/checkpoint.js'
import { VerificationError } from '../verify/error.js'
import type { LedgerSource } from '../verify/folder.js'
import { checkContinues, newestCheckpoint } from './consistency.js'

export async function checkAndRemember(
  source: LedgerSource,
  file: string,
  trust: Trust,
): Promise<Checkpoint> {
  const remembered = await readIfThere(file)
  // Of witnesses only the newer one needs signatures: they may have been asked for later.
  const { key, ed25519 } = trust
  const earlier =
    remembered === undefined
      ? undefined
      : await openCheckpoint(remembered, { key, ...(ed25519 && { ed25519 }) }).catch((error: Error) => {
          throw new VerificationError(`${file}: ${error.message}`)
        })
  const later = await newestCheckpoint(source, trust)
  if (earlier !== undefined) await checkContinues(source, earlier, later)
  await writeWhole(file, later.note)
  await realFiles().syncFolder(dirname(file))
  return later
}
