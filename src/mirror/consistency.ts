// That one checkpoint goes on where another one ended: shown from tiles of the larger one, which need no trust.
import { utf8Text } from '../verify/bytes.js'
import { type Checkpoint, openCheckpoint, type TreeHead, type Trust } from '../verify/checkpoint.js'
import { VerificationError } from '../verify/error.js'
import type { LedgerSource } from '../verify/folder.js'
import { HASH_BYTES, isConsistent } from '../verify/merkle.js'
import { consistencyPath, stretchHash } from '../verify/paths.js'
import { LedgerRewritten } from './ledger-rewritten.js'
import { CHECKPOINT_PATH, subtreesIn, tilePath, tilesFor } from '../verify/tiles.js'

export async function newestCheckpoint(source: LedgerSource, trust: Trust): Promise<Checkpoint> {
  const bytes = await source.read(CHECKPOINT_PATH)
  if (bytes === undefined) throw new Error('There is no ledger there: it has no checkpoint.')
  return openCheckpoint(utf8Text(bytes) ?? '', trust)
}

/** Resolves if the later one begins with all of the earlier one; else rejects with LedgerRewritten. */
export async function checkContinues(
  source: LedgerSource,
  earlier: Checkpoint,
  later: Checkpoint,
): Promise<void> {
  const rewritten = (message: string): LedgerRewritten =>
    new LedgerRewritten(`${later.origin} has rewritten its past: ${message}`, earlier.note, later.note)
  if (later.size < earlier.size)
    throw rewritten(`it has ${later.size} blocks, and had ${earlier.size} before`)
  const path = await consistencyFrom(source, earlier.size, later)
  if (!isConsistent(earlier.size, earlier.root, later.size, later.root, path))
    throw rewritten(`its ${later.size} blocks do not begin with the ${earlier.size} that it had before`)
}

/** The proof of consistency, made of tiles. Whether it holds, the reader finds out. */
export async function consistencyFrom(
  source: LedgerSource,
  oldSize: number,
  { size }: TreeHead,
): Promise<Uint8Array[]> {
  const stretches = consistencyPath(oldSize, size)
  const tiles = new Map<string, Uint8Array>()
  for (const tile of tilesFor(stretches, size)) {
    const path = tilePath(tile)
    const bytes = await source.read(path)
    if (bytes?.length !== tile.width * HASH_BYTES)
      throw new VerificationError(`${path} is ${bytes === undefined ? 'missing' : 'not a tile of its width'}`)
    tiles.set(`${tile.level} ${tile.index}`, bytes)
  }
  const subtrees = subtreesIn((level, index) => tiles.get(`${level} ${index}`)!)
  return stretches.map((stretch) => stretchHash(stretch, subtrees))
}
