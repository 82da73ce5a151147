// Charts are made of differences: what was counted between two rows of the server's history.
export interface Sample {
  readonly Time: number
  readonly Ok: number
  readonly Errors: number
  readonly Conflicts: number
  readonly Retriable: number
  readonly ConditionsFailed: number
  readonly Buckets: readonly number[]
  readonly InFlight: number
  readonly Connections: number
  readonly ReceivedBytes: number
  readonly SentBytes: number
  readonly ResidentBytes: number
  readonly HeapBytes: number
  readonly WrittenBytes: number
}

export interface History {
  readonly IntervalMs: number
  readonly BucketsSeconds: readonly number[]
  readonly Samples: readonly Sample[]
}

export interface Series {
  readonly times: readonly number[]
  readonly values: readonly (readonly (number | null)[])[]
}

/** A second apart at least: the row of now may follow the one before it at once. */
const GAP_MS_MIN = 1000

function pairs(samples: readonly Sample[]): readonly (readonly [Sample, Sample])[] {
  return samples.slice(1).flatMap((sample, at) => {
    const before = samples[at] as Sample
    return sample.Time - before.Time >= GAP_MS_MIN ? [[before, sample] as const] : []
  })
}

type Counter =
  | 'Ok'
  | 'Errors'
  | 'Conflicts'
  | 'Retriable'
  | 'ConditionsFailed'
  | 'ReceivedBytes'
  | 'SentBytes'
  | 'WrittenBytes'

export function rates(samples: readonly Sample[], counters: readonly Counter[]): Series {
  const found = pairs(samples)
  return {
    times: found.map(([, sample]) => sample.Time / 1000),
    values: counters.map((counter) =>
      found.map(([before, sample]) =>
        Math.max(0, (sample[counter] - before[counter]) / ((sample.Time - before.Time) / 1000)),
      ),
    ),
  }
}

export const gauges = (
  samples: readonly Sample[],
  names: readonly ('ResidentBytes' | 'HeapBytes' | 'InFlight' | 'Connections')[],
): Series => ({
  times: samples.map(({ Time }) => Time / 1000),
  values: names.map((name) => samples.map((sample) => sample[name])),
})

/** In milliseconds, within the buckets that the server counts in; null where nothing was asked. */
export function quantiles(
  samples: readonly Sample[],
  bounds: readonly number[],
  shares: readonly number[],
): Series {
  const found = pairs(samples)
  return {
    times: found.map(([, sample]) => sample.Time / 1000),
    values: shares.map((share) =>
      found.map(([before, sample]) =>
        quantile(
          sample.Buckets.map((count, at) => count - (before.Buckets[at] ?? 0)),
          bounds,
          share,
        ),
      ),
    ),
  }
}

function quantile(counts: readonly number[], bounds: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, each) => sum + each, 0)
  if (total === 0) return null
  let left = total * share
  for (let at = 0; at < counts.length; at++) {
    const count = counts[at] as number
    const low = at === 0 ? 0 : (bounds[at - 1] ?? 0)
    const high = bounds[at] ?? low * 2
    if (count >= left && count > 0) return (low + (high - low) * (left / count)) * 1000
    left -= count
  }
  return (bounds.at(-1) ?? 0) * 1000
}
