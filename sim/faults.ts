// What can go wrong in a simulated world, and how often.

export const FAULTS = ['delay', 'drop', 'repeat', 'partition', 'crash', 'clock', 'disk', 'index'] as const
export type SimFault = (typeof FAULTS)[number]

export const rates = {
  /** Of all messages between processes. */
  dropped: 0.05,
  repeated: 0.05,
  slow: 0.05,
  /** Crashes at a crash point: rarer the more often a world has passed it, so that each gets its turn. */
  crash: 0.003,
  crashPassesHalf: 50,
  /** Of crashes: the whole machine loses power, not only the process. */
  powerCut: 0.5,
  /** Of writes to the journal. */
  diskFull: 0.001,
  diskOftenFull: 0.03,
  syncFailed: 0.0005,
  /** While there is no room for what the indexes lack. */
  diskShort: 0.05,
} as const

/** How often each thing happened; kept over many worlds. */
export class Tally {
  /** By prefix, so that a name need not be put together each time. */
  readonly #counts = new Map<string, Map<string, number>>()

  /** `add('fault/', 'drop')` and `add('fault/drop')` count the same. */
  add(prefix: string, name = '', count = 1): void {
    let counts = this.#counts.get(prefix)
    if (counts === undefined) this.#counts.set(prefix, (counts = new Map<string, number>()))
    counts.set(name, (counts.get(name) ?? 0) + count)
  }

  of(name: string): number {
    let sum = 0
    for (const [prefix, counts] of this.#counts)
      if (name.startsWith(prefix)) sum += counts.get(name.slice(prefix.length)) ?? 0
    return sum
  }

  addAll(other: Tally): void {
    for (const [prefix, counts] of other.#counts)
      for (const [name, count] of counts) this.add(prefix, name, count)
  }

  /** Those with a prefix, without it, in order of name. */
  under(prefix: string): (readonly [string, number])[] {
    const sums = new Map<string, number>()
    for (const [start, counts] of this.#counts) {
      for (const [end, count] of counts) {
        const name = start + end
        if (name.startsWith(prefix)) sums.set(name, (sums.get(name) ?? 0) + count)
      }
    }
    return Array.from(sums, ([name, count]) => [name.slice(prefix.length), count] as const).toSorted(
      ([a], [b]) => (a < b ? -1 : 1),
    )
  }
}
