// The last hour of the server's own counters, in memory: what charts are drawn of. One row every ten seconds, and one of now.
import { BUCKETS_SECONDS, type Metrics, type MetricsSample } from './metrics.js'

const INTERVAL_MS = 10_000
const SAMPLES_MAX = 360

export class MetricsHistory {
  readonly #metrics: Metrics
  readonly #samples: MetricsSample[] = []
  readonly #timer: NodeJS.Timeout

  constructor(metrics: Metrics) {
    this.#metrics = metrics
    this.#samples.push(metrics.sample())
    this.#timer = setInterval(() => {
      this.#samples.push(metrics.sample())
      if (this.#samples.length > SAMPLES_MAX) this.#samples.shift()
    }, INTERVAL_MS).unref()
  }

  /** As JSON. Counters only grow, so a reader takes differences. */
  render(): string {
    return JSON.stringify({
      IntervalMs: INTERVAL_MS,
      BucketsSeconds: BUCKETS_SECONDS,
      Samples: [...this.#samples, this.#metrics.sample()],
    })
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}
