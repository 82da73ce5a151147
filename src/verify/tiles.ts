// Tiles and bundles of entries as C2SP's tlog-tiles has them: where they lie, what they hold, and what is in them.
//
//   tile/<L>/<N>[.p/<W>]        the hashes of 256 (or W) whole subtrees of 256^L leaves
//   tile/entries/<N>[.p/<W>]    256 (or W) leaves, each behind its length in two bytes
//   block/<N>                   ours: the entries of one block with their data (block.ts)
//   checkpoint
import { HASH_BYTES, rootOf } from './merkle.js'
import { type Stretch, type SubtreeHash, subtreesOf } from './paths.js'

export const TILE_WIDTH = 256
/** 256^levels is more than a number counts exactly. */
const TILE_LEVELS_MAX = 7
const TILE_HEIGHT = 8
export const LEAF_BYTES_MAX = 0xffff

/** `level` is a number, or `entries` for a bundle. A tile has as many hashes as it is wide. */
export interface Tile {
  readonly level: number | 'entries'
  readonly index: number
  readonly width: number
}

export const CHECKPOINT_PATH = 'checkpoint'

/** 1234067 is x001/x234/067. */
export function indexPath(index: number): string {
  const digits = String(index)
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').match(/.../g)!
  return groups.map((group, at) => (at < groups.length - 1 ? `x${group}` : group)).join('/')
}

export function tilePath({ level, index, width }: Tile): string {
  return `tile/${level}/${indexPath(index)}${width < TILE_WIDTH ? `.p/${width}` : ''}`
}

export const blockPath = (block: number): string => `block/${indexPath(block)}`

/** Undefined for what `tilePath` does not make. */
export function tileAt(path: string): Tile | undefined {
  const [, name, place, width] =
    /^tile\/([0-9]|entries)\/((?:x[0-9]{3}\/)*[0-9]{3})(?:\.p\/([0-9]{1,3}))?$/.exec(path) ?? []
  if (name === undefined || place === undefined) return undefined
  const tile: Tile = {
    level: name === 'entries' ? name : Number(name),
    index: Number(place.replaceAll(/[x/]/g, '')),
    width: width === undefined ? TILE_WIDTH : Number(width),
  }
  return tilePath(tile) === path && tile.width > 0 ? tile : undefined
}

/** Undefined for what `blockPath` does not make. */
export function blockAt(path: string): number | undefined {
  const index = Number(path.replace(/^block\//, '').replaceAll(/[x/]/g, ''))
  return Number.isSafeInteger(index) && blockPath(index) === path ? index : undefined
}

/** The tile as a tree of `size` leaves has it: undefined if it would be empty. */
export function tileOf(level: Tile['level'], index: number, size: number): Tile | undefined {
  const hashes = Math.floor(size / TILE_WIDTH ** (level === 'entries' ? 0 : level))
  const width = Math.min(TILE_WIDTH, hashes - index * TILE_WIDTH)
  return width > 0 ? { level, index, width } : undefined
}

/** All tiles of hashes of a tree of `size` leaves, or those that it has and the tree of `oldSize` leaves does not. */
export function* tilesOf(size: number, oldSize = 0): Generator<Tile & { readonly level: number }> {
  for (let level = 0; level < TILE_LEVELS_MAX; level++) {
    const oldTiles = Math.floor(oldSize / TILE_WIDTH ** (level + 1))
    for (let index = oldTiles; ; index++) {
      const tile = tileOf(level, index, size)
      if (tile === undefined) break
      if (tile.width !== tileOf(level, index, oldSize)?.width) yield { ...tile, level }
    }
  }
}

/** The tiles that hold what the hashes of these stretches are made of, each once. */
export function tilesFor(stretches: readonly Stretch[], size: number): Tile[] {
  const tiles = new Map<string, Tile>()
  for (const { height, index } of stretches.flatMap(subtreesOf)) {
    const level = Math.floor(height / TILE_HEIGHT)
    const first = index * 2 ** (height % TILE_HEIGHT)
    const tile = tileOf(level, Math.floor(first / TILE_WIDTH), size)
    if (tile !== undefined) tiles.set(tilePath(tile), tile)
  }
  return [...tiles.values()]
}

/** Hashes of subtrees from tiles, which are given by level and index and may be wider than needed. */
export function subtreesIn(tile: (level: number, index: number) => Uint8Array): SubtreeHash {
  return (height, index) => {
    const count = 2 ** (height % TILE_HEIGHT)
    const first = index * count
    const bytes = tile(Math.floor(height / TILE_HEIGHT), Math.floor(first / TILE_WIDTH))
    return rootOf(hashesOf(bytes).slice(first % TILE_WIDTH, (first % TILE_WIDTH) + count))
  }
}

/** Of a tile, one after another. A length that is no multiple of theirs has been refused before. */
export function hashesOf(tile: Uint8Array): Uint8Array[] {
  return Array.from({ length: Math.floor(tile.length / HASH_BYTES) }, (_, at) =>
    tile.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES),
  )
}

export function encodeBundle(leaves: readonly Uint8Array[]): Uint8Array {
  const bundle = new Uint8Array(leaves.reduce((length, leaf) => length + 2 + leaf.length, 0))
  let at = 0
  for (const leaf of leaves) {
    if (leaf.length > LEAF_BYTES_MAX) throw new RangeError(`a leaf of ${leaf.length} bytes`)
    bundle[at] = leaf.length >>> 8
    bundle[at + 1] = leaf.length & 0xff
    bundle.set(leaf, at + 2)
    at += 2 + leaf.length
  }
  return bundle
}

/** Undefined if the bytes are not whole leaves. */
export function decodeBundle(bundle: Uint8Array): Uint8Array[] | undefined {
  const leaves: Uint8Array[] = []
  let at = 0
  while (at < bundle.length) {
    const end = at + 2 + ((bundle[at]! << 8) | (bundle[at + 1] ?? 0))
    if (at + 2 > bundle.length || end > bundle.length) return undefined
    leaves.push(bundle.subarray(at + 2, end))
    at = end
  }
  return leaves
}
