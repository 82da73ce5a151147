// Pages that were read in this generation or the one before, a bit for each.

export class RecentPages {
  #young = new Uint8Array(0)
  #old = new Uint8Array(0)

  /** A page of the older generation is one of the younger from now on. */
  has(page: number): boolean {
    const at = page >> 3
    const bit = 1 << (page & 7)
    if (((this.#young[at] ?? 0) & bit) !== 0) return true
    if (((this.#old[at] ?? 0) & bit) === 0) return false
    this.add(page)
    return true
  }

  add(page: number): void {
    const at = page >> 3
    if (at >= this.#young.length) this.#young = grown(this.#young, at + 1)
    this.#young[at]! |= 1 << (page & 7)
  }

  /** What was not asked for since the last time is forgotten. */
  age(): void {
    this.#old = this.#young
    this.#young = new Uint8Array(this.#old.length)
  }

  clear(): void {
    this.#young = new Uint8Array(0)
    this.#old = this.#young
  }
}

function grown(bytes: Uint8Array, length: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.max(length, bytes.length * 2))
  larger.set(bytes)
  return larger
}
