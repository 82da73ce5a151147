// Locks that a unit takes while its lambda runs (`get(..., { lock: true })`): intents that change nothing, with a header
// that is pending from the first of them on. They keep others out, older ones excepted; what is certain at the commit is
// certain because it is validated there.
import { sameItem } from '../../../model/compare.js'
import { Conflict } from '../../endpoint/errors.js'
import type { ItemAddress, ReadItem } from '../../unit/protocol.js'
import { fromSdkItem } from '../../values/values.js'
import type { RequestUsage } from '../context/caller.js'
import { newStamp } from './commit.js'
import { cancel, readHeader } from '../context/headers.js'
import { intentLimits } from '../protocol/limits.js'
import { ItemReader } from '../items/look.js'
import type { CommitProgress } from '../context/commit-progress.js'
import { findRecords, withoutRight } from '../context/record-table.js'
import { type Header, type Intent, storedOf } from '../protocol/records.js'
import { baseOf, beginRequest, placeRequest, turnRequest } from '../protocol/requests.js'
import { committedOf, type Party } from '../protocol/rules.js'
import { changed, finishAll, inTheWay, makeRoom } from '../items/settle.js'
import { inParallel, type IntentsContext } from '../context/context.js'
import { divided, NO_PARTICIPANTS, writeSpill } from '../context/spill.js'

/** What changes with a new turn. */
type Saved = { readonly added?: readonly ItemAddress[] } & Partial<Pick<Header, 'plan' | 'planFirst'>>

export class LockIntents {
  readonly #space: IntentsContext
  readonly #me: Party & { readonly once: boolean }
  readonly #usage: RequestUsage
  #header: Header | undefined
  #released: Promise<void> = Promise.resolve()

  constructor(
    space: IntentsContext,
    me: Party & { readonly once: boolean },
    usage: RequestUsage,
    header: Header | undefined,
  ) {
    this.#space = space
    this.#me = me
    this.#usage = usage
    this.#header = header
  }

  /** The transaction's, once it has one. */
  get header(): Header | undefined {
    return this.#header
  }

  /** Locks them and says what they are. Throws Conflict where an older transaction does not give way. */
  async lock(addresses: readonly ItemAddress[], time: CommitProgress): Promise<readonly ReadItem[]> {
    const header = await this.save({ added: addresses.map(({ table, key }) => ({ table, key })) })
    const read: ReadItem[] = []
    await inParallel([...addresses.entries()], async ([at, address]) => {
      read[at] = await this.#lockOne(address, header, time)
    })
    return read
  }

  /** Writes the header, or changes it: whoever else goes on with this transaction is refused from now on. */
  async save({ added = [], ...change }: Saved): Promise<Header> {
    const { caller, records, patience } = this.#space
    const known = this.#header
    if (known === undefined) await findRecords(this.#space)
    const { spills, ...participants } = divided(this.#me.id, known ?? NO_PARTICIPANTS, added)
    const next: Header = {
      id: this.#me.id,
      state: 'pending',
      turn: (known?.turn ?? 0) + 1,
      stamp: newStamp(this.#space),
      since: this.#me.since,
      patienceMs: patience.detachedMs,
      ...participants,
      done: false,
      plan: known?.plan ?? 0,
      planFirst: known?.planFirst ?? 0,
      once: this.#me.once,
      ...change,
    }
    const reply =
      known === undefined
        ? await caller.send('PutItem', beginRequest(records, next), this.#usage)
        : await caller.send('UpdateItem', turnRequest(records, next, known.stamp), this.#usage)
    if (!reply.ok) {
      if (reply.error.name !== 'ConditionalCheckFailedException')
        throw withoutRight(
          this.#space,
          reply.error,
          known === undefined ? 'dynamodb:PutItem' : 'dynamodb:UpdateItem',
        )
      const found = await readHeader(this.#space, next.id, this.#usage)
      if (found?.stamp !== next.stamp || found.state !== 'pending')
        throw new Conflict(`transaction ${next.id} was cancelled or taken over by somebody else`)
    }
    this.#header = next
    // After the header, so that of two coordinators only the one whose turn it is writes them; before any lock is taken.
    for (const spill of spills) await writeSpill(this.#space, spill, this.#usage)
    return next
  }

  async #lockOne(address: ItemAddress, header: Header, time: CommitProgress): Promise<ReadItem> {
    const { caller, layouts } = this.#space
    const { key: schema } = await layouts.of(address.table)
    const { id, turn, since, patienceMs } = header
    for (let rounds = 0; rounds < intentLimits.roundsMax; rounds++) {
      const [look] = await new ItemReader(this.#space, this.#usage, id).items([address])
      const { item, version } = look!
      const base = baseOf(item, version)
      const intent: Intent = {
        id,
        turn,
        since,
        patienceMs,
        transient: base.kind === 'absent',
        redo: { act: 'keep' },
      }
      const other = look?.stored?.intent
      if (other !== undefined && other.id !== id) {
        const me = { ...this.#me, time }
        await makeRoom(this.#space, { ...address, stored: look!.stored!, intent: other }, me, this.#usage)
        continue
      }
      const reply = await caller.send('UpdateItem', placeRequest(address, schema, intent, base), this.#usage)
      if (!reply.ok) {
        if (reply.error.name !== 'ConditionalCheckFailedException') throw reply.error
        continue
      }
      const found = committedOf(storedOf(fromSdkItem(reply.output.Attributes ?? {}))!)
      if (item !== undefined && (found.item === undefined || !sameItem(item, found.item))) continue
      return found
    }
    throw inTheWay(address, 'several')
  }

  /** Gives everything back; the promise is kept for whoever wants to know. */
  release(): void {
    const header = this.#header
    if (header === undefined) return
    this.#header = undefined
    this.#released = this.#cancel(header)
    this.#space.background.run(() => this.#released)
  }

  /** Rejects where the transaction was committed by somebody else. */
  get released(): Promise<void> {
    return this.#released
  }

  async #cancel(header: Header): Promise<void> {
    const usage = { requests: 0, capacity: 0 }
    const fate = await cancel(this.#space, header, usage)
    if (fate !== 'cancelled') throw changed({ table: this.#space.records, key: {} }, header.id)
    await finishAll(this.#space, { ...header, state: 'cancelled' }, usage)
  }

  /** The commit has taken them over. */
  forget(): void {
    this.#header = undefined
  }
}
