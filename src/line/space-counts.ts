// How many items and bytes each space holds, as of the last decision.
import type { KeyBytes, SpaceId } from '../model/brand.js'
import { countBounds, countSpace, decodeCount } from './spaces.js'

export interface SpaceCount {
  readonly items: number
  readonly bytes: number
}

const NOTHING: SpaceCount = { items: 0, bytes: 0 }

export class Counts {
  readonly #bySpace = new Map<SpaceId, SpaceCount>()

  load(view: {
    range(range: typeof countBounds & { reverse: false }): Iterable<readonly [KeyBytes, Uint8Array]>
  }): void {
    for (const [key, value] of view.range({ ...countBounds, reverse: false })) {
      this.#bySpace.set(countSpace(key), decodeCount(value))
    }
  }

  of(space: SpaceId): SpaceCount {
    return this.#bySpace.get(space) ?? NOTHING
  }

  set(space: SpaceId, count: SpaceCount): void {
    this.#bySpace.set(space, count)
  }

  forget(space: SpaceId): void {
    this.#bySpace.delete(space)
  }
}
