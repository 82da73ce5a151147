// A unit of work without the comfort of one: reads as they come, actions as they are given.
import type { Item } from '../../src/model/value.js'
import type {
  Action,
  Attempt,
  ItemAddress,
  RangeRequest,
  ReadEntry,
  UnitWork,
} from '../../src/toolkit/endpoint/protocol.js'

export class SimUnit {
  readonly #attempt: Attempt
  readonly #reads: ReadEntry[] = []
  readonly #actions: Action[] = []

  constructor(attempt: Attempt) {
    this.#attempt = attempt
  }

  async get(addresses: readonly ItemAddress[], options = { lock: false }): Promise<(Item | undefined)[]> {
    const read = await this.#attempt.get(addresses, options)
    return read.map(({ item, version }, at) => {
      this.#reads.push({
        ...addresses[at]!,
        ...(item !== undefined && { item }),
        ...(version !== undefined && { version }),
      })
      return item
    })
  }

  async query(range: RangeRequest): Promise<Item[]> {
    const rows: Item[] = []
    let start: Item | undefined
    do {
      const page = await this.#attempt.page(range, start, undefined)
      rows.push(...page.items)
      start = page.next
    } while (start !== undefined)
    return rows
  }

  act(action: Omit<Action, 'pinned' | 'expressions'> & Partial<Pick<Action, 'expressions'>>): void {
    this.#actions.push({ expressions: {}, ...action, pinned: false })
  }

  get work(): UnitWork {
    return { reads: this.#reads, ranges: [], actions: this.#actions, locks: [] }
  }
}
