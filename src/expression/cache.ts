// A bounded memory of parsed texts: applications send few different texts, many times each.

export class TextCache<Value> {
  readonly #entriesMax: number
  readonly #charactersMax: number
  /** Least recently used first. */
  readonly #entries = new Map<string, Value>()
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
      this.#entries.delete(text)
      this.#entries.set(text, known)
      return known
    }
    const value = make(text)
    this.#entries.set(text, value)
    this.#characters += text.length
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#entriesMax && this.#characters <= this.#charactersMax) break
      this.#entries.delete(oldest)
      this.#characters -= oldest.length
    }
    return value
  }
}
