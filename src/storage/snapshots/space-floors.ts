// The highest timestamp at which a whole table was observed: a range that was read, or a predicate that was validated.
// Nobody writes at or below it any more, not even an item that is not there yet. One for each table; like read marks they
// are below a durable ceiling, which stands for them after a restart.
import { spacePrefix } from '../../model/key-bytes.js'
import type { KeyBytes, SpaceId, Timestamp } from '../../model/brand.js'

export class SpaceFloors {
  readonly #floors = new Map<string, Timestamp>()

  /** Of the space in which that address is. */
  of(address: KeyBytes): Timestamp {
    return this.#floors.size === 0 ? NONE : (this.#floors.get(address.slice(0, 4)) ?? NONE)
  }

  raise(space: SpaceId, timestamp: Timestamp): void {
    const prefix = spacePrefix(space)
    if (timestamp > (this.#floors.get(prefix) ?? NONE)) this.#floors.set(prefix, timestamp)
  }

  forget(space: SpaceId): void {
    this.#floors.delete(spacePrefix(space))
  }
}

const NONE = 0 as Timestamp
