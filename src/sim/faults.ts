// What can go wrong in a simulated world, and how often.

export const FAULTS = ['delay', 'drop', 'repeat', 'partition', 'crash', 'clock', 'disk'] as const
export type Fault = (typeof FAULTS)[number]

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
  syncFailed: 0.0005,
} as const

/** How often each thing happened; kept over many worlds. */
export class Tally {
  readonly counts = new Map<string, number>()

  add(name: string, count = 1): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + count)
  }

  of(name: string): number {
    return this.counts.get(name) ?? 0
  }

  addAll(other: Iterable<readonly [string, number]>): void {
    for (const [name, count] of other) this.add(name, count)
  }

  /** Those with a prefix, without it, in order of name. */
  under(prefix: string): (readonly [string, number])[] {
    return [...this.counts]
      .filter(([name]) => name.startsWith(prefix))
      .map(([name, count]) => [name.slice(prefix.length), count] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
  }
}
