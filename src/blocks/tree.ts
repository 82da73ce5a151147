// The tree over the headers of blocks (RFC 6962), as tiles of 256 hashes: appended to at its right edge, read anywhere.
//
//   append(leaf) --> row 0 of the edge of level 0 --pairs--> row 1 .. row 7 --> a full tile; its root is a leaf of level 1 ...
//
// Rows of the edge are in memory: a hash is made once, and a proof within full tiles makes none. What was appended and is
// not on the shelf yet is taken back by opening the tree again.
import type { KeyBytes } from '../model/brand.js'
import type { Shelf, ShelfEntry } from '../storage/contract/shelf.js'
import { emptyRoot, HASH_BYTES, nodeHash } from '../verify/merkle.js'
import { type Stretch, stretchHash, subtreesOf } from '../verify/paths.js'
import { TILE_WIDTH } from '../verify/tiles.js'
import { tileKey } from './places.js'

const TILE_HEIGHT = 8
const ROW_WIDTHS = Array.from({ length: TILE_HEIGHT }, (_, row) => TILE_WIDTH >> row)
/** Where the rows of a full tile begin. */
const ROW_OFFSETS = ROW_WIDTHS.map(
  (_, row) => HASH_BYTES * ROW_WIDTHS.slice(0, row).reduce((sum, width) => sum + width, 0),
)
const FULL_TILE_BYTES = HASH_BYTES * ROW_WIDTHS.reduce((sum, width) => sum + width, 0)

/** The tile at the right edge of one level: rows of hashes, as many as are known. */
type Rows = readonly (readonly Uint8Array[])[]

interface Edge {
  rows: Uint8Array[][]
  isChanged: boolean
}

export class BlockTree {
  readonly #shelf: Pick<Shelf, 'kept'>
  readonly #edges: Edge[]
  /** Full tiles that are not on the shelf yet. */
  readonly #full = new Map<KeyBytes, Uint8Array>()
  #size: number

  private constructor(shelf: Pick<Shelf, 'kept'>, size: number, edges: Edge[]) {
    this.#shelf = shelf
    this.#size = size
    this.#edges = edges
  }

  static async open(shelf: Pick<Shelf, 'kept'>, size: number): Promise<BlockTree> {
    const edges: Edge[] = []
    for (let level = 0; hashesAt(level, size) > 0; level++) {
      const hashes = hashesAt(level, size)
      const edge = newEdge()
      const width = hashes % TILE_WIDTH
      if (width > 0) {
        const [tile] = await shelf.kept([tileKey(level, Math.floor(hashes / TILE_WIDTH))])
        if (tile === undefined || tile.length < width * HASH_BYTES)
          throw new Error(`the tree of blocks lacks the end of its level ${level}`)
        for (let at = 0; at < width; at++) addTo(edge, hashIn(tile, at))
      }
      edges.push(edge)
    }
    return new BlockTree(shelf, size, edges)
  }

  get size(): number {
    return this.#size
  }

  append(leaf: Uint8Array): void {
    let hash: Uint8Array | undefined = leaf
    for (let level = 0; hash !== undefined; level++) {
      const edge = (this.#edges[level] ??= newEdge())
      edge.isChanged = true
      const root = addTo(edge, hash)
      if (root !== undefined) {
        this.#full.set(
          tileKey(level, Math.floor(hashesAt(level, this.#size) / TILE_WIDTH)),
          fullTile(edge.rows),
        )
        edge.rows = newEdge().rows
      }
      hash = root
    }
    this.#size++
  }

  /** What the shelf needs of what was appended. */
  changes(): ShelfEntry[] {
    const changes: ShelfEntry[] = [...this.#full].map(([key, value]) => ({ key, value }))
    for (const [level, { rows, isChanged }] of this.#edges.entries()) {
      const [row = []] = rows
      if (!isChanged || row.length === 0) continue
      const key = tileKey(level, Math.floor(hashesAt(level, this.#size) / TILE_WIDTH))
      changes.push({ key, value: Buffer.concat(row) })
    }
    return changes
  }

  /** They are there, and durable. */
  kept(): void {
    this.#full.clear()
    for (const edge of this.#edges) edge.isChanged = false
  }

  /** The root of the tree of the first `size` blocks. */
  async root(size: number): Promise<Uint8Array> {
    return size === 0 ? emptyRoot() : ((await this.hashes([{ start: 0, end: size }]))[0] as Uint8Array)
  }

  /** The hashes of these stretches of leaves. */
  async hashes(stretches: readonly Stretch[]): Promise<Uint8Array[]> {
    const tiles = await this.#tiles(stretches)
    return stretches.map((stretch) =>
      stretchHash(stretch, (height, index) => subtreeIn(tiles, height, index)),
    )
  }

  /** The first `width` hashes of a tile, which a tree of so many blocks must have. */
  async tile(level: number, index: number, width: number): Promise<Uint8Array | undefined> {
    const edge = this.#edgeAt(level, index)
    if (edge !== undefined) {
      const hashes = (edge.rows[0] ?? []).slice(0, width)
      return hashes.length < width ? undefined : Buffer.concat(hashes)
    }
    const tile = await this.#fullTile(level, index)
    return tile?.subarray(0, width * HASH_BYTES)
  }

  #edgeAt(level: number, index: number): Edge | undefined {
    return Math.floor(hashesAt(level, this.#size) / TILE_WIDTH) === index ? this.#edges[level] : undefined
  }

  async #fullTile(level: number, index: number): Promise<Uint8Array | undefined> {
    const key = tileKey(level, index)
    return this.#full.get(key) ?? (await this.#shelf.kept([key]))[0]
  }

  /**
   * Whatever of the tree the stretches need, as it is now: rows of the edge are not changed any more once their tile is full,
   * so that what is appended meanwhile does not matter.
   */
  async #tiles(stretches: readonly Stretch[]): Promise<ReadonlyMap<KeyBytes, Rows | Uint8Array>> {
    const tiles = new Map<KeyBytes, Rows | Uint8Array>()
    const missing: KeyBytes[] = []
    for (const { height, index } of stretches.flatMap(subtreesOf)) {
      const { level, tile } = placeOf(height, index)
      const key = tileKey(level, tile)
      if (tiles.has(key) || missing.includes(key)) continue
      const known = this.#edgeAt(level, tile)?.rows ?? this.#full.get(key)
      if (known === undefined) missing.push(key)
      else tiles.set(key, known)
    }
    const found = missing.length === 0 ? [] : await this.#shelf.kept(missing)
    for (const [at, key] of missing.entries()) {
      const tile = found[at]
      if (tile?.length === FULL_TILE_BYTES) tiles.set(key, tile)
    }
    return tiles
  }
}

function subtreeIn(
  tiles: ReadonlyMap<KeyBytes, Rows | Uint8Array>,
  height: number,
  index: number,
): Uint8Array {
  const { level, tile, row, at } = placeOf(height, index)
  const found = tiles.get(tileKey(level, tile))
  const from = (ROW_OFFSETS[row] as number) + at * HASH_BYTES
  const hash = found instanceof Uint8Array ? found.subarray(from, from + HASH_BYTES) : found?.[row]?.[at]
  if (hash === undefined) throw new Error(`the tree of blocks lacks tile ${tile} of its level ${level}`)
  return hash
}

const hashesAt = (level: number, size: number): number => Math.floor(size / TILE_WIDTH ** level)

/** Which row of which tile has the hash of that subtree, and where in it. */
function placeOf(
  height: number,
  index: number,
): { readonly level: number; readonly tile: number; readonly row: number; readonly at: number } {
  const [level, row] = [Math.floor(height / TILE_HEIGHT), height % TILE_HEIGHT]
  const width = ROW_WIDTHS[row] as number
  return { level, row, tile: Math.floor(index / width), at: index % width }
}

const newEdge = (): Edge => ({ rows: ROW_WIDTHS.map(() => []), isChanged: false })

/** The root of the tile if it is full now. */
function addTo({ rows }: Edge, leaf: Uint8Array): Uint8Array | undefined {
  let hash = leaf
  for (const row of rows) {
    row.push(hash)
    if (row.length % 2 === 1) return undefined
    hash = nodeHash(row.at(-2) as Uint8Array, hash)
  }
  return hash
}

const fullTile = (rows: Rows): Uint8Array => Buffer.concat(rows.flat())

const hashIn = (tile: Uint8Array, at: number): Uint8Array =>
  tile.slice(at * HASH_BYTES, (at + 1) * HASH_BYTES)
