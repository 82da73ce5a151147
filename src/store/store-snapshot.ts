// What a store in memory held at one moment, for those who want it back.
import type { MemoryImage } from '../storage/node/memory-nodes.js'
import type { StoreSnapshot } from './store.js'

export class MemorySnapshot implements StoreSnapshot {
  readonly #image: MemoryImage

  constructor(image: MemoryImage) {
    this.#image = image
  }

  get nodes(): number {
    return this.#image.maps.length
  }

  /** @throws TypeError if it is none */
  static imageOf(snapshot: StoreSnapshot): MemoryImage {
    if (snapshot instanceof MemorySnapshot) return snapshot.#image
    throw new TypeError('restore() needs a snapshot of a store in memory, as snapshot() resolves to')
  }
}

export const onlyInMemory = (method: string): Error =>
  new Error(
    `${method}() is for stores in memory, and this one keeps its data elsewhere. Make a backup of its tables, or copy its ` +
      `folder while no process has it open.`,
  )
