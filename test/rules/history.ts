// Drives transactions, single writes and reads against the rules, keeps what everybody was told, and proves it: replayed
// one after another in timestamp order on a plain model, every condition that was accepted holds, every image that was
// read is the one that is there, and the last image is the one that is stored.
//
// One timestamp is one place in the serial order on all items, so the proof of each item is a proof of them all.
import assert from 'node:assert/strict'
import { timestamp as stamp, type Timestamp, type TxId } from '../../src/model/brand.js'
import type { TransactionRules } from '../../src/rules/item/section-4.js'
import { actionOf, outcomeOf, type Intent, type PlainImage } from './plain-model.js'
import { plainImage } from './plain-values.js'
import { RuleNode } from './rule-node.js'

export const NAMES = ['x', 'y'] as const
export type Name = (typeof NAMES)[number]

export type Command =
  | {
      readonly do: 'begin'
      readonly offset: number
      readonly parts: readonly Part[]
      readonly prepare: boolean
    }
  | { readonly do: 'prepare'; readonly which: number; readonly name: Name }
  | { readonly do: 'decide'; readonly which: number; readonly wish: 'commit' | 'cancel' }
  | { readonly do: 'finish'; readonly which: number; readonly names: readonly Name[] }
  | { readonly do: 'single'; readonly name: Name; readonly intent: Intent; readonly answersImage: boolean }
  | { readonly do: 'transact'; readonly parts: readonly Part[] }
  | { readonly do: 'read-at'; readonly offset: number; readonly names: readonly Name[] }
  | { readonly do: 'read-together' }
  | { readonly do: 'read-latest'; readonly offset: number; readonly name: Name }
  | { readonly do: 'get'; readonly name: Name }

export interface Part {
  readonly name: Name
  readonly intent: Intent
}

type PartState = 'unsent' | 'accepted' | 'refused' | 'finished'

interface Transaction {
  readonly tx: TxId
  readonly timestamp: Timestamp
  readonly intents: ReadonlyMap<Name, Intent>
  readonly states: Map<Name, PartState>
  decision: 'commit' | 'cancel' | undefined
}

/** Something that has its place in the serial order. */
interface Place {
  readonly at: Timestamp
  /** Among those with the same timestamp. */
  readonly rank: number
  readonly what: string
  readonly intent?: Intent
  /** The image that was there, if it was told. */
  readonly seen?: { readonly image: PlainImage }
}

/** A write without effect may share the timestamp of one that was overwritten; a plain read comes right behind its write. */
const RANKS = { ignored: 0, effective: 1, read: 2 }

export class History {
  readonly #node = new RuleNode()
  readonly #scale: number
  readonly #transactions: Transaction[] = []
  readonly #places = new Map<Name, Place[]>(NAMES.map((name) => [name, []]))
  readonly #written = new Map<Name, Timestamp>()
  /** Writes that took effect, for the order among equal timestamps. */
  readonly #effective = new Set<string>()

  constructor(rules: TransactionRules, scale: number) {
    this.#node.rules = rules
    this.#node.clock = stamp(1000)
    this.#scale = scale
  }

  run(command: Command): void {
    switch (command.do) {
      case 'begin':
        return this.#begin(command)
      case 'prepare':
        return this.#prepare(this.#pick(command.which), command.name)
      case 'decide':
        return this.#decide(this.#pick(command.which), command.wish)
      case 'finish':
        for (const name of command.names) this.#finish(this.#pick(command.which), name)
        return
      case 'single':
        return this.#single(command)
      case 'transact':
        return this.#transact(command.parts)
      case 'read-at':
        for (const name of command.names) this.#readAt(name, this.#at(command.offset))
        return
      case 'read-together':
        return this.#readTogether()
      case 'read-latest':
        return this.#readLatest(command)
      case 'get': {
        // It leaves no mark: its place is right behind the write whose image it was given.
        this.#add(command.name, {
          at: this.#written.get(command.name) ?? stamp(0),
          rank: RANKS.read,
          what: 'get',
          seen: { image: this.#image(command.name) },
        })
      }
    }
  }

  /** Everything decided and finished, in the order the numbers say; then the proof. */
  prove(order: readonly number[]): void {
    const unfinished = [...this.#transactions]
    for (const number of order) {
      const [transaction] = unfinished.splice(number % Math.max(1, unfinished.length), 1)
      this.#end(transaction)
    }
    for (const transaction of unfinished) this.#end(transaction)
    for (const name of NAMES) {
      assert.deepEqual(this.#node.stored(name).pending, [], `${name}: nothing is pending once all is decided`)
      this.#replay(name)
    }
  }

  #end(transaction: Transaction | undefined): void {
    if (transaction === undefined) return
    for (const name of transaction.intents.keys()) this.#prepare(transaction, name)
    this.#decide(transaction, 'commit')
    for (const name of transaction.intents.keys()) this.#finish(transaction, name)
  }

  #begin({ offset, parts, prepare }: Command & { do: 'begin' }): void {
    const intents = new Map(parts.map(({ name, intent }) => [name, intent]))
    const tx = `t${this.#transactions.length + 1}` as TxId
    const states = new Map([...intents.keys()].map((name): [Name, PartState] => [name, 'unsent']))
    const transaction = { tx, timestamp: this.#at(offset), intents, states, decision: undefined }
    this.#transactions.push(transaction)
    if (prepare) for (const name of intents.keys()) this.#prepare(transaction, name)
  }

  #prepare(transaction: Transaction | undefined, name: Name): void {
    const intent = transaction?.intents.get(name)
    const state = transaction?.states.get(name)
    if (transaction === undefined || intent === undefined || transaction.decision !== undefined) return
    if (state !== 'unsent' && state !== 'accepted') return
    const { tx, timestamp, states } = transaction
    const before = this.#node.stored(name).pending
    const verdict = this.#node.prepare(tx, timestamp, name, actionOf(name, intent))
    if (state === 'accepted') {
      assert.equal(verdict.verdict, 'accepted', 'a repeated prepare succeeds')
      assert.deepEqual(this.#node.stored(name).pending, before, 'and changes nothing')
      return
    }
    switch (verdict.verdict) {
      case 'accepted':
        states.set(name, 'accepted')
        return
      case 'wait':
      case 'conflict':
        this.#assertPending(name, verdict.others)
        if (verdict.verdict === 'conflict') states.set(name, 'refused')
        return
      case 'too-old':
        assert.ok(
          verdict.above >= timestamp,
          'a timestamp that is too old is not above what stands against it',
        )
        states.set(name, 'refused')
        return
      case 'condition-failed':
      case 'invalid':
      case 'changed':
        states.set(name, 'refused')
    }
  }

  #decide(transaction: Transaction | undefined, wish: 'commit' | 'cancel'): void {
    if (transaction === undefined || transaction.decision !== undefined) return
    const accepted = [...transaction.states.values()].every((state) => state === 'accepted')
    transaction.decision = accepted ? wish : 'cancel'
    if (transaction.decision === 'cancel') return
    const { tx, timestamp, intents } = transaction
    for (const [name, intent] of intents) {
      this.#add(name, { at: timestamp, rank: RANKS.ignored, what: tx, intent })
    }
  }

  #finish(transaction: Transaction | undefined, name: Name): void {
    const { tx, decision, states } = transaction ?? {}
    if (tx === undefined || decision === undefined || states?.has(name) !== true) return
    const verdict = this.#node.finish(tx, name, decision)
    const state = states.get(name)
    if (state === 'unsent' || state === 'refused') assert.equal(verdict.verdict, 'unknown')
    if (state !== 'accepted') return
    states.set(name, 'finished')
    assert.equal(verdict.verdict, 'finished')
    if (verdict.verdict !== 'finished') return
    let last = 0
    for (const write of verdict.written) {
      assert.ok(write.timestamp > last, 'writes are done in timestamp order')
      last = write.timestamp
      this.#effective.add(`${name} ${write.tx}`)
      this.#written.set(name, write.timestamp)
    }
  }

  #single({ name, intent, answersImage }: Command & { do: 'single' }): void {
    if (intent.kind === 'check') return
    const image = this.#image(name)
    const pending = this.#node.stored(name).pending
    const verdict = this.#node.single({ name, action: actionOf(name, intent), answersImage })
    switch (verdict.verdict) {
      case 'done':
        this.#step(name, intent, verdict.timestamp, answersImage ? { image } : undefined)
        return
      case 'condition-failed':
      case 'invalid':
        assert.equal(outcomeOf(intent, image), 'refused')
        return
      case 'wait':
      case 'conflict':
        assert.notEqual(pending.length, 0, 'nothing stands in the way of a write to an item that is free')
        this.#assertPending(name, verdict.others)
    }
  }

  #transact(given: readonly Part[]): void {
    const parts = given.filter(({ name }, at) => given.findIndex((other) => other.name === name) === at)
    const verdict = this.#node.step(
      parts.map(({ name, intent }) => ({ name, action: actionOf(name, intent) })),
    )
    if (verdict.verdict !== 'done') return
    for (const { name, intent } of parts) this.#step(name, intent, verdict.timestamp)
  }

  #step(name: Name, intent: Intent, at: Timestamp, seen?: { readonly image: PlainImage }): void {
    this.#add(name, { at, rank: RANKS.effective, what: 'single', intent, ...(seen && { seen }) })
    if (intent.kind !== 'check') this.#written.set(name, at)
  }

  #readAt(name: Name, at: Timestamp): void {
    const image = this.#image(name)
    const verdict = this.#node.readAt(name, at)
    if (verdict.verdict === 'value') this.#read(name, at, image)
    if (verdict.verdict === 'too-old') assert.ok(verdict.above >= at)
    if (verdict.verdict === 'pending') this.#assertPending(name, [verdict.tx])
  }

  #readTogether(): void {
    const images = NAMES.map((name) => this.#image(name))
    const at = this.#node.readTogether(NAMES)
    if (at !== undefined) for (const [index, name] of NAMES.entries()) this.#read(name, at, images[index])
  }

  #readLatest({ name, offset }: Command & { do: 'read-latest' }): void {
    // The coordinator leaves its mark above what it saw in the first phase.
    const mark = stamp(Math.max(this.#node.load(name).written + 1, this.#at(offset)))
    const image = this.#image(name)
    if (this.#node.readLatest(name, mark).verdict === 'value') this.#read(name, mark, image)
  }

  #read(name: Name, at: Timestamp, image: PlainImage): void {
    this.#add(name, { at, rank: RANKS.read, what: 'read', seen: { image } })
  }

  #add(name: Name, place: Place): void {
    this.#places.get(name)?.push(place)
  }

  #replay(name: Name): void {
    const places = (this.#places.get(name) ?? []).map((place) =>
      this.#effective.has(`${name} ${place.what}`) ? { ...place, rank: RANKS.effective } : place,
    )
    places.sort((a, b) => a.at - b.at || a.rank - b.rank)
    let image: PlainImage
    let written = 0
    for (const { at, what, intent, seen } of places) {
      if (seen !== undefined) assert.deepEqual(image, seen.image, `${name}: what ${what} saw at ${at}`)
      if (intent === undefined) continue
      const outcome = outcomeOf(intent, image)
      if (outcome === 'refused')
        assert.fail(`${name}: ${what} at ${at} was accepted and fails: ${JSON.stringify(intent)}`)
      image = outcome.image
      if (intent.kind !== 'check') written = at
    }
    assert.deepEqual(this.#image(name), image, `${name}: the image at the end`)
    const { last } = this.#node.stored(name)
    // Two writes of one timestamp would have no order that holds for all their items, unless both are overwritten.
    const ties = places.filter(
      ({ at, intent }) => at === written && intent !== undefined && intent.kind !== 'check',
    )
    assert.ok(ties.length <= 1, `${name}: one write at ${written}`)
    if (image !== undefined) assert.equal(last.timestamp, written, `${name}: the last write at the end`)
    else assert.ok(this.#node.load(name).written >= written, `${name}: the last delete at the end`)
  }

  #assertPending(name: Name, others: readonly TxId[]): void {
    const pending = this.#node.stored(name).pending.map((each) => each.tx)
    assert.ok(others.length > 0, 'whoever has to wait is told for whom')
    for (const other of others) assert.ok(pending.includes(other), `${other} is pending on ${name}`)
  }

  #image(name: Name): PlainImage {
    return plainImage(this.#node.stored(name).image) as PlainImage
  }

  #at(offset: number): Timestamp {
    return stamp(Math.max(1, this.#node.clock + offset * this.#scale))
  }

  /** One of those that are not finished yet; now and then one that is. */
  #pick(which: number): Transaction | undefined {
    const open = this.#transactions.filter(({ states }) =>
      [...states.values()].some((state) => state !== 'finished'),
    )
    const from = which === 0 || open.length === 0 ? this.#transactions : open
    return from[which % Math.max(1, from.length)]
  }
}
