// Claims on background work, for routers that share their nodes: one of them fills indexes, empties dropped spaces or deletes
// expired items, and the others leave it to that one.
//
//   hold --> held, and less than half of the lease is over ----------------------------------> go
//        \-> read the record --> of nobody, over, or one's own --> writeMetaIf: until now + lease --> go
//                            \-> another router's --> wait until its lease is over
//   no work left, or closed: give up --> the record is removed
//
// A record in the meta space of node 0 has the owner and the end of its lease. A claim saves work, it protects nothing: every
// step in the background may be carried out twice, or by two routers at once, when a clock is wrong or a router was stopped
// for longer than its lease.
import type { Runtime } from '../../../runtime/runtime.js'
import type { StorageNode } from '../../../storage/contract/storage-node.js'

export const CLAIM_LEASE_MS = 10_000

export interface Claim {
  /** Before a round of work. Undefined: go; otherwise the time until it is worth asking again. */
  hold(): Promise<number | undefined>
  /** There is no work for now. */
  giveUp(): Promise<void>
}

/** Of the only router on its nodes: there is nobody to claim anything from, and nothing is written. */
export const soleClaim: Claim = {
  hold: () => Promise.resolve(undefined),
  giveUp: () => Promise.resolve(),
}

export interface LeasedClaimOptions {
  readonly runtime: Runtime
  readonly home: Pick<StorageNode, 'readMeta' | 'writeMetaIf'>
  readonly work: 'maintenance' | 'expiry' | 'tending'
  /** It was not held before: what there is to do may have changed in other hands. */
  readonly onTaken: () => Promise<void>
}

interface Held {
  readonly owner: string
  readonly untilMicros: number
}

const LEASE_MICROS = CLAIM_LEASE_MS * 1000
/** Between two looks at a record that another router was faster to change. */
const RETRY_MS = 1000
const OWNER_BYTES = 8

export class LeasedClaim implements Claim {
  readonly #options: LeasedClaimOptions
  readonly #name: string
  #owner: string | undefined
  #untilMicros: number | undefined
  #last: Promise<unknown> = Promise.resolve()

  constructor(options: LeasedClaimOptions) {
    this.#options = options
    this.#name = `claim/${options.work}`
  }

  hold(): Promise<number | undefined> {
    return this.#isFresh() ? Promise.resolve(undefined) : this.#inTurn(() => this.#take())
  }

  giveUp(): Promise<void> {
    if (this.#untilMicros === undefined) return Promise.resolve()
    // At once: whoever asks from here on takes it anew, behind this.
    this.#untilMicros = undefined
    return this.#inTurn(async () => {
      const { there, held } = await this.#read()
      if (held?.owner === this.#owner) await this.#options.home.writeMetaIf(there, [{ name: this.#name }])
    })
  }

  async #take(): Promise<number | undefined> {
    if (this.#isFresh()) return undefined
    const { runtime, home, onTaken } = this.#options
    const { there, held } = await this.#read()
    const nowMicros = runtime.clock.nowMicros()
    const wasHeld = this.#untilMicros !== undefined && held?.owner === this.#owner
    this.#untilMicros = undefined
    if (held !== undefined && held.owner !== this.#owner && isInForce(held, nowMicros))
      return Math.min(CLAIM_LEASE_MS, Math.ceil((held.untilMicros - nowMicros) / 1000))
    this.#owner ??= Buffer.from(runtime.randomBytes(OWNER_BYTES)).toString('hex')
    const next: Held = { owner: this.#owner, untilMicros: nowMicros + LEASE_MICROS }
    const value = Buffer.from(JSON.stringify(next))
    if (!(await home.writeMetaIf(there, [{ name: this.#name, value }]))) return RETRY_MS
    if (!wasHeld) await onTaken()
    this.#untilMicros = next.untilMicros
    return undefined
  }

  async #read(): Promise<{ readonly there: { name: string; value?: Uint8Array }; readonly held?: Held }> {
    const name = this.#name
    const there = (await this.#options.home.readMeta(name)).find((entry) => entry.name === name)
    if (there === undefined) return { there: { name } }
    return { there, held: JSON.parse(Buffer.from(there.value).toString()) as Held }
  }

  #isFresh(): boolean {
    const until = this.#untilMicros
    return until !== undefined && this.#options.runtime.clock.nowMicros() < until - LEASE_MICROS / 2
  }

  #inTurn<T>(step: () => Promise<T>): Promise<T> {
    const result = this.#last.then(step)
    this.#last = result.catch(() => undefined)
    return result
  }
}

/** One that ends more than two leases from now was made by a clock that was wrong, and would be waited for in vain. */
const isInForce = ({ untilMicros }: Held, nowMicros: number): boolean =>
  untilMicros > nowMicros && untilMicros <= nowMicros + 2 * LEASE_MICROS
