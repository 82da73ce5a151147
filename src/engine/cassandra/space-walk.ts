// A walk through all rows of a space, in the order of the ring: by the token of the partition, then by its bytes, then by row.
//
//   behind a row:  the rest of its partition --> other partitions with the very same token --> partitions with larger tokens
//
// Tokens are 64 bits of a hash that is not cryptographic: two partitions may have the same one, by malice too. So the walk never goes
// on behind a token without having asked for the other partitions that have it.
import type { types } from 'cassandra-driver'
import type { EngineRow, RowAddress, RowPage, SpaceRange } from '../engine.js'
import { blob } from './statements.js'

export interface SpaceReader {
  select(where: string, params: unknown[]): Promise<EngineRow[]>
  partitions(where: string, params: unknown[]): Promise<Buffer[]>
}

const TOKEN_MIN = -(2n ** 63n)
const PARTS = 2 ** 32
const TOKENS_OF_PART = 2n ** 32n

export class SpaceWalk {
  readonly #Long: typeof types.Long
  readonly #reader: SpaceReader

  constructor(Long: typeof types.Long, reader: SpaceReader) {
    this.#Long = Long
    this.#reader = reader
  }

  async page({ after, fromPart = 0, toPart }: SpaceRange, rowsMax: number): Promise<RowPage> {
    const end = toPart === undefined || toPart >= PARTS ? undefined : this.#token(toPart)
    if (after === undefined) return pageOf(await this.#from(fromPart, end, rowsMax), rowsMax)
    const rest = await this.#restOfPartition(after, rowsMax)
    if (rest.length > rowsMax) return pageOf(rest, rowsMax)
    const twins = await this.#twins(after, rowsMax - rest.length)
    const near = [...rest, ...twins]
    if (near.length > rowsMax) return pageOf(near, rowsMax)
    return pageOf([...near, ...(await this.#behind(after, end, rowsMax - near.length))], rowsMax)
  }

  #restOfPartition({ partition, row }: RowAddress, rowsMax: number): Promise<EngineRow[]> {
    return this.#reader.select('WHERE partition = ? AND row > ? LIMIT ?', [
      blob(partition),
      blob(row),
      rowsMax + 1,
    ])
  }

  /** The other partitions with the token of this one that stand behind it. */
  async #twins({ partition }: RowAddress, rowsMax: number): Promise<EngineRow[]> {
    const place = blob(partition)
    const all = await this.#reader.partitions('WHERE token(partition) = token(?)', [place])
    const found: EngineRow[] = []
    for (const twin of all.filter((each) => each.compare(place) > 0).toSorted((a, b) => a.compare(b))) {
      if (found.length > rowsMax) break
      found.push(
        ...(await this.#reader.select('WHERE partition = ? LIMIT ?', [twin, rowsMax + 1 - found.length])),
      )
    }
    return found
  }

  #behind({ partition }: RowAddress, end: types.Long | undefined, rowsMax: number): Promise<EngineRow[]> {
    return end === undefined
      ? this.#reader.select('WHERE token(partition) > token(?) LIMIT ?', [blob(partition), rowsMax + 1])
      : this.#reader.select('WHERE token(partition) > token(?) AND token(partition) < ? LIMIT ?', [
          blob(partition),
          end,
          rowsMax + 1,
        ])
  }

  #from(fromPart: number, end: types.Long | undefined, rowsMax: number): Promise<EngineRow[]> {
    const begin = this.#token(fromPart)
    return end === undefined
      ? this.#reader.select('WHERE token(partition) >= ? LIMIT ?', [begin, rowsMax + 1])
      : this.#reader.select('WHERE token(partition) >= ? AND token(partition) < ? LIMIT ?', [
          begin,
          end,
          rowsMax + 1,
        ])
  }

  #token(part: number): types.Long {
    return this.#Long.fromString((TOKEN_MIN + BigInt(part) * TOKENS_OF_PART).toString())
  }
}

const pageOf = (rows: readonly EngineRow[], rowsMax: number): RowPage => ({
  rows: rows.slice(0, rowsMax),
  more: rows.length > rowsMax,
})
