// A histogram of latencies in microseconds, exact to three figures: node's own HdrHistogram (see docs/adr/0010).
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks'

/** What is kept of a histogram. */
export interface LatencySummary {
  readonly count: number
  readonly meanMicros: number
  readonly p50Micros: number
  readonly p90Micros: number
  readonly p99Micros: number
  readonly p999Micros: number
  readonly maxMicros: number
}

const MICROS_MAX = 600_000_000
const FIGURES = 3

export class Latencies {
  readonly #histogram: RecordableHistogram = createHistogram({
    lowest: 1,
    highest: MICROS_MAX,
    figures: FIGURES,
  })

  get count(): number {
    return this.#histogram.count
  }

  /** What is below a microsecond counts as one, what is above ten minutes as ten minutes. */
  record(micros: number): void {
    this.#histogram.record(Math.min(MICROS_MAX, Math.max(1, Math.round(micros))))
  }

  summary(): LatencySummary {
    const histogram = this.#histogram
    if (histogram.count === 0) return NOTHING
    return {
      count: histogram.count,
      meanMicros: Math.round(histogram.mean * 10) / 10,
      p50Micros: histogram.percentile(50),
      p90Micros: histogram.percentile(90),
      p99Micros: histogram.percentile(99),
      p999Micros: histogram.percentile(99.9),
      maxMicros: histogram.max,
    }
  }
}

const NOTHING: LatencySummary = {
  count: 0,
  meanMicros: 0,
  p50Micros: 0,
  p90Micros: 0,
  p99Micros: 0,
  p999Micros: 0,
  maxMicros: 0,
}
