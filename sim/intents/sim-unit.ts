// A unit of work without the comfort of one: reads as they come, actions as they are given.
import type { Item } from '../../src/model/value.js'
import type {
  UnitAction,
  AttemptPort,
  ItemAddress,
  UnitRange,
  ReadEntry,
  CommitWork,
} from '../../src/toolkit/unit/protocol.js'

export class SimUnit {
  readonly #attempt: AttemptPort
  readonly #reads: ReadEntry[] = []
  readonly #actions: UnitAction[] = []

  constructor(attempt: AttemptPort) {
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

  async query(range: UnitRange): Promise<Item[]> {
    const rows: Item[] = []
    let start: Item | undefined
    do {
      const page = await this.#attempt.page(range, start, undefined)
      rows.push(...page.items)
      start = page.next
    } while (start !== undefined)
    return rows
  }

  act(action: Omit<UnitAction, 'pinned' | 'expressions'> & Partial<Pick<UnitAction, 'expressions'>>): void {
    this.#actions.push({ expressions: {}, ...action, pinned: false })
  }

  get work(): CommitWork {
    return { reads: this.#reads, ranges: [], actions: this.#actions, locks: [] }
  }
}
