// Whether a row that this server does not remember is likely not to be there, by those of the same space that it has met last. A blind
// write of a new item needs no read; one over an item that another server wrote last is refused first if it was taken for new, which
// costs more than the read.
const SCORE_MAX = 8
const SPACES_MAX = 10_000

export class Absences {
  /** Of each space: above zero where rows were absent of late, below where they were there. */
  readonly #scores = new Map<string, number>()

  isLikely(space: string): boolean {
    return (this.#scores.get(space) ?? 0) >= 0
  }

  met(space: string, wasAbsent: boolean): void {
    const score = (this.#scores.get(space) ?? 0) + (wasAbsent ? 1 : -1)
    if (this.#scores.size >= SPACES_MAX) this.#scores.clear()
    this.#scores.set(space, Math.max(-SCORE_MAX, Math.min(SCORE_MAX, score)))
  }
}
