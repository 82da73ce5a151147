// Watches the protocol from outside: which transactions were run for which request, and what became of them. When the
// world has come to rest, outcomes that nobody was told are settled here.
import type { Ledger } from '../src/ledger/ledger.js'
import { type KeyBytes, type TxId, slotOf } from '../src/model/brand.js'
import { inSpace } from '../src/line/spaces.js'
import type { LocalNode } from '../src/storage/node/local-node.js'
import type { StorageNode } from '../src/storage/contract/storage-node.js'
import type {
  Action,
  PrepareRequest,
  TransactReply,
  TransactRequest,
  TransactionNode,
} from '../src/storage/contract/transactions.js'
import type { UnitNode } from '../src/storage/contract/units.js'
import type { Tally } from './faults.js'

export interface Fate {
  readonly tx: TxId
  readonly timestamp: number
}

export type Watched = Pick<StorageNode, 'get' | 'write'> & TransactionNode & Omit<UnitNode, 'unitsHeld'>

/** What is known of a node from outside, and who wants to know of looks at its items. */
export interface Onlooker {
  readonly isPending: (address: KeyBytes) => boolean
  readonly onLook: (address: KeyBytes) => void
  /** The same of transactions in one round. */
  readonly onTransact?: (addresses: readonly KeyBytes[]) => void
}

export class Witness {
  readonly #tally: Tally
  /** What an action does travels as it is, never copied, and so says whose it is. */
  readonly #requestOf = new WeakMap<Action['mutation'], string>()
  /** Of transactions that are sent as bytes: their request. */
  readonly #sentFor = new Map<TxId, string>()
  /** Requests whose transaction leaves no record: only what it wrote tells of it. */
  readonly #unrecorded = new Set<string>()
  readonly #transactionsOf = new Map<string, Set<TxId>>()
  readonly #committed = new Map<TxId, number>()
  /** Told of as committed while the disk may not have known of it. */
  readonly #ahead = new Map<TxId, number>()

  constructor(tally: Tally) {
    this.#tally = tally
  }

  /** These are the actions of the request with that id. */
  expect(id: string, actions: readonly Action[]): void {
    for (const { mutation } of actions) this.#requestOf.set(mutation, id)
  }

  /** The request that these are actions of. */
  requestOf([first]: readonly Action[]): string | undefined {
    return first && this.#requestOf.get(first.mutation)
  }

  /** A node as another process has it: whose a transaction is, is known before it becomes bytes. */
  sender<T extends TransactionNode>(node: T): T {
    return {
      ...node,
      prepare: (request: PrepareRequest) => {
        this.#noteSent(request)
        return node.prepare(request)
      },
      transact: (request: TransactRequest) => {
        this.#noteSent(request)
        return node.transact(request)
      },
    }
  }

  #noteSent({ tx, actions }: { readonly tx: TxId; readonly actions: readonly Action[] }): void {
    const id = this.requestOf(actions)
    if (id !== undefined) this.#sentFor.set(tx, id)
  }

  /** What a node offers to others, watched. */
  node(node: LocalNode, { isPending, onLook, onTransact }: Onlooker): Watched {
    return {
      prepare: async (request: PrepareRequest) => {
        this.#noteTransaction(request)
        const reply = await node.prepare(request)
        for (const { verdict } of reply.verdicts) this.#tally.add('verdict/prepare ', verdict)
        for (const { verdict } of reply.predicateVerdicts ?? [])
          this.#tally.add('verdict/predicate ', verdict)
        return reply
      },
      transact: async (request: TransactRequest): Promise<TransactReply> => {
        const id = this.#noteTransaction(request)
        if (request.once === true && request.token === undefined && id !== undefined) this.#unrecorded.add(id)
        const reply = await node.transact(request)
        this.#tally.add('verdict/transact ', reply.outcome)
        if (reply.outcome === 'committed') this.#tally.add('rule/oneRoundWrites')
        if (reply.outcome === 'committed') this.#committed.set(request.tx, reply.timestamp)
        onTransact?.(request.actions.map(({ table, key }) => inSpace(table.space, key.bytes)))
        return reply
      },
      readAt: async (request: Parameters<LocalNode['readAt']>[0]) => {
        const reply = await node.readAt(request)
        for (const { verdict } of reply.results) this.#tally.add('verdict/read-at ', verdict)
        this.#tally.add('rule/oneRoundReads')
        return reply
      },
      readLatest: async (request: Parameters<LocalNode['readLatest']>[0]) => {
        const reply = await node.readLatest(request)
        for (const { verdict } of reply.results) this.#tally.add('verdict/read-latest ', verdict)
        return reply
      },
      write: async (request: Parameters<LocalNode['write']>[0]) => {
        const outcome = await node.write(request)
        this.#tally.add('verdict/write ', outcome.verdict)
        return outcome
      },
      get: async (...args: Parameters<LocalNode['get']>) => {
        const record = await node.get(...args)
        const address = inSpace(args[0], args[1].bytes)
        if (isPending(address)) this.#tally.add('rule/readsPassPrepared')
        onLook(address)
        return record
      },
      commit: (request: Parameters<LocalNode['commit']>[0]) => node.commit(request),
      cancel: (request: Parameters<LocalNode['cancel']>[0]) => node.cancel(request),
      finished: (request: Parameters<LocalNode['finished']>[0]) => node.finished(request),
      stalled: (...args: Parameters<LocalNode['stalled']>) => node.stalled(...args),
      openSnapshot: (request: Parameters<LocalNode['openSnapshot']>[0]) => node.openSnapshot(request),
      closeSnapshot: (...args: Parameters<LocalNode['closeSnapshot']>) => node.closeSnapshot(...args),
      readSnapshot: async (request: Parameters<LocalNode['readSnapshot']>[0]) => {
        const reply = await node.readSnapshot(request)
        this.#tally.add('verdict/read-snapshot ', reply.verdict)
        return reply
      },
      rangeAt: async (request: Parameters<LocalNode['rangeAt']>[0]) => {
        const reply = await node.rangeAt(request)
        this.#tally.add('verdict/range-at ', reply.verdict)
        return reply
      },
      lockItems: async (request: Parameters<LocalNode['lockItems']>[0]) => {
        const reply = await node.lockItems(request)
        this.#tally.add('verdict/lock ', reply.verdict)
        return reply
      },
      unlockItems: (request: Parameters<LocalNode['unlockItems']>[0]) => node.unlockItems(request),
    }
  }

  ledger(ledger: Ledger): Ledger {
    return {
      begin: async (entry) => {
        const outcome = await ledger.begin(entry)
        this.#tally.add('verdict/begin ', outcome.verdict)
        return outcome
      },
      decide: async (tx, decision, at) => {
        const record = await ledger.decide(tx, decision, at)
        this.#tally.add(`verdict/decide ${decision}: ${record.state} ${record.decision ?? ''}`)
        if (record.decision === 'commit' && record.run === undefined)
          this.#committed.set(tx, record.timestamp)
        if (record.run !== undefined) this.#ahead.set(tx, record.timestamp)
        return record
      },
      complete: async (tx, run) => {
        await ledger.complete(tx, run)
        const timestamp = this.#ahead.get(tx)
        if (run !== undefined && timestamp !== undefined) this.#committed.set(tx, timestamp)
      },
      read: (slot) => ledger.read(slot),
      unfinished: (from, recordsMax) => ledger.unfinished(from, recordsMax),
      recent: (recordsMax) => ledger.recent(recordsMax),
      purge: (recordsMax) => ledger.purge(recordsMax),
    }
  }

  /**
   * The committed transactions of a request, when the world is at rest: none, or one, or something is wrong. `wroteAt`: when
   * something was written for it that is on a disk.
   */
  async fatesOf(
    id: string,
    ledgers: readonly Ledger[],
    wroteAt: ReadonlySet<number> | undefined,
  ): Promise<readonly Fate[]> {
    const fates: Fate[] = []
    for (const tx of this.#transactionsOf.get(id) ?? []) {
      const timestamp = this.#committed.get(tx) ?? (await commitOf(tx, ledgers))
      if (timestamp !== undefined) fates.push({ tx, timestamp })
    }
    if (!this.#unrecorded.has(id) || wroteAt === undefined) return fates
    const [tx] = this.#transactionsOf.get(id)!
    const told = new Set(fates.map(({ timestamp }) => timestamp))
    return [
      ...fates,
      ...Array.from(wroteAt, (timestamp) => ({ tx: tx!, timestamp })).filter(
        ({ timestamp }) => !told.has(timestamp),
      ),
    ]
  }

  /** The request that it is for. */
  #noteTransaction({
    tx,
    actions,
  }: {
    readonly tx: TxId
    readonly actions: readonly Action[]
  }): string | undefined {
    const id = this.requestOf(actions) ?? this.#sentFor.get(tx)
    if (id === undefined) return undefined
    this.expect(id, actions)
    const transactions = this.#transactionsOf.get(id)
    if (transactions === undefined) this.#transactionsOf.set(id, new Set([tx]))
    else transactions.add(tx)
    return id
  }
}

/** In the ledger of its slot, or for a transaction in one round in that of the node that ran it. */
async function commitOf(tx: TxId, ledgers: readonly Ledger[]): Promise<number | undefined> {
  for (const ledger of ledgers) {
    const record = await ledger.read(slotOf(tx))
    if (record?.tx === tx && record.decision === 'commit') return record.timestamp
  }
  return undefined
}
