// The only source of chance in a simulated world (sfc32, Chris Doty-Humphrey, public domain). One seed, one world.

export class Random {
  #a: number
  #b: number
  #c: number
  #counter = 1

  constructor(seed: number) {
    this.#a = seed | 0
    this.#b = Math.floor(seed / 2 ** 32) | 0
    this.#c = 0x9e3779b9 | 0
    for (let round = 0; round < 16; round++) this.word()
  }

  /** 32 unsigned bits. */
  word(): number {
    const result = (((this.#a + this.#b) | 0) + this.#counter) | 0
    this.#counter = (this.#counter + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + result) | 0
    return result >>> 0
  }

  /** From 0 up to, but not including, 1. */
  fraction(): number {
    return this.word() / 2 ** 32
  }

  /** An integer from 0 up to, but not including, `bound`. */
  below(bound: number): number {
    return Math.floor(this.fraction() * bound)
  }

  /** An integer from `min` to `max`, both included. */
  between(min: number, max: number): number {
    return min + this.below(max - min + 1)
  }

  chance(probability: number): boolean {
    return this.fraction() < probability
  }

  pick<T>(choices: readonly T[]): T {
    if (choices.length === 0) throw new RangeError('nothing to pick from')
    return choices[this.below(choices.length)] as T
  }

  /** That many different ones, or all. */
  sample<T>(choices: readonly T[], count: number): T[] {
    const left = [...choices]
    const taken: T[] = []
    while (taken.length < count && left.length > 0) taken.push(...left.splice(this.below(left.length), 1))
    return taken
  }

  /** Mostly near `min`, rarely near `max`: each doubling is as likely as the next. */
  skewed(min: number, max: number): number {
    return Math.round(min * (max / min) ** this.fraction())
  }

  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.below(256))
  }

  /** A source of its own, so that what draws from it does not disturb the others. */
  fork(): Random {
    return new Random(this.word() * 2 ** 20 + (this.word() >>> 12))
  }
}
