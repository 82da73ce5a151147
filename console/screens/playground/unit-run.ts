// One client of a scene: a unit of work on the wire. Everything that it sees and is told is the store's answer.
import type { AttributeValue, Item } from '../../values/attribute.js'
import { call, type Json, WireError } from '../../wire/client.js'
import type { Client, Plain, Row, Step } from './scenes.js'

export const LEVELS = ['read-uncommitted', 'read-committed', 'snapshot', 'serializable'] as const
export type Level = (typeof LEVELS)[number]

export interface StepResult {
  readonly text: string
  readonly kind: 'saw' | 'noted' | 'good' | 'bad'
  readonly rows?: readonly Row[]
}

interface UnitAnswer {
  readonly ReadTimestamp?: string
  readonly Began?: string
  readonly Clock?: number
}

const marshalled = (value: Plain): AttributeValue =>
  typeof value === 'number' ? { N: String(value) } : { S: value }
const itemOf = (row: Row): Item =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, marshalled(value)]))
export const rowOf = (item: Item): Row =>
  Object.fromEntries(
    Object.entries(item).map(([name, value]) => [
      name,
      'N' in value ? Number(value.N) : 'S' in value ? value.S : JSON.stringify(value),
    ]),
  )

export class UnitRun {
  readonly client: Client
  readonly level: Level
  readonly #table: string
  readonly #id: string
  #unit: UnitAnswer = {}
  readonly #reads: Json[] = []
  readonly #predicates: Json[] = []
  readonly #writes = new Map<string, Json>()
  readonly seen: Record<string, readonly Row[]> = {}
  readonly results: StepResult[] = []
  state: 'open' | 'committed' | 'refused' | 'gave-up' = 'open'

  constructor(table: string, client: Client, level: Level) {
    this.#table = table
    this.client = client
    this.level = level
    this.#id = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
      byte.toString(16).padStart(2, '0'),
    ).join('')
  }

  get next(): Step | undefined {
    return this.state === 'open' ? this.client.steps[this.results.length] : undefined
  }

  async run(): Promise<void> {
    const step = this.next
    if (step === undefined) return
    try {
      this.results.push(await this.#step(step))
    } catch (error) {
      this.state = 'refused'
      this.results.push({ kind: 'bad', text: refusalText(error) })
    }
  }

  async #step(step: Step): Promise<StepResult> {
    switch (step.do) {
      case 'get': {
        const Key = { id: { S: step.id } }
        const answer = await call<
          UnitAnswer & { readonly Responses: readonly { readonly Item?: Item; readonly Version?: number }[] }
        >('UnitGetItems', { Unit: this.#header(), Gets: [{ TableName: this.#table, Key }] })
        this.#remember(answer)
        const [found] = answer.Responses
        this.#reads.push({
          TableName: this.#table,
          Key,
          ...(found?.Version !== undefined && { Version: found.Version }),
        })
        return this.#saw(step.as, found?.Item === undefined ? [] : [rowOf(found.Item)])
      }
      case 'find': {
        const isIndex = step.by === 'index'
        const condition = {
          TableName: this.#table,
          ...(isIndex
            ? { IndexName: 'by-email', KeyConditionExpression: '#a = :v' }
            : { FilterExpression: '#a = :v' }),
          ExpressionAttributeNames: { '#a': step.attribute },
          ExpressionAttributeValues: { ':v': marshalled(step.value) },
        }
        const answer = await call<UnitAnswer & { readonly Items: readonly Item[] }>(
          isIndex ? 'UnitQuery' : 'UnitScan',
          {
            Unit: this.#header(),
            ...condition,
          },
        )
        this.#remember(answer)
        this.#predicates.push(condition)
        return this.#saw(step.as, answer.Items.map(rowOf))
      }
      case 'put': {
        const row = step.row(this.seen)
        if (row === undefined) return { kind: 'noted', text: 'What it saw gives no reason to write.' }
        this.#writes.set(String(row['id']), { Put: { TableName: this.#table, Item: itemOf(row) } })
        return { kind: 'noted', text: 'Kept by the client until it commits.', rows: [row] }
      }
      case 'add': {
        const { id, attribute, by } = step
        this.#writes.set(id, {
          Update: {
            TableName: this.#table,
            Key: { id: { S: id } },
            UpdateExpression: 'ADD #a :by',
            ExpressionAttributeNames: { '#a': attribute },
            ExpressionAttributeValues: { ':by': { N: String(by) } },
          },
        })
        return { kind: 'noted', text: 'Kept by the client until it commits.' }
      }
      case 'wait':
        await new Promise((resolve) => setTimeout(resolve, step.ms))
        return { kind: 'noted', text: 'Waited.' }
      case 'commit':
        return this.#commit()
      case 'abort':
        this.state = 'gave-up'
        return { kind: 'noted', text: 'Gave up: nothing was sent, so there is nothing to undo.' }
    }
  }

  async #commit(): Promise<StepResult> {
    const answer = await call<{ readonly CommitTimestamp?: number }>('UnitCommit', {
      Unit: { ...this.#header(), TimeoutMs: this.client.timeoutMs ?? 30_000 },
      Reads: this.#reads,
      Predicates: this.#predicates,
      TransactItems: [...this.#writes.values()],
    })
    this.state = 'committed'
    return {
      kind: 'good',
      text: answer.CommitTimestamp === undefined ? 'Committed.' : `Committed at ${answer.CommitTimestamp}.`,
    }
  }

  #saw(name: string, rows: readonly Row[]): StepResult {
    this.seen[name] = rows
    return { kind: 'saw', text: rows.length === 0 ? 'Saw nothing.' : 'Saw', rows }
  }

  #header(): Json {
    const { ReadTimestamp, Began, Clock } = this.#unit
    return {
      Id: this.#id,
      Isolation: this.level,
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

function refusalText(error: unknown): string {
  if (!(error instanceof WireError)) return String(error)
  const conflicts = error.body['Conflicts'] as
    readonly { readonly Key?: Item; readonly TransactionId?: string }[] | undefined
  const items = (conflicts ?? []).flatMap(({ Key }) =>
    Key === undefined ? [] : [Object.values(rowOf(Key)).join(', ')],
  )
  return `Refused: ${error.name}. ${error.message.replace(/\.?$/, '.')}${items.length > 0 ? ` In the way: ${[...new Set(items)].join('; ')}.` : ''}`
}
