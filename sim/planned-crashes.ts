// Crashes on purpose: at the so-and-so-manieth arrival of any process at a crash point of that name.

export interface Aim {
  /** With its role, such as `node:after-sync`. */
  readonly point: string
  /** The first arrival is 1. */
  readonly arrival: number
}

export class Aims {
  readonly #points = new Map<string, { arrived: number; readonly wanted: Set<number> }>()

  constructor(aims: readonly Aim[]) {
    for (const { point, arrival } of aims) {
      const aimed = this.#points.get(point)
      if (aimed === undefined) this.#points.set(point, { arrived: 0, wanted: new Set([arrival]) })
      else aimed.wanted.add(arrival)
    }
  }

  /** Somebody has arrived there; true if that was an arrival to crash at. */
  isMet(point: string): boolean {
    const aimed = this.#points.get(point)
    return aimed !== undefined && aimed.wanted.has(++aimed.arrived)
  }
}
