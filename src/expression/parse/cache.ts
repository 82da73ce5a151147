// A bounded memory of parsed texts: applications send few different texts, many times each.

export class TextCache<Value> {
  readonly #entriesMax: number
  readonly #charactersMax: number
  /** In the order in which they came, or were last spared. */
  readonly #entries = new Map<string, { readonly value: Value; used: boolean }>()
  #characters = 0

  constructor(bounds: { readonly entriesMax: number; readonly charactersMax: number }) {
    this.#entriesMax = bounds.entriesMax
    this.#charactersMax = bounds.charactersMax
  }

  get size(): number {
    return this.#entries.size
  }

  /** The value made of that text; one that could not be made is not remembered. */
  get(text: string, make: (text: string) => Value): Value {
    const known = this.#entries.get(text)
    if (known !== undefined) {
      known.used = true
      return known.value
    }
    const value = make(text)
    if (text.length > this.#charactersMax) return value
    this.#makeRoom(text.length)
    this.#entries.set(text, { value, used: false })
    this.#characters += text.length
    return value
  }

  /** The oldest go first, but one that was used since it was last looked at is spared once: using one costs no order. */
  #makeRoom(characters: number): void {
    for (const [oldest, entry] of this.#entries) {
      const fits = this.#characters + characters <= this.#charactersMax
      if (fits && this.#entries.size < this.#entriesMax) return
      this.#entries.delete(oldest)
      if (entry.used) {
        entry.used = false
        this.#entries.set(oldest, entry)
      } else {
        this.#characters -= oldest.length
      }
    }
  }
}
