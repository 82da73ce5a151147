// What the ledgers and nodes know of transactions, for people who look: in flight, stalled, recently done and why
// cancelled.
import type { Ledger, LedgerRecord } from '../ledger/ledger.js'
import { type TxId, ledgerSlot, timestamp } from '../model/brand.js'
import type { TransactionNode } from '../storage/transactions.js'

/** Times are seconds since the epoch, as everywhere on the wire. */
export interface TransactionList {
  readonly InFlight: readonly InFlightTransaction[]
  readonly Recent: readonly RecentTransaction[]
}

export interface InFlightTransaction {
  readonly TransactionId: TxId
  /** UNRECORDED: pending on items of a node, and not in the ledger (yet, or any more). */
  readonly State: 'PREPARING' | 'COMMITTING' | 'CANCELLING' | 'UNRECORDED'
  readonly Stalled: boolean
  readonly BegunDateTime?: number
  /** How many items each node has of it. */
  readonly Participants: readonly { readonly Node: number; readonly Items?: number }[]
}

export interface RecentTransaction {
  readonly TransactionId: TxId
  readonly Outcome: 'COMMITTED' | 'CANCELLED'
  readonly CompletedDateTime?: number
  /** Empty where nobody knows: its coordinator vanished, or its attempt was replaced by another. */
  readonly CancellationReasons?: LedgerRecord['reasons']
}

type ListedNode = Pick<TransactionNode, 'stalled'> & { readonly ledger: Ledger }

const FIRST_SLOT = ledgerSlot('0'.repeat(32))
const ALL = timestamp(Number.MAX_SAFE_INTEGER)
/** Recovery takes it up after two seconds, so whatever is older is of interest. */
const STALLED_AFTER_MICROS = 2_000_000

export async function listTransactions(
  nodes: readonly ListedNode[],
  nowMicros: number,
  entriesMax: number,
): Promise<TransactionList> {
  const parts = await Promise.all(
    nodes.map(async (node, position) => ({
      position,
      unfinished: await node.ledger.unfinished(FIRST_SLOT, entriesMax),
      recent: await node.ledger.recent(entriesMax),
      pending: await node.stalled(ALL, entriesMax),
    })),
  )
  const unfinished = parts.flatMap((part) => part.unfinished)
  const recorded = new Set(unfinished.map(({ tx }) => tx))
  const unrecorded = new Map<TxId, number[]>()
  for (const { position, pending } of parts) {
    for (const tx of pending) {
      if (!recorded.has(tx)) unrecorded.set(tx, [...(unrecorded.get(tx) ?? []), position])
    }
  }
  const inFlight = [
    ...unfinished.toSorted((a, b) => a.begunAt - b.begunAt).map((record) => inFlightOf(record, nowMicros)),
    ...[...unrecorded].map(([tx, at]) => unrecordedOf(tx, at)),
  ]
  const recent = parts
    .flatMap((part) => part.recent)
    .toSorted((a, b) => (b.completedAt ?? 0) - (a.completedAt ?? 0))
  return { InFlight: inFlight.slice(0, entriesMax), Recent: recent.slice(0, entriesMax).map(recentOf) }
}

const STATES = {
  preparing: 'PREPARING',
  committing: 'COMMITTING',
  cancelling: 'CANCELLING',
  completed: 'UNRECORDED',
} as const

const inFlightOf = (
  { tx, state, begunAt, participants }: LedgerRecord,
  nowMicros: number,
): InFlightTransaction => ({
  TransactionId: tx,
  State: STATES[state],
  Stalled: begunAt < nowMicros - STALLED_AFTER_MICROS,
  BegunDateTime: seconds(begunAt),
  Participants: participants.map(({ node, items }) => ({ Node: node, Items: items.length })),
})

const unrecordedOf = (tx: TxId, nodes: readonly number[]): InFlightTransaction => ({
  TransactionId: tx,
  State: 'UNRECORDED',
  Stalled: false,
  Participants: nodes.map((node) => ({ Node: node })),
})

const recentOf = ({ tx, decision, completedAt, reasons }: LedgerRecord): RecentTransaction => ({
  TransactionId: tx,
  Outcome: decision === 'commit' ? 'COMMITTED' : 'CANCELLED',
  ...(completedAt !== undefined && { CompletedDateTime: seconds(completedAt) }),
  ...(decision === 'cancel' && { CancellationReasons: reasons ?? [] }),
})

const seconds = (micros: number): number => Math.floor(micros / 1000) / 1000
