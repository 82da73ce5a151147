// All changes at once, handed to LMDB by this process: where no other can be started (./lmdb-writer.ts).
import { setImmediate } from 'node:timers/promises'
import type { Database, RootDatabase } from 'lmdb'
import type { KeyBytes } from '../../../model/brand.js'
import { sealed } from '../../checksum.js'
import { APPLIED, appliedBytes } from '../file/lmdb-options.js'
import type { IndexChange } from '../../ordered-map.js'

type Values = Database<Uint8Array, KeyBytes>

export interface IndexParts {
  readonly root: RootDatabase<Uint8Array, KeyBytes>
  readonly entries: Values
  readonly state: Values
}

export async function applyInOneBatch(
  { root, entries, state }: IndexParts,
  changes: Iterable<IndexChange>,
  appliedUpTo: number,
): Promise<void> {
  let write: Promise<boolean> | undefined
  /** The writes of a batch share a few promises, each of which rejects if the commit fails. */
  const handled = (written: Promise<boolean>): void => {
    if (written === write) return
    write = written
    written.catch(() => undefined)
  }
  let committed: boolean
  try {
    committed = await root.batch(() => {
      for (const [key, value] of changes)
        handled(value === undefined ? entries.remove(key) : entries.put(key, sealed(key, value)))
      handled(state.put(APPLIED as KeyBytes, appliedBytes(appliedUpTo)))
    })
  } catch (error) {
    throw await commitFailure(error)
  }
  if (!committed) throw new Error('LMDB did not commit')
}

/** LMDB's error says why only in another promise, which would end the process if nobody handled it. */
async function commitFailure(error: unknown): Promise<Error> {
  const { commitError } = error as { readonly commitError?: Promise<never> }
  const cause: unknown = await Promise.race([commitError?.catch((reason: unknown) => reason), setImmediate()])
  const why = cause instanceof Error ? cause : (error as Error)
  return new Error(`the index could not be written: ${why.message}`, { cause: error })
}
