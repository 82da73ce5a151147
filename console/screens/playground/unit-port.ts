// A client as a unit of work on the server, at a level of isolation.
import type { Item } from '../../values/attribute.js'
import { call, type Json } from '../../wire/client.js'
import { unitId } from '../../wire/items.js'
import { type ClientPort, type ClientWrite, findInput, type FindStep } from './client-run.js'

export const LEVELS = ['read-uncommitted', 'read-committed', 'snapshot', 'serializable'] as const

interface UnitAnswer {
  readonly ReadTimestamp?: string
  readonly Began?: string
  readonly Clock?: number
}

export class UnitPort implements ClientPort {
  readonly #table: string
  readonly #level: string
  readonly #timeoutMs: number
  readonly #id = unitId()
  #unit: UnitAnswer = {}
  readonly #reads: Json[] = []
  readonly #predicates: Json[] = []

  constructor(table: string, level: string, timeoutMs: number) {
    this.#table = table
    this.#level = level
    this.#timeoutMs = timeoutMs
  }

  async get(key: Item): Promise<Item | undefined> {
    const place = { TableName: this.#table, Key: key }
    const answer = await call<
      UnitAnswer & { readonly Responses: readonly { readonly Item?: Item; readonly Version?: number }[] }
    >('UnitGetItems', { Unit: this.#header(), Gets: [place] })
    this.#remember(answer)
    const [found] = answer.Responses
    this.#reads.push({ ...place, ...(found?.Version !== undefined && { Version: found.Version }) })
    return found?.Item
  }

  async find(step: FindStep): Promise<readonly Item[]> {
    const condition = findInput(this.#table, step)
    const operation = step.by === 'index' ? 'UnitQuery' : 'UnitScan'
    const answer = await call<UnitAnswer & { readonly Items: readonly Item[] }>(operation, {
      Unit: this.#header(),
      ...condition,
    })
    this.#remember(answer)
    this.#predicates.push(condition)
    return answer.Items
  }

  async commit(writes: readonly ClientWrite[]): Promise<string> {
    const TableName = this.#table
    const answer = await call<{ readonly CommitTimestamp?: number }>('UnitCommit', {
      Unit: { ...this.#header(), TimeoutMs: this.#timeoutMs },
      Reads: this.#reads,
      Predicates: this.#predicates,
      TransactItems: writes.map(({ key, put, update }) =>
        put === undefined ? { Update: { TableName, Key: key, ...update } } : { Put: { TableName, ...put } },
      ),
    })
    return answer.CommitTimestamp === undefined ? 'Committed.' : `Committed at ${answer.CommitTimestamp}.`
  }

  #header(): Json {
    const { ReadTimestamp, Began, Clock } = this.#unit
    return {
      Id: this.#id,
      Isolation: this.#level,
      ...(ReadTimestamp !== undefined && { ReadTimestamp }),
      ...(Began !== undefined && { Began }),
      ...(Clock !== undefined && { AttemptBegan: Clock }),
    }
  }

  /** The first answer opens the snapshot, the age and the time of the attempt. */
  #remember(answer: UnitAnswer): void {
    this.#unit = {
      ReadTimestamp: this.#unit.ReadTimestamp ?? answer.ReadTimestamp,
      Began: this.#unit.Began ?? answer.Began,
      Clock: this.#unit.Clock ?? answer.Clock,
    }
  }
}
