// Medians and how far the rounds lie apart.

export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
  readonly rounds: number
}

/** The middle one, or the mean of the two in the middle. */
export function median(numbers: readonly number[]): number {
  if (numbers.length === 0) return NaN
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle]!
  return sorted.length % 2 === 1 ? upper : (sorted[middle - 1]! + upper) / 2
}

export function spreadOf(numbers: readonly number[]): Spread {
  return {
    median: median(numbers),
    min: Math.min(...numbers),
    max: Math.max(...numbers),
    rounds: numbers.length,
  }
}

/** In the order in which the keys are first seen. */
export function groupBy<T>(
  values: readonly T[],
  key: (value: T) => string,
): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>()
  for (const value of values) {
    const name = key(value)
    const group = groups.get(name)
    if (group === undefined) groups.set(name, [value])
    else group.push(value)
  }
  return groups
}
