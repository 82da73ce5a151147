// Requests that wait for a condition on an item. All that wait for one item share one look at it:
//
//   a change --> read the record --> parse it, if its bytes are new --> every condition of that item, a few in a turn
//   requests that come --> likewise, for the conditions of all that came before the record was read
//
// A condition is evaluated against the parsed image, which nobody changes. A change during a look leads to one more look,
// however many changes there were.
import { parseRecord } from '../../line/record.js'
import type { Item } from '../../model/value.js'
import type { Runtime } from '../../runtime/runtime.js'
import type { ItemRecord, ItemWatch } from '../../storage/contract/storage-node.js'
import { joinReply } from '../request/reply.js'

export const waitLimits = {
  /** Of one store. What comes when there are so many is answered at once. */
  waitsMax: 4_000,
  /** Of them, of one access key: the others still have most of the room. */
  waitsOfKeyMax: 1_000,
  /** Of them, for one item. */
  waitsOfItemMax: 1_000,
  /** Conditions evaluated before other requests get their turn: the dearest takes some milliseconds. */
  conditionsPerTurn: 8,
} as const

/** An item that can be waited for. */
export interface WaitedItem {
  /** Names it among all items of the store. */
  readonly id: string
  read(): Promise<ItemRecord | undefined>
  /** Undefined where changes are not told of. */
  readonly watch: ((changed: () => void) => ItemWatch) | undefined
}

/** What an item was at a look: parsed once, for all conditions. */
export class WatchedImage {
  readonly #record: ItemRecord | undefined
  readonly #parse: (record: ItemRecord) => Item
  #item: Item | undefined
  readonly #replies = new Map<boolean, Uint8Array>()

  constructor(record: ItemRecord | undefined, parse: (record: ItemRecord) => Item) {
    this.#record = record
    this.#parse = parse
  }

  get item(): Item | undefined {
    return this.#record && (this.#item ??= this.#parse(this.#record))
  }

  /** Those who are answered with one image get the same bytes: a thousand answers take no more memory than one. */
  reply(met: boolean): Uint8Array {
    let reply = this.#replies.get(met)
    if (reply === undefined) {
      const record = this.#record
      reply = bytesOf(record === undefined ? [`{"Met":${met}}`] : [`{"Met":${met},"Item":`, record.json, '}'])
      this.#replies.set(met, reply)
    }
    return reply
  }
}

/** Without the room that a head would be written into: others share the bytes. */
function bytesOf(pieces: readonly (string | Uint8Array)[]): Uint8Array {
  const reply = joinReply(pieces)
  return reply instanceof Uint8Array ? reply : reply.body
}

export interface WaitOutcome {
  readonly met: boolean
  readonly image: WatchedImage
}

type Holds = (item: Item | undefined) => boolean

interface Waiter {
  readonly holds: Holds
  readonly settle: (outcome: WaitOutcome) => void
  readonly fail: (error: unknown) => void
}

/** All that waits in one store, so that a store which is about to close can let it go. */
export class ItemWaits {
  readonly #parse: (record: ItemRecord) => Item
  readonly #byItem = new Map<string, Line>()
  readonly #ofKey = new Map<string, number>()
  #count = 0

  constructor(parse: (record: ItemRecord) => Item = parseRecord) {
    this.#parse = parse
  }

  endAll(): void {
    for (const line of this.#byItem.values()) line.endAll()
  }

  /** Until the condition holds, the time is over, all are let go, or there are too many to wait. */
  async until(
    runtime: Runtime,
    item: WaitedItem,
    holds: Holds,
    timeoutMs: number,
    /** Whose request it is; empty: of a client without a key, which has all the room. */
    key = '',
  ): Promise<WaitOutcome> {
    if (timeoutMs <= 0 || item.watch === undefined || this.#isFull(item, key)) {
      const image = new WatchedImage(await item.read(), this.#parse)
      return { met: holds(image.item), image }
    }
    const line = this.#lineOf(runtime, item)
    this.#add(key, 1)
    return new Promise<WaitOutcome>((resolve, reject) => {
      const leave = (done: () => void): void => {
        if (!line.waiters.delete(waiter)) return
        cancel()
        this.#add(key, -1)
        if (line.waiters.size === 0) {
          line.close()
          this.#byItem.delete(item.id)
        }
        done()
      }
      const waiter: Waiter = {
        holds,
        settle: (outcome) => leave(() => resolve(outcome)),
        fail: (error) => leave(() => reject(error)),
      }
      line.waiters.add(waiter)
      const cancel = runtime.clock.timer(timeoutMs, () => line.expire(waiter))
      // Only now: what changes from here on is told.
      line.lookFor(waiter)
    })
  }

  #isFull({ id }: WaitedItem, key: string): boolean {
    const ofItem = this.#byItem.get(id)?.waiters.size ?? 0
    const ofKey = this.#ofKey.get(key) ?? 0
    const { waitsMax, waitsOfItemMax, waitsOfKeyMax } = waitLimits
    return this.#count >= waitsMax || ofItem >= waitsOfItemMax || ofKey >= waitsOfKeyMax
  }

  #add(key: string, change: number): void {
    this.#count += change
    if (key === '') return
    const count = (this.#ofKey.get(key) ?? 0) + change
    if (count === 0) this.#ofKey.delete(key)
    else this.#ofKey.set(key, count)
  }

  #lineOf(runtime: Runtime, item: WaitedItem): Line {
    let line = this.#byItem.get(item.id)
    if (line === undefined) this.#byItem.set(item.id, (line = new Line(runtime, item, this.#parse)))
    return line
  }
}

/** Those who wait for one item. Between two looks it holds nothing of the item. */
class Line {
  readonly waiters = new Set<Waiter>()
  readonly #runtime: Runtime
  readonly #item: WaitedItem
  readonly #parse: (record: ItemRecord) => Item
  readonly #watch: ItemWatch
  #looking = false
  #again = false
  /** Those who have just come, and had no look yet. */
  #newcomers: Waiter[] = []
  #welcoming = false
  #expired: Waiter[] = []

  constructor(runtime: Runtime, item: WaitedItem, parse: (record: ItemRecord) => Item) {
    this.#runtime = runtime
    this.#item = item
    this.#parse = parse
    this.#watch = item.watch!(() => this.#changed())
  }

  /** The first look of one that has just come. */
  lookFor(waiter: Waiter): void {
    this.#newcomers.push(waiter)
    if (!this.#welcoming) void this.#welcome()
  }

  /** Those who come while the record is read, or conditions are evaluated, have the next look together. */
  async #welcome(): Promise<void> {
    this.#welcoming = true
    while (this.#newcomers.length > 0) {
      const newcomers = this.#newcomers
      this.#newcomers = []
      try {
        await this.#evaluateAll(newcomers, await this.#readWatched())
      } catch (error) {
        newcomers.forEach((waiter) => waiter.fail(error))
      }
    }
    // In the step that found none: who comes after it begins anew.
    this.#welcoming = false
  }

  /** Its time is over. Those of one turn are answered together. */
  expire(waiter: Waiter): void {
    this.#expired.push(waiter)
    if (this.#expired.length === 1) this.#runtime.defer(() => this.#answer(this.#expired.splice(0)))
  }

  endAll(): void {
    this.#answer([...this.waiters])
  }

  close(): void {
    this.#watch.end()
    this.#again = false
  }

  /** They are told that it did not hold, and what the item is. */
  #answer(waiters: readonly Waiter[]): void {
    this.#read().then(
      (image) => waiters.forEach((waiter) => waiter.settle({ met: false, image })),
      (error: unknown) => waiters.forEach((waiter) => waiter.fail(error)),
    )
  }

  /** A change after this look is told of: none falls between the look and the watch. */
  async #readWatched(): Promise<WatchedImage> {
    if (this.#watch.begun !== undefined) await this.#watch.begun
    return this.#read()
  }

  async #read(): Promise<WatchedImage> {
    return new WatchedImage(await this.#item.read(), this.#parse)
  }

  #changed(): void {
    this.#again = true
    if (!this.#looking) void this.#lookAll()
  }

  async #lookAll(): Promise<void> {
    this.#looking = true
    while (this.#again) {
      this.#again = false
      try {
        const image = await this.#read()
        // Not those who come meanwhile: they have a look of their own.
        await this.#evaluateAll([...this.waiters], image)
      } catch (error) {
        this.waiters.forEach((waiter) => waiter.fail(error))
      }
    }
    // In the step that found no further change: one that comes after it begins anew.
    this.#looking = false
  }

  /** To the end, although the item may have changed meanwhile: otherwise those at the end of the line never get a look. */
  async #evaluateAll(waiters: readonly Waiter[], image: WatchedImage): Promise<void> {
    let evaluated = 0
    for (const waiter of waiters) {
      if (evaluated > 0 && evaluated % waitLimits.conditionsPerTurn === 0)
        await new Promise<void>((resolve) => this.#runtime.defer(resolve))
      if (!this.waiters.has(waiter)) continue
      evaluated++
      this.#evaluate(waiter, image)
    }
  }

  #evaluate(waiter: Waiter, image: WatchedImage): void {
    try {
      if (waiter.holds(image.item)) waiter.settle({ met: true, image })
    } catch (error) {
      waiter.fail(error)
    }
  }
}
