// Reading: an item with somebody's intent on it is what it was before, or what that transaction made of it, as its
// header says. No reader waits, and none sees half of a transaction that is not decided.
import type { Item } from '../../../model/value.js'
import type { ItemAddress } from '../../unit/protocol.js'
import type { RequestUsage } from '../context/caller.js'
import { readHeader } from '../context/headers.js'
import { type Header, type Intent, type Redo, type Stored, storedOf } from '../protocol/records.js'
import { committedOf, type Effective, effectiveOf, settlementOf } from '../protocol/rules.js'
import { inParallel, readOne, readRaw, type IntentsContext } from '../context/context.js'
import { redoOfIntent } from '../context/spill.js'

export interface SeenItem extends Effective {
  /** As it is in the table. */
  readonly stored?: Stored
  /** Of a transaction, not my own, that is not decided: it may change this item any moment. */
  readonly undecided?: Intent
}

/** Headers are read once for all items that are looked at together. */
export class ItemReader {
  readonly #space: IntentsContext
  readonly #usage: RequestUsage
  /** My own transaction: its intents hide nothing. */
  readonly #mine: string | undefined
  readonly #headers = new Map<string, Promise<Header | undefined>>()

  constructor(space: IntentsContext, usage: RequestUsage, mine?: string) {
    this.#space = space
    this.#usage = usage
    this.#mine = mine
  }

  async items(addresses: readonly ItemAddress[]): Promise<SeenItem[]> {
    const raw = await readRaw(this.#space, addresses, this.#usage)
    return this.looks(raw, (at) => addresses[at]!)
  }

  async looks(
    raw: readonly (Item | undefined)[],
    addressOf: (at: number) => ItemAddress,
  ): Promise<SeenItem[]> {
    const looks: SeenItem[] = raw.map((item) => {
      const stored = storedOf(item)
      return stored === undefined ? {} : { stored, ...committedOf(stored) }
    })
    const locked = [...looks.entries()].filter(([, { stored }]) => this.#isForeign(stored?.intent))
    await inParallel(locked, async ([at, { stored }]) => {
      looks[at] = await this.#decided(stored!, addressOf(at))
    })
    return looks
  }

  #isForeign(intent: Intent | undefined): boolean {
    return intent !== undefined && intent.id !== this.#mine
  }

  async #decided(stored: Stored, address: ItemAddress): Promise<SeenItem> {
    const intent = stored.intent!
    const header = await this.#header(intent.id)
    const settlement = settlementOf(intent, header)
    if (settlement === 'undecided') return { stored, ...committedOf(stored), undecided: intent }
    // Either the item was read before its transaction finished it, or this is a repetition of its intent. The
    // transaction is done, so whatever is on the item now is a repetition.
    if (header?.state === 'committed' && header.done) return this.#again(address, intent)
    const redo: Redo =
      settlement === 'apply' ? await redoOfIntent(this.#space, intent, this.#usage) : { act: 'keep' }
    return { stored, ...effectiveOf(stored, settlement, redo) }
  }

  async #again(address: ItemAddress, before: Intent): Promise<SeenItem> {
    const stored = storedOf(await readOne(this.#space.caller, address, this.#usage))
    if (stored === undefined) return {}
    const { intent } = stored
    if (intent === undefined || intent.id === before.id || !this.#isForeign(intent))
      return { stored, ...committedOf(stored) }
    return this.#decided(stored, address)
  }

  #header(id: string): Promise<Header | undefined> {
    let header = this.#headers.get(id)
    if (header === undefined) {
      header = readHeader(this.#space, id, this.#usage)
      this.#headers.set(id, header)
    }
    return header
  }
}
