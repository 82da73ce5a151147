// The best of many, a bounded number of them, in order. Of equal scores the one that came first is the better one. Only their
// keys are kept: a hundred large items for each of many searches would be more than the process has room for.
import type { ItemKey, VectorShape } from '../../model/table.js'

export interface NearItem {
  readonly key: ItemKey
  readonly score: number
}

export class NearestItems {
  readonly #countMax: number
  /** Of a product the larger one is the nearer one, of a distance the smaller. */
  readonly #sign: 1 | -1
  /** Best first. */
  readonly #best: NearItem[] = []

  constructor(countMax: number, distance: VectorShape['distance']) {
    this.#countMax = countMax
    this.#sign = distance === 'DOT_PRODUCT' ? -1 : 1
  }

  offer(key: ItemKey, score: number): void {
    const worst = this.#best.at(-1)
    const isFull = this.#best.length >= this.#countMax
    if (isFull && worst !== undefined && !this.#isNearer(score, worst.score)) return
    if (isFull) this.#best.pop()
    let at = this.#best.length
    while (at > 0 && this.#isNearer(score, this.#best[at - 1]!.score)) at--
    this.#best.splice(at, 0, { key, score })
  }

  inOrder(): readonly NearItem[] {
    return this.#best
  }

  #isNearer(score: number, than: number): boolean {
    return this.#sign * score < this.#sign * than
  }
}
