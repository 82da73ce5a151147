// How many bytes of answers the server holds for clients that have not taken them yet, and what follows from that:
//
//   one connection   gets its next answer made when it has taken the last one (direct-connection.ts, general-connection.ts)
//   all of them      while there is no room for the largest answer, operations that answer with many items are refused
//                    before they begin; a read whose answer turns out to be too large is refused afterwards, which is
//                    safe because it has changed nothing. Answers to writes, and small ones, always pass.
//   crowded          half of the room is taken: clients that take nothing for a while are closed
//
// The decisions are functions of plain numbers; connections tell what they hold.
import { DynamoError } from '../model/errors.js'
import type { ServerLimits } from './limits.js'

/** Answers with as many items as fit. */
const MANY_ITEMS: ReadonlySet<string> = new Set([
  'BatchGetItem',
  'TransactGetItems',
  'Query',
  'Scan',
  'UnitGetItems',
  'UnitQuery',
  'UnitScan',
])
/** Those, and what answers with one: nothing has changed if its answer is not sent. */
const READS: ReadonlySet<string> = new Set([...MANY_ITEMS, 'GetItem', 'WaitForItem'])

export class AnswerRoom {
  readonly #limits: ServerLimits
  /** Of answers that are made, and not yet handed over to the system. */
  bytes = 0

  constructor(limits: ServerLimits) {
    this.#limits = limits
  }

  get isCrowded(): boolean {
    return this.bytes > this.#limits.answerBytesUnsentMax / 2
  }

  /** Whether the operation may begin. */
  admits(operation: string): boolean {
    const { answerBytesUnsentMax, answerBytesMax } = this.#limits
    return this.bytes + answerBytesMax <= answerBytesUnsentMax || !MANY_ITEMS.has(operation)
  }

  /** Whether its answer, which is made by now, may be kept until the client takes it. */
  holds(operation: string, answerBytes: number): boolean {
    if (answerBytes <= SMALL_ANSWER_BYTES || !READS.has(operation)) return true
    return this.bytes + answerBytes <= this.#limits.answerBytesUnsentMax
  }

  /** For how long a connection with unsent bytes may stand still. */
  standstillMs(unsentBytes: number): number {
    const { socketIdleMs, crowdedIdleMs } = this.#limits
    return this.isCrowded && unsentBytes > 0 ? crowdedIdleMs : socketIdleMs
  }

  /** Whether a client that does take its answer, but slowly, has had time enough. */
  isOverdue(unsentForMs: number): boolean {
    return this.isCrowded && unsentForMs > this.#limits.crowdedAnswerMs
  }
}

/** As much as a socket takes before it asks to wait. */
export const SMALL_ANSWER_BYTES = 16 * 1024

export const noRoom = (): DynamoError =>
  new DynamoError(
    'ThrottlingException',
    'Too many bytes of answers wait for clients that do not read them; try again.',
  )
