// Which keys an import has brought already, in bounded memory: a Bloom filter. It may say that a key was there which was not, and
// then the table is asked; it never says that one is new which is not. Looking for a key that is not in the table takes a third of
// an import (docs/adr/0039).
import { hashBytes } from '../../model/key-bytes.js'
import type { ItemKey } from '../../model/table.js'

const BITS_MIN = 2 ** 20
const BITS_MAX = 2 ** 28
const BITS_PER_KEY = 16
const PROBES = 4

export class SeenKeys {
  readonly #words: Uint32Array
  readonly #mask: number

  /** `keysAbout`: with more of them the table is asked more often. */
  constructor(keysAbout: number, { bitsMin, bitsMax } = { bitsMin: BITS_MIN, bitsMax: BITS_MAX }) {
    const wanted = 2 ** Math.ceil(Math.log2(Math.max(1, keysAbout * BITS_PER_KEY)))
    const bits = Math.min(Math.max(wanted, bitsMin), bitsMax)
    this.#words = new Uint32Array(bits / 32)
    this.#mask = bits - 1
  }

  /** True: this key was never added before. It is from now on. */
  add({ hash, bytes }: ItemKey): boolean {
    const words = this.#words
    let probe = hashBytes(bytes)
    // Odd, so that the probes of one key differ.
    const step = Math.imul(hash, 0x9e3779b1) | 1
    let isNew = false
    for (let count = 0; count < PROBES; count++) {
      const bit = probe & this.#mask
      const flag = 1 << (bit & 31)
      const word = words[bit >>> 5]!
      if ((word & flag) === 0) {
        isNew = true
        words[bit >>> 5] = word | flag
      }
      probe = (probe + step) | 0
    }
    return isNew
  }
}
