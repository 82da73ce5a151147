// Keeps the history of one world while it happens, and completes it when the world has come to rest.
import type { KeyBytes, TxId } from '../src/model/brand.js'
import { parseRecord } from '../src/line/record.js'
import type { ItemRecord } from '../src/storage/contract/storage-node.js'
import { Findings } from './check/anomaly.js'
import type { Tally } from './faults.js'
import type {
  HistoryEntry,
  Image,
  LookEntry,
  HistoryRange,
  RangeSeen,
  HistoryRead,
  WriteEntry,
  WrittenAction,
} from './history.js'
import type { SimNode } from './machine.js'
import type { Witness } from './witness.js'

/** A write under way, and what is known of it so far. */
export interface WriteDraft {
  readonly id: string
  readonly kind: 'transaction' | 'single'
  readonly actions: readonly WrittenAction[]
  readonly invokedAt: number
  completedAt: number
  status: WriteEntry['status']
  timestamp?: number
  old?: ReadonlyMap<string, Image>
  readonly ranges?: readonly RangeSeen[]
  readonly since?: number
  /** A single delete of an item that was not there. */
  ofNothing?: boolean
}

export class Recorder {
  readonly writes: WriteDraft[] = []
  readonly reads: HistoryRead[] = []
  readonly looks: LookEntry[] = []
  readonly ranges: HistoryRange[] = []
  readonly found = new Findings()
  readonly #tally: Tally
  readonly #inFlight = new Map<string, Set<{ contended: boolean }>>()

  constructor(tally: Tally) {
    this.#tally = tally
  }

  /** A transaction begins on these keys; the result ends it. */
  enter(keys: readonly string[]): () => void {
    const mine = { contended: false }
    for (const key of keys) {
      let others = this.#inFlight.get(key)
      if (others === undefined) this.#inFlight.set(key, (others = new Set()))
      for (const other of others) mine.contended = other.contended = true
      others.add(mine)
    }
    return () => {
      for (const key of keys) this.#inFlight.get(key)?.delete(mine)
      this.#tally.add('transactions')
      if (mine.contended) this.#tally.add('contended')
    }
  }

  /** The whole history, with the outcomes that nobody was told. The nodes are at rest. */
  async settle(
    nodes: readonly SimNode[],
    witness: Witness,
    keyOf: (address: KeyBytes) => string,
  ): Promise<HistoryEntry[]> {
    const ledgers = nodes.map(({ node }) => node!.ledger)
    const wroteAt = writesOfRequests(nodes)
    for (const draft of this.writes) {
      if (draft.kind === 'transaction')
        this.#settle(draft, await witness.fatesOf(draft.id, ledgers, wroteAt.get(draft.id)))
    }
    const known = new Set<string>()
    for (const { status, timestamp, actions } of this.writes) {
      if (status === 'committed') for (const { key } of actions) known.add(`${key}@${timestamp}`)
    }
    const gone = nodes.flatMap(({ log }) => log.writes.filter(({ record }) => record === undefined))
    const logged = new Set(gone.map(({ address, timestamp }) => `${keyOf(address)}@${timestamp}`))
    return [
      ...this.writes.filter(({ status }) => status === 'committed').map((draft) => entryOf(draft, logged)),
      ...this.reads,
      ...this.ranges,
      ...this.looks,
      ...nodes.flatMap((node) => this.#unanswered(node, known, keyOf)),
    ]
  }

  #settle(draft: WriteDraft, fates: readonly { readonly tx: TxId; readonly timestamp: number }[]): void {
    const [fate] = fates
    if (fates.length > 1)
      this.found.add(
        'twice',
        `${draft.id} was committed as ${fates.map(({ tx, timestamp }) => `${tx}@${timestamp}`).join(', ')}`,
      )
    if (draft.status === 'refused' && fate !== undefined)
      this.found.add('refused-but-committed', `${draft.id} was refused, and committed at ${fate.timestamp}`)
    if (draft.status === 'committed' && fate === undefined)
      this.found.add(
        'committed-but-not',
        `${draft.id} was said to be committed, but the ledger knows nothing of it`,
      )
    if (draft.timestamp !== undefined && fate !== undefined && draft.timestamp !== fate.timestamp)
      this.found.add('two-timestamps', `${draft.id} was committed at ${draft.timestamp} or ${fate.timestamp}`)
    if (draft.status === 'unknown')
      this.#tally.add('unknown: ', fate === undefined ? 'not committed' : 'committed')
    draft.status = fate === undefined ? 'refused' : 'committed'
    if (fate !== undefined) draft.timestamp ??= fate.timestamp
  }

  /** Single writes that are durable though nobody was told. What they left is taken from the node's own log. */
  #unanswered({ log }: SimNode, known: Set<string>, keyOf: (address: KeyBytes) => string): WriteEntry[] {
    const unknown = new Set(this.writes.filter((draft) => draft.status === 'unknown').map(({ id }) => id))
    for (const phantom of log.phantoms) this.found.add('phantom', phantom)
    return log.writes.flatMap(({ address, record, timestamp }): WriteEntry[] => {
      const key = keyOf(address)
      const place = `${key}@${timestamp}`
      if (timestamp === undefined || known.has(place)) return []
      known.add(place)
      const image = imageOf(record)
      const tag = image?.['w']
      const id = tag !== undefined && 'S' in tag ? tag.S : undefined
      const draft = this.writes.find((each) =>
        id === undefined ? deletes(each, key) && unknown.has(each.id) : each.id === id,
      )
      if (draft === undefined || draft.status !== 'unknown') {
        this.found.add(
          'unexplained-write',
          `${key} was written at ${timestamp} by ${id ?? 'a delete'}, which did not commit`,
        )
        return []
      }
      const mutation =
        image === undefined ? ({ kind: 'delete' } as const) : ({ kind: 'put', item: image } as const)
      return [
        {
          kind: 'write',
          id: `${draft.id} (unanswered)`,
          actions: [{ key, keyAttributes: {}, mutation }],
          status: 'committed',
          timestamp,
          invokedAt: draft.invokedAt,
          completedAt: Infinity,
        },
      ]
    })
  }
}

/** When something was written for each request, by what the disks have kept. */
function writesOfRequests(nodes: readonly SimNode[]): ReadonlyMap<string, ReadonlySet<number>> {
  const found = new Map<string, Set<number>>()
  for (const { request, timestamp } of nodes.flatMap(({ log }) => log.writes)) {
    if (request === undefined || timestamp === undefined) continue
    const timestamps = found.get(request)
    if (timestamps === undefined) found.set(request, new Set([timestamp]))
    else timestamps.add(timestamp)
  }
  return found
}

const deletes = ({ kind, actions }: WriteDraft, key: string): boolean =>
  kind === 'single' && actions.some((action) => action.key === key && action.mutation.kind === 'delete')

function entryOf(draft: WriteDraft, logged: ReadonlySet<string>): WriteEntry | LookEntry {
  const { id, actions, status, timestamp, old, ranges, since, invokedAt, completedAt } = draft
  const key = actions[0]?.key ?? ''
  // A delete of nothing that left nothing behind has no place in the serial order: it saw that the item was absent.
  if (draft.ofNothing === true && !logged.has(`${key}@${timestamp}`))
    return { kind: 'look', id, key, image: undefined, invokedAt, completedAt }
  return {
    kind: 'write',
    id,
    actions,
    status,
    invokedAt,
    completedAt,
    ...(timestamp !== undefined && { timestamp }),
    ...(old && { old }),
    ...(ranges && { ranges }),
    ...(since !== undefined && { since }),
  }
}

export const imageOf = (record: ItemRecord | undefined): Image => record && parseRecord(record)
