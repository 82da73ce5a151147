// Crashes on purpose: at the so-and-so-manieth arrival of any process at a crash point of that name.

export interface Aim {
  /** With its role, such as `node:after-sync`. */
  readonly point: string
  /** The first arrival is 1. */
  readonly arrival: number
}

export class Aims {
  readonly #left: Map<string, number>

  constructor(aims: readonly Aim[]) {
    this.#left = new Map(aims.map(({ point, arrival }) => [point, arrival]))
  }

  /** Somebody has arrived there; true if that was the arrival to crash at. */
  isMet(point: string): boolean {
    const left = this.#left.get(point)
    if (left === undefined) return false
    if (left > 1) this.#left.set(point, left - 1)
    else this.#left.delete(point)
    return left <= 1
  }
}
