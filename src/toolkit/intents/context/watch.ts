// How long something has been the same, on the clock of whoever looks. Nothing is compared with a time that somebody
// else wrote down: clocks differ.

interface Seen {
  readonly stamp: string
  readonly sinceMs: number
}

export class Watch {
  readonly #seen = new Map<string, Seen>()
  readonly #entriesMax: number

  constructor(entriesMax: number) {
    this.#entriesMax = entriesMax
  }

  /** Milliseconds since this stamp was first seen under this id without another one in between. */
  unchangedMs(id: string, stamp: string, nowMs: number): number {
    const seen = this.#seen.get(id)
    if (seen?.stamp === stamp) return nowMs - seen.sinceMs
    this.#seen.delete(id)
    this.#seen.set(id, { stamp, sinceMs: nowMs })
    if (this.#seen.size > this.#entriesMax) this.#seen.delete(this.#seen.keys().next().value!)
    return 0
  }

  forget(id: string): void {
    this.#seen.delete(id)
  }
}

/** The last of many that something is known of. */
export class RecentSet {
  readonly #members = new Set<string>()
  readonly #entriesMax: number

  constructor(entriesMax: number) {
    this.#entriesMax = entriesMax
  }

  has(member: string): boolean {
    return this.#members.has(member)
  }

  add(member: string): void {
    this.#members.add(member)
    if (this.#members.size > this.#entriesMax) this.#members.delete(this.#members.keys().next().value!)
  }
}
