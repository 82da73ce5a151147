// What a reader of the ledger is given: checkpoints, proofs, whole revisions, pages of history.
import { base64 } from '../verify/bytes.js'
import { HASH_BYTES, leafHash } from '../verify/merkle.js'
import { consistencyPath, inclusionPath, type Stretch, stretchHash, subtreesFrom } from '../verify/paths.js'
import { formatProof } from '../verify/proof.js'
import { CHECKPOINT_PATH, TILE_WIDTH, tileAt, tileOf } from '../verify/tiles.js'
import type { FoundRevision, WholeBlock } from './block-reader.js'
import type { Blocks } from './blocks.js'
import type { DocumentHead } from './heads.js'

/** What proofs are made of. */
type Signing = Pick<Blocks, 'tree' | 'signer'>

/** A digest of everything up to now, signed. */
export interface TreeDigest {
  readonly size: number
  readonly root: Uint8Array
  /** The signed note. */
  readonly checkpoint: string
}

/** Everything that was committed before the call is in it. */
export async function currentDigest(blocks: Blocks): Promise<TreeDigest> {
  await blocks.caughtUp()
  return digestAt(blocks, blocks.size)
}

/** Of the first `size` blocks, all of which are durable. */
export async function digestAt(blocks: Signing, size: number): Promise<TreeDigest> {
  const root = await blocks.tree.root(size)
  return { size, root, checkpoint: blocks.signer.checkpoint({ size, root }) }
}

/** That the tree of `size` blocks begins with that of `oldSize`: hashes in base64. */
export async function consistencyOf(
  blocks: Blocks,
  oldSize: number,
  size: number,
): Promise<readonly string[]> {
  return (await blocks.tree.hashes(consistencyPath(oldSize, size))).map(base64)
}

/** The text of a proof of a block in the tree of `size` blocks; of one of its entries, if that is named. */
export async function proofOf(
  blocks: Signing,
  { header, parsed, entries }: WholeBlock,
  size: number,
  entry?: number,
): Promise<string> {
  const path = await blocks.tree.hashes(inclusionPath(parsed.block, size))
  const { checkpoint } = await digestAt(blocks, size)
  const row = entry === undefined ? undefined : entries[entry]
  if (row === undefined) return formatProof({ header, path, checkpoint })
  const leaves = subtreesFrom(entries.map(({ bytes }) => leafHash(bytes)))
  const way = inclusionPath(row.entry, entries.length).map((stretch: Stretch) => stretchHash(stretch, leaves))
  const { bytes, data } = row
  return formatProof({
    header,
    path,
    checkpoint,
    entry: { bytes, index: row.entry, path: way, ...(data && { data }) },
  })
}

export interface HistoryRange {
  /** Versions, both inclusive. */
  readonly fromVersion: number
  readonly toVersion: number
}

/** The versions that were current at some time of a range, both ends inclusive; undefined if there are none. */
export async function versionsBetween(
  { reader }: Blocks,
  document: string,
  newest: DocumentHead,
  { from, to }: { readonly from?: number | undefined; readonly to?: number | undefined },
): Promise<HistoryRange | undefined> {
  const fromVersion = from === undefined ? 0 : Math.max(0, await reader.versionAt(document, from, newest))
  const toVersion = to === undefined ? newest.version : await reader.versionAt(document, to, newest)
  return toVersion < fromVersion ? undefined : { fromVersion, toVersion }
}

/** A page of versions, in order, up to so many or so many bytes. */
export async function revisionsOf(
  { reader }: Pick<Blocks, 'reader'>,
  document: string,
  newest: DocumentHead,
  {
    fromVersion,
    toVersion,
    revisionsMax,
    bytesMax,
    turn,
  }: HistoryRange & {
    readonly revisionsMax: number
    readonly bytesMax: number
    /** Called behind each of them, with its bytes: others may have their turn. */
    readonly turn?: (bytes: number) => Promise<void> | undefined
  },
): Promise<readonly FoundRevision[]> {
  const found: FoundRevision[] = []
  const end = Math.min(toVersion, fromVersion + revisionsMax - 1)
  const piece = reader.pieces()
  let bytes = 0
  for await (const place of reader.places(document, fromVersion, end, newest)) {
    if (bytes >= bytesMax) break
    const row = await piece.entry(place.block, place.entry)
    found.push({ ...place, row })
    const rowBytes = row.bytes.length + (row.data?.length ?? 0)
    bytes += rowBytes
    const due = turn?.(rowBytes)
    if (due !== undefined) await due
  }
  return found
}

/** A file of the ledger as C2SP has them; undefined if there is no such file. The blocks are beside them. */
export async function ledgerFile(blocks: Blocks, path: string): Promise<LedgerFile | undefined> {
  if (path === CHECKPOINT_PATH) {
    const { checkpoint } = await currentDigest(blocks)
    return { kind: 'text', bytes: Buffer.from(checkpoint) }
  }
  if (path === KEY_PATH) return { kind: 'text', bytes: Buffer.from(`${blocks.signer.key}\n`) }
  const tile = tileAt(path)
  if (tile === undefined) return undefined
  const { level, index, width } = tile
  if ((tileOf(level, index, blocks.size)?.width ?? 0) < width) return undefined
  if (level === 'entries') {
    const bytes = await blocks.reader.bundle(index, index * TILE_WIDTH + width)
    return { kind: 'bytes', bytes }
  }
  const bytes = await blocks.tree.tile(level, index, width)
  return bytes?.length === width * HASH_BYTES ? { kind: 'bytes', bytes } : undefined
}

export interface LedgerFile {
  readonly kind: 'text' | 'bytes'
  readonly bytes: Uint8Array
}

/** The public key, beside the checkpoint. */
const KEY_PATH = 'key'
