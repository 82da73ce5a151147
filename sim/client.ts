// A client of the simulated store: asks, waits for a while, asks again where that is safe, and writes down what it was
// told.
import type {
  Coordinator,
  ReadTransactionOutcome,
  WriteTransactionOutcome,
} from '../src/coordinator/coordinator.js'
import type { Timestamp } from '../src/model/brand.js'
import type { RequestUnit } from '../src/router/units/unit.js'
import type { WriteRequest } from '../src/rules/item/item.js'
import type { ItemRecord, WriteOutcome } from '../src/storage/contract/storage-node.js'
import { type Request, keyNamed } from './actions.js'
import type { ActionVerdict } from '../src/storage/contract/transactions.js'
import type { Image, WriteEntry } from './history.js'
import type { MessageOptions, Network } from './network.js'
import { type Cluster, nodeOf } from './processes.js'
import { TABLE } from './table.js'
import { EPOCH_MICROS, type Life, type SimProcess } from './process.js'
import type { Random } from '../src/runtime/seeded-random.js'
import { imageOf, type Recorder, type WriteDraft } from './recorder.js'
import { type SimIsolation, SimUnit } from './unit.js'
import type { CommitAnswer, Refused, SentWork, UnitService } from './unit-service.js'

/** Some give up while a coordinator is still at it, some long after its deadline; a single item is soon asked for again. */
const PATIENCE_MS = { coordinator: { min: 1500, max: 4500 }, node: { min: 200, max: 1000 } }
const RETRIES_MAX = 12
const RETRY_MICROS = { min: 5_000, max: 500_000 }
/** Units of work that are not in their first attempt. */
const TRIED_AGAIN = 0.3

type CoordinatorAnswer<Method extends 'read' | 'write'> = Awaited<ReturnType<Coordinator[Method]>>

export class SimClient {
  readonly random: Random
  readonly #cluster: Cluster
  readonly #coordinators: readonly SimProcess[]
  readonly #life: Life
  readonly #recorder: Recorder
  readonly #network: Network
  readonly #name: string
  readonly #sleep: string
  #requests = 0

  constructor(cluster: Cluster, coordinators: readonly SimProcess[], life: Life, recorder: Recorder) {
    this.#cluster = cluster
    this.#coordinators = coordinators
    this.#life = life
    this.#recorder = recorder
    this.#network = cluster.network
    this.#name = life.process.name
    this.#sleep = `sleep ${this.#name}`
    this.random = life.process.random
  }

  /** For what a request writes: unique in its world. */
  nextId(): string {
    return `${this.#name}/${this.#requests++}`
  }

  get nowMicros(): number {
    return this.#cluster.around.scheduler.nowMicros
  }

  sleep(micros: number): Promise<void> {
    return new Promise((resolve) => {
      this.#cluster.around.scheduler.after(micros, this.#sleep, resolve)
    })
  }

  /** A write transaction. With a token it is repeated until it is answered; without one it is tried once. */
  async transact(
    id: string,
    requests: readonly Request[],
    token?: { readonly again: boolean; readonly misuse?: boolean },
  ): Promise<WriteDraft> {
    const { draft, leave } = this.#begin(id, 'transaction', requests)
    this.#cluster.witness.expect(id, requests)
    if (token === undefined) {
      const outcome = await this.#write({ actions: requests })
      this.#conclude(draft, outcome, 'certain')
      if (outcome?.outcome === 'cancelled') this.#lookAtRefusal(draft, requests, outcome.verdicts)
    } else {
      await this.#persist(draft, () => this.#write(tokenRequest(id, requests)))
      if (draft.status === 'committed') await this.#afterwards(id, requests, token)
    }
    leave()
    return draft
  }

  /** The commit of a unit of work, and what the judges hold it to. Repeated as a write transaction is. */
  async commitUnit(
    unit: RequestUnit,
    work: SentWork & { readonly writes: readonly Request[] },
    judged: Judged,
    token?: { readonly again: boolean },
  ): Promise<WriteDraft> {
    const { id } = unit
    const { writes, reads, locks } = work
    const { draft, leave } = this.#begin(id, 'transaction', writes, judged)
    this.#cluster.witness.expect(id, [...writes, ...reads, ...locks])
    const claim = token && { text: id, payloadHash: id }
    const send = async (): Promise<WriteTransactionOutcome | undefined> => {
      const answer = await (claim === undefined
        ? this.ofUnit('unitCommit', unit, work)
        : this.ofUnit('unitCommit', unit, work, claim))
      this.tell('unit-commit', answer === undefined ? 'lost' : 'refused' in answer ? answer.refused : 'done')
      return outcomeOf(answer)
    }
    if (token === undefined) {
      this.#conclude(draft, await send(), 'certain')
    } else {
      await this.#persist(draft, send)
      if (draft.status === 'committed' && token.again) this.#judgeAgain(id, await send())
    }
    leave()
    return draft
  }

  /** A client that thinks it never got the answer sends the same once more; another takes a token that is not its own. */
  async #afterwards(
    id: string,
    requests: readonly Request[],
    { again, misuse }: { readonly again: boolean; readonly misuse?: boolean },
  ): Promise<void> {
    if (again) this.#judgeAgain(id, await this.#write(tokenRequest(id, requests)))
    if (misuse === true) {
      const outcome = await this.#write({ actions: requests, token: { text: id, payloadHash: 'another' } })
      this.tell('misuse', outcome?.outcome ?? 'lost')
      if (outcome?.outcome === 'committed' || outcome?.outcome === 'repeated')
        this.#recorder.found.add(
          'token-misused',
          `another request under the token of ${id} was ${outcome.outcome}`,
        )
    }
  }

  #judgeAgain(id: string, outcome: WriteTransactionOutcome | undefined): void {
    this.tell('again', outcome?.outcome ?? 'lost')
    if (outcome?.outcome === 'committed')
      this.#recorder.found.add('token-forgotten', `${id} was committed again under its token`)
  }

  /** A read transaction: the images in the order of the keys, if there was an answer. */
  async read(id: string, keys: readonly string[]): Promise<readonly Image[] | undefined> {
    const leave = this.#recorder.enter(keys)
    const invokedAt = this.nowMicros
    const { oneProcess, rules } = this.#cluster
    if (oneProcess && rules.readsPassPrepared && keys.length === 1) {
      // As the router does it: whatever is committed of one item is a snapshot.
      const image = await this.#look(id, keys[0]!, 'transactGet')
      leave()
      this.tell('read', image === LOST ? 'lost' : 'read')
      return image === LOST ? undefined : [image]
    }
    const items = keys.map((name) => ({ space: TABLE.space, key: keyNamed(name).key }))
    const outcome = (await this.#ask('read', { items })) as ReadTransactionOutcome | undefined
    leave()
    this.tell('read', outcome?.outcome ?? 'lost')
    if (outcome?.outcome !== 'read') return undefined
    const images = outcome.records.map(imageOf)
    if (outcome.timestamp === undefined) throw new Error('a read transaction without a timestamp')
    this.#recorder.reads.push({
      kind: 'read',
      id,
      timestamp: outcome.timestamp,
      images: new Map(keys.map((key, at) => [key, images[at]])),
      invokedAt,
      completedAt: this.nowMicros,
    })
    return images
  }

  async get(id: string, name: string): Promise<Image> {
    const image = await this.#look(id, name, 'get')
    return image === LOST ? undefined : image
  }

  async #look(id: string, name: string, method: 'get' | 'transactGet'): Promise<Image | typeof LOST> {
    const invokedAt = this.nowMicros
    const record = await this.#node(name, method, [TABLE.space, keyNamed(name).key, true])
    if (record === LOST) return LOST
    const image = imageOf(record as ItemRecord | undefined)
    this.#recorder.looks.push({ kind: 'look', id, key: name, image, invokedAt, completedAt: this.nowMicros })
    return image
  }

  /** A single write. */
  async write(id: string, request: Request, answersImage: boolean): Promise<WriteDraft> {
    const { draft, leave } = this.#begin(id, 'single', [request])
    const { key } = request.written
    const { written: _, ...plain } = request
    const asked = { ...plain, ...(answersImage && { answersImage }) } as WriteRequest
    const outcome = (await this.#node(key, 'write', [asked])) as WriteOutcome | typeof LOST
    leave()
    this.tell('single', outcome === LOST ? 'unknown' : outcome.verdict)
    if (outcome === LOST) return draft
    draft.completedAt = this.nowMicros
    if (outcome.verdict === 'done') {
      if (outcome.timestamp === undefined) throw new Error('a write without a timestamp')
      draft.timestamp = outcome.timestamp
      draft.status = 'committed'
      if (answersImage) draft.old = new Map([[key, imageOf(outcome.old)]])
      draft.ofNothing = request.mutation.kind === 'delete' && outcome.old === undefined
    } else {
      draft.status = 'refused'
      if (outcome.verdict === 'condition-failed') this.#failedUpon(draft, key, outcome.current, request)
    }
    return draft
  }

  #begin(
    id: string,
    kind: WriteDraft['kind'],
    requests: readonly Request[],
    judged: Judged = {},
  ): { readonly draft: WriteDraft; readonly leave: () => void } {
    const actions = requests.map(({ written }) => written)
    const draft: WriteDraft = {
      id,
      kind,
      actions,
      invokedAt: this.nowMicros,
      completedAt: Infinity,
      status: 'unknown',
      ...judged,
    }
    this.#recorder.writes.push(draft)
    const leave =
      kind === 'transaction' ? this.#recorder.enter(actions.map(({ key }) => key)) : (): void => undefined
    return { draft, leave }
  }

  async #persist(draft: WriteDraft, send: () => Promise<WriteTransactionOutcome | undefined>): Promise<void> {
    let certain: 'certain' | 'doubtful' = 'certain'
    for (let attempt = 0; attempt < RETRIES_MAX; attempt++) {
      const outcome = await send()
      const over = this.#conclude(draft, outcome, certain)
      if (over) return
      // From here on an earlier attempt may be at work behind the back of the next.
      certain = 'doubtful'
      draft.status = 'unknown'
      await this.sleep(this.random.skewed(RETRY_MICROS.min, RETRY_MICROS.max))
    }
  }

  /** True if there is nothing left to ask. */
  #conclude(
    draft: WriteDraft,
    outcome: WriteTransactionOutcome | undefined,
    certain: 'certain' | 'doubtful',
  ): boolean {
    this.tell('transaction', outcome?.outcome ?? 'lost')
    switch (outcome?.outcome) {
      case undefined:
      case 'unknown':
      case 'token-in-progress':
        return false
      case 'unavailable':
        if (certain === 'certain') draft.status = 'refused'
        return false
      case 'committed':
        if (outcome.timestamp !== undefined) draft.timestamp = outcome.timestamp
        draft.status = 'committed'
        draft.completedAt = this.nowMicros
        return true
      case 'repeated':
        draft.status = 'committed'
        draft.completedAt = this.nowMicros
        return true
      case 'cancelled':
        for (const verdict of outcome.verdicts) this.tell('cancelled', verdict.verdict)
        for (const verdict of outcome.predicates ?? []) this.tell('predicate', verdict.verdict)
        if (certain === 'certain') draft.status = 'refused'
        return true
      case 'token-mismatch':
        this.#recorder.found.add('unexpected-answer', `${draft.id} was answered ${outcome.outcome}`)
        return true
    }
  }

  /**
   * What a transaction in one round was refused upon was there, as for a single write. In two phases it may have been the image
   * of another one that is decided and not yet carried out.
   */
  #lookAtRefusal(draft: WriteDraft, requests: readonly Request[], verdicts: readonly ActionVerdict[]): void {
    const { rules, nodes } = this.#cluster
    const places = new Set(requests.map(({ key }) => nodeOf(key.hash, nodes.length)))
    if (!rules.oneRoundWrites || places.size > 1) return
    for (const [at, verdict] of verdicts.entries()) {
      const request = requests[at]!
      if (verdict.verdict === 'condition-failed')
        this.#failedUpon(draft, request.written.key, verdict.current, request)
    }
  }

  #failedUpon(draft: WriteDraft, key: string, current: ItemRecord | undefined, { condition }: Request): void {
    this.#recorder.looks.push({
      kind: 'look',
      id: draft.id,
      key,
      image: imageOf(current),
      invokedAt: draft.invokedAt,
      completedAt: this.nowMicros,
      ...(condition && { failed: condition }),
    })
  }

  #write(request: unknown): Promise<CoordinatorAnswer<'write'> | undefined> {
    return this.#ask('write', request) as Promise<CoordinatorAnswer<'write'> | undefined>
  }

  unit(isolation: SimIsolation): SimUnit {
    const began = (EPOCH_MICROS + this.nowMicros) as Timestamp
    return new SimUnit(this, {
      recorder: this.#recorder,
      id: this.nextId(),
      isolation,
      ...(this.random.chance(TRIED_AGAIN) && { began }),
    })
  }

  /** What a unit of work asks, of any coordinator. Undefined if the answer was lost. */
  ofUnit<Method extends keyof UnitService>(
    method: Method,
    ...args: Parameters<UnitService[Method]>
  ): Promise<Awaited<ReturnType<UnitService[Method]>> | undefined> {
    return this.#send('units', method, args) as Promise<Awaited<ReturnType<UnitService[Method]>> | undefined>
  }

  #ask(method: 'write' | 'read', argument: unknown): Promise<unknown> {
    return this.#send('coordinator', method, [argument])
  }

  /** Undefined if the answer was lost, or there was none. */
  async #send(service: string, method: string, args: readonly unknown[]): Promise<unknown> {
    const coordinator = this.random.pick(this.#coordinators)
    try {
      const request = { service, method, args }
      return await this.#network.call(this.#life, coordinator, request, this.#patience('coordinator'))
    } catch {
      return undefined
    }
  }

  async #node(
    name: string,
    method: 'get' | 'transactGet' | 'write',
    args: readonly unknown[],
  ): Promise<unknown> {
    const { nodes, group } = this.#cluster
    const { process, services } = nodes[nodeOf(keyNamed(name).key.hash, nodes.length)]!
    try {
      return await this.#network.call(
        this.#life,
        // Any worker of a server takes any request.
        group === undefined ? process : this.random.pick(this.#coordinators),
        { service: services.node, method, args },
        this.#patience('node'),
      )
    } catch {
      return LOST
    }
  }

  #patience(role: 'coordinator' | 'node'): MessageOptions {
    const { min, max } = PATIENCE_MS[role]
    return { timeoutMs: this.random.skewed(min, max), once: true }
  }

  tell(what: string, outcome: string): void {
    const { tally, scheduler } = this.#cluster.around
    const told = `${what} ${outcome}`
    tally.add('outcome/', told)
    scheduler.note(told)
  }
}

const LOST = Symbol('lost')

/** What the judges hold the commit of a unit of work to. */
type Judged = Pick<WriteEntry, 'old' | 'ranges' | 'since'>

/** What a commit of a unit was answered, as what a coordinator says of a transaction. */
function outcomeOf(answer: CommitAnswer | Refused | undefined): WriteTransactionOutcome | undefined {
  if (answer === undefined) return undefined
  if (!('refused' in answer)) {
    const { timestamp } = answer
    return timestamp === undefined ? { outcome: 'repeated' } : { outcome: 'committed', timestamp }
  }
  switch (answer.refused) {
    case 'UnitConflictException':
    case 'SnapshotTooOldException':
    case 'TransactionCanceledException':
      return { outcome: 'cancelled', verdicts: [] }
    case 'TransactionInProgressException':
      return { outcome: 'token-in-progress' }
    case 'IdempotentParameterMismatchException':
      return { outcome: 'token-mismatch' }
    default:
      return { outcome: 'unknown', message: answer.refused }
  }
}

const tokenRequest = (id: string, actions: readonly Request[]) => ({
  actions,
  token: { text: id, payloadHash: id },
})
