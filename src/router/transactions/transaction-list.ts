// What the ledgers and nodes know of transactions, for people who look: in flight, stalled, recently done and why
// cancelled, with the items that they were about as far as that is known.
import type { EndedTransaction, PhaseTimes } from '../../coordinator/recent.js'
import type { ItemRef, Ledger, LedgerRecord } from '../../ledger/ledger.js'
import { type TxId, ledgerSlot, timestamp } from '../../model/brand.js'
import { keyAttributesFrom } from '../../model/key-text.js'
import type { TableShape } from '../../model/table.js'
import type { RecoveredTransaction } from '../../recovery/recovery.js'
import type { TransactionNode } from '../../storage/contract/transactions.js'

/** Times are seconds since the epoch, as everywhere on the wire. */
export interface TransactionList {
  readonly InFlight: readonly InFlightTransaction[]
  readonly Recent: readonly RecentTransaction[]
  /** Absent where no recovery runs. */
  readonly Recovered?: readonly ListedRecovery[]
}

/** The key in DynamoDB's JSON; of a partition key longer than 255 bytes only its digest. */
export interface ListedItem {
  /** Absent: the table was dropped. */
  readonly TableName?: string
  readonly Key?: object
}

interface ListedItems {
  /** The first of them. */
  readonly Items?: readonly ListedItem[]
  readonly ItemCount?: number
}

/** When each phase was over, by node, as far as the coordinator of this process knows. Seconds since the epoch, to the microsecond. */
export interface ListedPhases {
  readonly BegunDateTime?: number
  /** Above 1: earlier attempts were given up for their timestamps. */
  readonly Attempt?: number
  readonly UnitId?: string
  readonly DecidedDateTime?: number
  readonly Nodes?: readonly {
    readonly Node: number
    readonly Items: number
    readonly PreparedDateTime?: number
    readonly FinishedDateTime?: number
  }[]
}

/** Another transaction, or the lock of a unit, that was in the way of an item. */
export interface ListedObstacle extends ListedItem {
  readonly Kind: 'PENDING' | 'LOCK' | 'CHANGED'
  readonly By?: string
}

/** What recovery did to a transaction whose coordinator had vanished. */
export interface ListedRecovery extends ListedItems {
  readonly TransactionId: TxId
  readonly DateTime: number
  readonly Did: 'COMMITTED' | 'CANCELLED' | 'SWEPT'
}

export interface InFlightTransaction extends ListedItems, ListedPhases {
  readonly TransactionId: TxId
  /** UNRECORDED: pending on items of a node, and not in the ledger (yet, or any more). */
  readonly State: 'PREPARING' | 'COMMITTING' | 'CANCELLING' | 'UNRECORDED'
  readonly Stalled: boolean
  /** How many items each node has of it. */
  readonly Participants: readonly { readonly Node: number; readonly Items?: number }[]
}

/** Its items are known to the process that coordinated it, for the last thousand. */
export interface RecentTransaction extends ListedItems, ListedPhases {
  readonly TransactionId: TxId
  readonly Outcome: 'COMMITTED' | 'CANCELLED'
  readonly CompletedDateTime?: number
  /** Empty where nobody knows: its coordinator vanished, or its attempt was replaced by another. */
  readonly CancellationReasons?: LedgerRecord['reasons']
  /** Of one that was cancelled for others. */
  readonly Obstacles?: readonly ListedObstacle[]
}

type ListedNode = Pick<TransactionNode, 'stalled'> & { readonly ledger: Ledger }

export interface TransactionSources {
  readonly nodes: readonly ListedNode[]
  readonly shapes: readonly TableShape[]
  /** What the coordinator of this process has ended, the newest first; none where there is none. */
  readonly ended: readonly EndedTransaction[]
  /** Of those that this process is at work on. */
  readonly phases?: (tx: TxId) => PhaseTimes | undefined
  readonly recovered?: readonly RecoveredTransaction[]
  readonly nowMicros: number
}

const FIRST_SLOT = ledgerSlot('0'.repeat(32))
const ALL = timestamp(Number.MAX_SAFE_INTEGER)
/** Recovery takes it up after two seconds, so whatever is older is of interest. */
const STALLED_AFTER_MICROS = 2_000_000
/** Of each transaction. */
const ITEMS_MAX = 10

export async function transactionList(
  { nodes, shapes, ended, phases, recovered, nowMicros }: TransactionSources,
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
  const listed = itemLister(shapes)
  const unfinished = parts.flatMap((part) => part.unfinished)
  const recorded = new Set(unfinished.map(({ tx }) => tx))
  const unrecorded = new Map<TxId, number[]>()
  for (const { position, pending } of parts) {
    for (const tx of pending) {
      if (!recorded.has(tx)) unrecorded.set(tx, [...(unrecorded.get(tx) ?? []), position])
    }
  }
  // It was answered, and its nodes are being told: what is known of its phases is known.
  const endedTimes = new Map(ended.map(({ tx, times }) => [tx, times]))
  const timesOf = (tx: TxId): PhaseTimes | undefined => phases?.(tx) ?? endedTimes.get(tx)
  const inFlight = [
    ...unfinished
      .toSorted((a, b) => a.begunAt - b.begunAt)
      .map((record) => ({ ...inFlightOf(record, nowMicros, listed), ...phasesOf(timesOf(record.tx)) })),
    ...[...unrecorded].map(([tx, at]) => ({ ...unrecordedOf(tx, at), ...phasesOf(timesOf(tx)) })),
  ]
  return {
    InFlight: inFlight.slice(0, entriesMax),
    Recent: recentOf(
      parts.flatMap((part) => part.recent),
      // It was answered, but not everything that its nodes hold of it is gone.
      ended.filter(({ tx }) => !recorded.has(tx)),
      listed,
    ).slice(0, entriesMax),
    ...(recovered && {
      Recovered: recovered.slice(0, entriesMax).map(({ tx, atMicros, did, items, itemCount }) => ({
        TransactionId: tx,
        DateTime: seconds(atMicros),
        Did: RECOVERED[did],
        ...(itemCount > 0 && listed(items, itemCount)),
      })),
    }),
  }
}

/** The newest first. What a ledger has says when it was completed, and what was ended here which items it was about. */
function recentOf(
  records: readonly LedgerRecord[],
  ended: readonly EndedTransaction[],
  listed: ItemLister,
): readonly RecentTransaction[] {
  const byId = new Map(ended.map((each) => [each.tx, each]))
  const all = records.map((record) => {
    const here = byId.get(record.tx)
    byId.delete(record.tx)
    return {
      ...completedOf(record, here === undefined ? {} : listed(here.items, here.itemCount)),
      ...toldOf(here, listed),
    }
  })
  for (const each of byId.values())
    all.push({ ...endedOf(each, listed(each.items, each.itemCount)), ...toldOf(each, listed) })
  return all.toSorted((a, b) => (b.CompletedDateTime ?? 0) - (a.CompletedDateTime ?? 0))
}

export type ItemLister = (items: readonly ItemRef[], itemCount: number) => ListedItems

export function itemLister(shapes: readonly TableShape[]): ItemLister {
  const bySpace = new Map(shapes.map((shape) => [shape.space, shape]))
  const itemOf = ({ space, key }: ItemRef): ListedItem => {
    const shape = bySpace.get(space)
    const attributes = shape && keyAttributesFrom(shape.key, key.bytes)
    return { ...(shape && { TableName: shape.name }), ...(attributes && { Key: attributes }) }
  }
  return (items, itemCount) => ({ Items: items.slice(0, ITEMS_MAX).map(itemOf), ItemCount: itemCount })
}

const STATES = {
  preparing: 'PREPARING',
  committing: 'COMMITTING',
  cancelling: 'CANCELLING',
  completed: 'UNRECORDED',
} as const

function inFlightOf(
  { tx, state, begunAt, participants }: LedgerRecord,
  nowMicros: number,
  listed: ItemLister,
): InFlightTransaction {
  const items = participants.flatMap((participant) => participant.items)
  return {
    TransactionId: tx,
    State: STATES[state],
    Stalled: begunAt < nowMicros - STALLED_AFTER_MICROS,
    BegunDateTime: seconds(begunAt),
    Participants: participants.map((each) => ({ Node: each.node, Items: each.items.length })),
    ...listed(items, items.length),
  }
}

const unrecordedOf = (tx: TxId, nodes: readonly number[]): InFlightTransaction => ({
  TransactionId: tx,
  State: 'UNRECORDED',
  Stalled: false,
  Participants: nodes.map((node) => ({ Node: node })),
})

const completedOf = (
  { tx, decision, completedAt, reasons }: LedgerRecord,
  items: ListedItems,
): RecentTransaction => ({
  TransactionId: tx,
  Outcome: decision === 'commit' ? 'COMMITTED' : 'CANCELLED',
  ...(completedAt !== undefined && { CompletedDateTime: seconds(completedAt) }),
  ...(decision === 'cancel' && { CancellationReasons: reasons ?? [] }),
  ...items,
})

const endedOf = (
  { tx, outcome, endedMicros, reasons }: EndedTransaction,
  items: ListedItems,
): RecentTransaction => ({
  TransactionId: tx,
  Outcome: outcome === 'committed' ? 'COMMITTED' : 'CANCELLED',
  CompletedDateTime: seconds(endedMicros),
  ...(outcome === 'cancelled' && { CancellationReasons: reasons }),
  ...items,
})

const RECOVERED = { committed: 'COMMITTED', cancelled: 'CANCELLED', swept: 'SWEPT' } as const
const OBSTACLES = { pending: 'PENDING', lock: 'LOCK', changed: 'CHANGED' } as const

/** What only the coordinator of this process knows. */
function toldOf(
  ended: EndedTransaction | undefined,
  listed: ItemLister,
): ListedPhases & Pick<RecentTransaction, 'Obstacles'> {
  if (ended === undefined) return {}
  const { obstacles, times } = ended
  return {
    ...phasesOf(times),
    ...(obstacles.length > 0 && {
      Obstacles: obstacles.map(({ item, kind, by }) => ({
        ...(item && listed([item], 1).Items?.[0]),
        Kind: OBSTACLES[kind],
        ...(by !== undefined && { By: by }),
      })),
    }),
  }
}

function phasesOf(times: PhaseTimes | undefined): ListedPhases {
  if (times === undefined) return {}
  const { begunMicros, attempt, unit, decidedMicros, nodes } = times
  return {
    BegunDateTime: begunMicros / 1e6,
    ...(attempt > 1 && { Attempt: attempt }),
    ...(unit !== undefined && { UnitId: unit }),
    ...(decidedMicros !== undefined && { DecidedDateTime: decidedMicros / 1e6 }),
    Nodes: nodes.map(({ node, items, preparedMicros, finishedMicros }) => ({
      Node: node,
      Items: items,
      ...(preparedMicros !== undefined && { PreparedDateTime: preparedMicros / 1e6 }),
      ...(finishedMicros !== undefined && { FinishedDateTime: finishedMicros / 1e6 }),
    })),
  }
}

const seconds = (micros: number): number => Math.floor(micros / 1000) / 1000
