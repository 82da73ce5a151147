// A copy of a ledger that goes on beside its original: a fork, a snapshot that is gone back to, a dump that is loaded. Under the name
// and key of the original it would sign what contradicts the original (docs/adr/0036). So it gets a name and a key of its own, before
// anything of it is read: its headers say the new name, and with them the hashes between them and the tree change. Entries, their
// proofs up to the header, and the chains of versions stay what they were.
import type { Runtime } from '../runtime/runtime.js'
import type { Shelf, ShelfEntry } from '../storage/contract/shelf.js'
import { decodeBlockHeader, encodeBlockHeader, NO_HASH } from '../verify/block.js'
import { base64 } from '../verify/bytes.js'
import { leafHash } from '../verify/merkle.js'
import { decodeBundle, encodeBundle, TILE_WIDTH } from '../verify/tiles.js'
import type { BlockReader } from './block-reader.js'
import { newShelfKey } from './ledger-key.js'
import { decodeState, encodeState, headersKey, STATE_KEY } from './places.js'
import { BlockTree } from './tree.js'

/** Nothing happens where there is no ledger. All in one step. */
export async function renameLedger(
  runtime: Pick<Runtime, 'randomBytes'>,
  shelf: Shelf,
  reader: BlockReader,
): Promise<void> {
  const [stored] = await shelf.kept([STATE_KEY])
  if (stored === undefined) return
  const state = decodeState(stored)
  const { origin, entries } = newShelfKey(runtime)
  const tree = await BlockTree.open(shelf, 0)
  const changes: ShelfEntry[] = [...entries]
  let prev: Uint8Array = NO_HASH
  for (let first = 0; first < state.size; first += TILE_WIDTH) {
    const end = Math.min(state.size, first + TILE_WIDTH)
    const headers = decodeBundle(await reader.bundle(first / TILE_WIDTH, end)) ?? []
    const renamed = headers.map((header) => {
      const bytes = encodeBlockHeader({ ...decodeBlockHeader(header), strand: origin, prev: base64(prev) })
      prev = leafHash(bytes)
      tree.append(prev)
      return bytes
    })
    // The bundle may have been in several pieces.
    const pieces = await shelf.keptRange({
      from: headersKey(first),
      to: headersKey(end),
      reverse: false,
      entriesMax: TILE_WIDTH,
    })
    for (const { key } of pieces.slice(1)) changes.push({ key })
    changes.push({ key: headersKey(first), value: encodeBundle(renamed) })
  }
  changes.push(...tree.changes(), { key: STATE_KEY, value: encodeState({ ...state, prev }) })
  await shelf.keep(changes)
}
