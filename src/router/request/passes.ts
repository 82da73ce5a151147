// What the server gives to a client of units of work, and takes from no other: snapshots and ages.
//
//   ReadTimestamp  s.<timestamp>.<opening>.<code>   a snapshot; each opening has a number of its own, so that one client
//                                                   cannot give back what another has opened at the same timestamp
//   Began          a.<timestamp>.<code>             the age of one unit, where locks are concerned
//   NextToken      t.<text>.<code>                  where a statement, or the history of an item, goes on reading
//
// The code is made with a secret of this start from the access key's id and the rest, so a client can neither make a
// pass up nor use another key's. After a restart all snapshots and locks are gone, and so is the secret: a unit that
// was under way gets SnapshotTooOld, or is young again. A caller in this process is the owner of everything, and has
// plain timestamps (docs/adr/0024-what-a-key-may-do.md).
import { owner, type Principal } from './access.js'
import { hash, timingSafeEqual } from 'node:crypto'
import type { Timestamp } from '../../model/brand.js'
import type { Runtime } from '../../runtime/runtime.js'
import type { RouterContext } from './context.js'

/** As it stands in an answer, and comes back: a text, or the owner's plain timestamp. */
export type GivenPass = string | Timestamp

export const passLimits = {
  /** Snapshots that one key has open; beyond it its own oldest one is closed. */
  snapshotsOfKeyMax: 10_000,
  snapshotsMax: 100_000,
  /** For so long a unit grows older. */
  ageMsMax: 900_000,
} as const

/** What a sealed text is for: what one operation has given is none of another's, which would read another text. */
export type SealedUse = 'statement' | 'history'

const SECRET_BYTES = 32
/** 132 bits of 256: of half of the digest no longer message's digest can be derived, so that no second round is needed. */
const CODE_CHARACTERS = 22
/** Of timestamps and numbers in passes. */
const RADIX = 36
const SEALED = /^t\.[\w-]*\.[\w-]{22}$/
const PASS = /^(?:a|s\.[0-9a-z]{1,12})\.[0-9a-z]{1,12}\.[\w-]{22}$/

interface Opened {
  readonly key: string
  readonly timestamp: Timestamp
}

export interface PassOptions {
  readonly runtime: Runtime
  /** Closes one opening of a snapshot. Nobody waits for it. */
  readonly close: (timestamp: Timestamp) => void
  readonly limits?: Partial<Record<keyof typeof passLimits, number>>
  /** That of another worker of this start, or of another server of a fleet; absent: a new one. */
  readonly secret?: string
}

export const newSecret = (runtime: Runtime): string =>
  Buffer.from(runtime.randomBytes(SECRET_BYTES)).toString('hex')

/** Those of one start of a store. */
export const openPasses = ({
  runtime,
  coordinator,
  secret,
}: Pick<RouterContext, 'runtime' | 'coordinator'> & Pick<PassOptions, 'secret'>): Passes =>
  new Passes({
    runtime,
    close: (timestamp) => coordinator.snapshots.forget(timestamp),
    ...(secret !== undefined && { secret }),
  })

export class Passes {
  readonly #clock: Runtime['clock']
  readonly #close: (timestamp: Timestamp) => void
  readonly #limits: Readonly<Record<keyof typeof passLimits, number>>
  readonly #secret: string
  /** Open ones, oldest first; and those of each key. */
  readonly #opened = new Map<string, Opened>()
  readonly #ofKey = new Map<string, Set<string>>()
  #openings = 0

  constructor({ runtime, close, limits, secret }: PassOptions) {
    this.#clock = runtime.clock
    this.#close = close
    this.#limits = { ...passLimits, ...limits }
    this.#secret = secret ?? newSecret(runtime)
  }

  /** For other workers of this start: they take what was sealed here. */
  get secret(): string {
    return this.#secret
  }

  /** A snapshot was opened for that principal. */
  giveSnapshot(principal: Principal, timestamp: Timestamp): GivenPass {
    if (principal === owner) return timestamp
    const body = `s.${timestamp.toString(RADIX)}.${(this.#openings++).toString(RADIX)}`
    const pass = `${body}.${this.#code(principal.id, body)}`
    const { id: key } = principal
    let own = this.#ofKey.get(key)
    if (own === undefined) this.#ofKey.set(key, (own = new Set()))
    if (own.size >= this.#limits.snapshotsOfKeyMax) this.#forget(first(own))
    if (this.#opened.size >= this.#limits.snapshotsMax) this.#forget(first(this.#opened.keys()))
    own.add(pass)
    this.#ofKey.set(key, own)
    this.#opened.set(pass, { key, timestamp })
    return pass
  }

  /** The timestamp of a snapshot that was given to that principal, open or not; undefined if it was not. */
  snapshotOf(principal: Principal, pass: unknown): Timestamp | undefined {
    if (principal === owner) return plain(pass)
    if (!isPass(pass)) return undefined
    const opened = this.#opened.get(pass)
    if (opened !== undefined) return opened.key === principal.id ? opened.timestamp : undefined
    const [kind, timestamp = ''] = pass.split('.')
    return kind === 's' && this.#isGiven(pass, principal.id) ? parsed(timestamp) : undefined
  }

  /** Closes a snapshot that was given to that principal, once. */
  release(principal: Principal, pass: unknown): void {
    if (principal === owner) {
      const timestamp = plain(pass)
      if (timestamp !== undefined) this.#close(timestamp)
    } else if (isPass(pass) && this.#opened.get(pass)?.key === principal.id) {
      this.#forget(pass)
    }
  }

  giveAge(principal: Principal, unit: string, began: Timestamp): GivenPass {
    if (principal === owner) return began
    const body = `a.${began.toString(RADIX)}`
    return `${body}.${this.#code(`${principal.id} ${unit}`, body)}`
  }

  /** When the unit began, if that was given to this principal for this unit, and not too long ago. */
  ageOf(principal: Principal, unit: string, pass: unknown): Timestamp | undefined {
    if (principal === owner) return plain(pass)
    if (!isPass(pass) || !pass.startsWith('a.')) return undefined
    if (!this.#isGiven(pass, `${principal.id} ${unit}`)) return undefined
    const began = parsed(pass.split('.')[1] ?? '')
    return this.#clock.nowMicros() - began > this.#limits.ageMsMax * 1000 ? undefined : began
  }

  /** A text that a client has to give back as it is: for that principal and use, with a code that it cannot make. */
  seal({ id }: Principal, use: SealedUse, text: string): string {
    const body = `t.${Buffer.from(text).toString('base64url')}`
    return `${body}.${this.#code(`${id} ${use}`, body)}`
  }

  /** The text that was sealed for that principal and use; undefined if it was not. */
  open({ id }: Principal, use: SealedUse, sealed: string): string | undefined {
    if (!SEALED.test(sealed) || !this.#isGiven(sealed, `${id} ${use}`)) return undefined
    return Buffer.from(sealed.slice(2, sealed.lastIndexOf('.')), 'base64url').toString()
  }

  #forget(pass: string | undefined): void {
    const opened = pass === undefined ? undefined : this.#opened.get(pass)
    if (pass === undefined || opened === undefined) return
    this.#opened.delete(pass)
    const own = this.#ofKey.get(opened.key)
    own?.delete(pass)
    if (own?.size === 0) this.#ofKey.delete(opened.key)
    this.#close(opened.timestamp)
  }

  #isGiven(pass: string, whose: string): boolean {
    const end = pass.lastIndexOf('.')
    const code = this.#code(whose, pass.slice(0, end))
    const given = pass.slice(end + 1)
    return timingSafeEqual(Buffer.from(given), Buffer.from(code))
  }

  /** `body` has no spaces, whoever has made it up (`isPass`): two different pairs are never the same text. */
  #code(whose: string, body: string): string {
    return hash('sha256', `${this.#secret} ${body} ${whose}`, 'base64url').slice(0, CODE_CHARACTERS)
  }
}

const isPass = (value: unknown): value is string => typeof value === 'string' && PASS.test(value)

const parsed = (text: string): Timestamp => Number.parseInt(text, RADIX) as Timestamp

const plain = (value: unknown): Timestamp | undefined =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as Timestamp) : undefined

const first = (passes: Iterable<string>): string | undefined => {
  for (const pass of passes) return pass
  return undefined
}
