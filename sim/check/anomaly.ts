// What a judge found wrong with a history.

export interface Anomaly {
  /** The judge's word for it, such as `G-single`. */
  readonly kind: string
  /** For a person who wants to know why. */
  readonly explanation: string
}

/** Judges stop listing after this many of one kind: a broken store breaks everything. */
export const ANOMALIES_MAX = 10

export class Findings {
  readonly #found: Anomaly[] = []
  readonly #counts = new Map<string, number>()

  add(kind: string, explanation: string): void {
    const count = (this.#counts.get(kind) ?? 0) + 1
    this.#counts.set(kind, count)
    if (count <= ANOMALIES_MAX) this.#found.push({ kind, explanation })
  }

  get all(): readonly Anomaly[] {
    return this.#found
  }
}
