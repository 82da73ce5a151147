// Who wants to know when an item changes. Writers pay for it only while somebody does.
import type { KeyBytes } from '../model/brand.js'

export class Watches {
  readonly #callbacks = new Map<KeyBytes, Set<() => void>>()

  /** Keys that somebody watches. */
  get size(): number {
    return this.#callbacks.size
  }

  /** Calls back whenever readers begin to see a change of that key; the result ends it. */
  add(key: KeyBytes, callback: () => void): () => void {
    const callbacks = this.#callbacks.get(key) ?? new Set()
    this.#callbacks.set(key, callbacks.add(callback))
    return () => {
      callbacks.delete(callback)
      if (callbacks.size === 0 && this.#callbacks.get(key) === callbacks) this.#callbacks.delete(key)
    }
  }

  /** Readers see this change now. */
  changed(key: KeyBytes): void {
    const callbacks = this.#callbacks.get(key)
    if (callbacks !== undefined) for (const callback of callbacks) callback()
  }
}
