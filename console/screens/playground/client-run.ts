// One client of a scene. Everything that it sees and is told is the store's answer.
//
//   ClientRun   the steps, what was seen, what is to be written
//      |
//   ClientPort  unit-port.ts: a unit of work on the server
//               condition-port.ts: plain operations and one TransactWriteItems, where a server has no units
import type { AttributeValue, Item } from '../../values/attribute.js'
import { type Json, WireError } from '../../wire/client.js'
import type { Client, Plain, Row, Step } from './scenes.js'

export interface StepResult {
  readonly text: string
  readonly kind: 'saw' | 'noted' | 'good' | 'bad'
  readonly rows?: readonly Row[]
}

export type FindStep = Extract<Step, { readonly do: 'find' }>

/** What a client asks of the store. Refusals are thrown. */
export interface ClientPort {
  get(key: Item): Promise<Item | undefined>
  find(step: FindStep): Promise<readonly Item[]>
  /** Resolves to what is said of it. */
  commit(writes: readonly ClientWrite[]): Promise<string>
}

/** As TransactWriteItems has it, without a condition. */
export interface ClientWrite {
  readonly key: Item
  readonly put?: { readonly Item: Item }
  readonly update?: Json & {
    readonly ExpressionAttributeNames: Readonly<Record<string, string>>
    readonly ExpressionAttributeValues: Item
  }
}

export const keyOfId = (id: string): Item => ({ id: { S: id } })
export const marshalled = (value: Plain): AttributeValue =>
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

/** The input of a Query or Scan, and of the predicate that a unit sends for it. */
export const findInput = (table: string, step: FindStep): Json => ({
  TableName: table,
  ...(step.by === 'index'
    ? { IndexName: 'by-email', KeyConditionExpression: '#a = :v' }
    : { FilterExpression: '#a = :v' }),
  ExpressionAttributeNames: { '#a': step.attribute },
  ExpressionAttributeValues: { ':v': marshalled(step.value) },
})

export class ClientRun {
  readonly client: Client
  readonly level: string
  readonly #port: ClientPort
  readonly #writes = new Map<string, ClientWrite>()
  readonly seen: Record<string, readonly Row[]> = {}
  readonly results: StepResult[] = []
  state: 'open' | 'committed' | 'refused' | 'gave-up' = 'open'

  constructor(client: Client, level: string, port: ClientPort) {
    this.client = client
    this.level = level
    this.#port = port
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
        const found = await this.#port.get(keyOfId(step.id))
        return this.#saw(step.as, found === undefined ? [] : [rowOf(found)])
      }
      case 'find':
        return this.#saw(step.as, (await this.#port.find(step)).map(rowOf))
      case 'put': {
        const row = step.row(this.seen)
        if (row === undefined) return { kind: 'noted', text: 'What it saw gives no reason to write.' }
        const id = String(row['id'])
        this.#writes.set(id, { key: keyOfId(id), put: { Item: itemOf(row) } })
        return { kind: 'noted', text: 'Kept by the client until it commits.', rows: [row] }
      }
      case 'add': {
        const { id, attribute, by } = step
        this.#writes.set(id, {
          key: keyOfId(id),
          update: {
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
      case 'commit': {
        const text = await this.#port.commit([...this.#writes.values()])
        this.state = 'committed'
        return { kind: 'good', text }
      }
      case 'abort':
        this.state = 'gave-up'
        return { kind: 'noted', text: 'Gave up: nothing was sent, so there is nothing to undo.' }
    }
  }

  #saw(name: string, rows: readonly Row[]): StepResult {
    this.seen[name] = rows
    return { kind: 'saw', text: rows.length === 0 ? 'Saw nothing.' : 'Saw', rows }
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
