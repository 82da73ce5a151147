// How long a run still takes.

/** What is left by the estimates, corrected by how wrong they were so far. */
export class TimeLeft {
  #estimatedLeftMs: number
  #estimatedDoneMs = 0
  #tookMs = 0

  constructor(estimatedMs: number) {
    this.#estimatedLeftMs = estimatedMs
  }

  async take<T>(estimateMs: number, work: () => Promise<T>): Promise<T> {
    const startMs = performance.now()
    try {
      return await work()
    } finally {
      this.took(estimateMs, performance.now() - startMs)
    }
  }

  took(estimateMs: number, tookMs: number): void {
    this.#estimatedLeftMs -= estimateMs
    this.#estimatedDoneMs += estimateMs
    this.#tookMs += tookMs
  }

  get leftMs(): number {
    // The first units say little about the others.
    const factor = (this.#tookMs + STEADYING_MS) / (this.#estimatedDoneMs + STEADYING_MS)
    return Math.max(0, this.#estimatedLeftMs) * factor
  }

  line(): string {
    const seconds = Math.round(this.leftMs / 1000)
    const minutes = Math.floor(seconds / 60)
    return `[${String(minutes).padStart(2)}:${String(seconds % 60).padStart(2, '0')} left]`
  }
}

const STEADYING_MS = 10_000
