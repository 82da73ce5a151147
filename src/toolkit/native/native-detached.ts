// Units that outlive the process that began them, on Seriatim: what they read and wrote is kept in a table, and another
// process goes on. The server keeps no session for them, as for no other unit.
//
//   detach --> a row `plan` with its turn, and the text in rows of that turn, in one transaction
//   resume --> the rows, and the server's clock, from which the time of the resumed unit is counted
//   commit --> with the unit's own actions, the rows are deleted, if the turn is still the same: one of several who go on
//              commits, and the others conflict. They were written behind the snapshot that the unit reads at, so the commit
//              names their versions: at isolation `snapshot` what is written must be as it was there, or as it is named
import { parseItem } from '../../model/parse-value.js'
import type { AttributeValue, Item } from '../../model/value.js'
import type { UnitPass } from '../../port/unit-port.js'
import type { ExtendedEndpoint } from '../endpoint/endpoint.js'
import { Conflict, UnitNotFound } from '../endpoint/errors.js'
import type { UnitAction, ItemAddress, ReadItem, CommitWork } from '../unit/protocol.js'
import type { IsolationLevel } from '../unit/transactor.js'

export const UNITS_TABLE = 'seriatim-units'

/** In the characters of JSON, which take three bytes at most: a row stays below 400 KB. */
const ROW_CHARACTERS = 100_000
/** A transaction takes 4 MB. */
const ROWS_MAX = 12

export interface DetachedPlan {
  readonly id: string
  readonly turn: number
  readonly rows: number
  /** Of its rows, as they were loaded: of the first, and of those with the text. */
  readonly versions?: readonly ReadItem['version'][]
}

export interface Kept {
  readonly work: CommitWork
  readonly isolation: IsolationLevel
  readonly timeoutMs: number
  readonly readTimestamp?: UnitPass
  readonly began?: UnitPass
}

export interface ResumedPlan {
  readonly plan: DetachedPlan
  readonly kept: Kept
  /** The server's time when it was resumed. */
  readonly clock: number
}

export class DetachedPlans {
  readonly #endpoint: ExtendedEndpoint
  readonly #table: string

  constructor(endpoint: ExtendedEndpoint, table: string = UNITS_TABLE) {
    this.#endpoint = endpoint
    this.#table = table
  }

  async setup(): Promise<void> {
    try {
      await this.#endpoint.call('CreateTable', {
        TableName: this.#table,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [
          { AttributeName: 'id', AttributeType: 'S' },
          { AttributeName: 'part', AttributeType: 'S' },
        ],
        KeySchema: [
          { AttributeName: 'id', KeyType: 'HASH' },
          { AttributeName: 'part', KeyType: 'RANGE' },
        ],
      })
    } catch (error) {
      if ((error as Error).name !== 'ResourceInUseException') throw error
    }
  }

  /** `before`: the plan that this one takes the place of. */
  async save(id: string, kept: Kept, before: DetachedPlan | undefined): Promise<void> {
    const text = JSON.stringify({ ...kept, work: plainWork(kept.work) })
    const texts = text.match(PIECES) ?? []
    if (texts.length > ROWS_MAX)
      throw new RangeError('This unit of work is too large to be detached: commit it here, or divide it.')
    const plan = { id, turn: (before?.turn ?? 0) + 1, rows: texts.length }
    const header = {
      TableName: this.#table,
      Item: { ...keyOf(id, 'plan'), turn: { N: String(plan.turn) }, rows: { N: String(plan.rows) } },
    }
    const condition =
      before === undefined
        ? { ConditionExpression: 'attribute_not_exists(id)' }
        : {
            ConditionExpression: 'turn = :turn',
            ExpressionAttributeValues: { ':turn': { N: String(before.turn) } },
          }
    try {
      await this.#endpoint.call('TransactWriteItems', {
        TransactItems: [
          { Put: { ...header, ...condition } },
          ...texts.map((piece, row) => ({
            Put: { TableName: this.#table, Item: { ...keyOf(id, partOf(plan, row)), text: { S: piece } } },
          })),
          ...(before === undefined
            ? []
            : rowsOf(before).map((part) => ({ Delete: { TableName: this.#table, Key: keyOf(id, part) } }))),
        ],
      })
    } catch (error) {
      throw this.#explained(error, id)
    }
  }

  async load(id: string): Promise<ResumedPlan> {
    const [[{ item: header, version } = {}], clock] = await this.#get(id, ['plan']).catch(
      (error: unknown) => {
        throw this.#explained(error, id)
      },
    )
    const [turn, rows] = [numberIn(header, 'turn'), numberIn(header, 'rows')]
    if (turn === undefined || rows === undefined)
      throw new UnitNotFound(`There is no detached unit of work ${id}: it was ended, or never detached.`, id)
    const [parts] = await this.#get(id, rowsOf({ id, turn, rows }))
    const plan = { id, turn, rows, versions: [version, ...parts.map((part) => part.version)] }
    let text = ''
    for (const { item } of parts) {
      const piece = item?.['text']
      if (piece === undefined || !('S' in piece)) throw goneOn(id)
      text += piece.S
    }
    const kept = JSON.parse(text) as Kept
    return { plan, kept: { ...kept, work: parsedWork(kept.work) }, clock }
  }

  /** Whether there is such a plan. */
  async has(id: string): Promise<boolean> {
    try {
      const [[header]] = await this.#get(id, ['plan'])
      return header?.item !== undefined
    } catch (error) {
      // Nobody has set it up, so nothing was ever detached.
      if ((error as Error).name === 'ResourceNotFoundException') return false
      throw error
    }
  }

  /** With the commit of the unit that goes on with the plan: one of them takes effect. */
  ending(plan: DetachedPlan): readonly UnitAction[] {
    const at = (part: string): ItemAddress => ({ table: this.#table, key: keyOf(plan.id, part) })
    const expressions = { condition: 'turn = :turn', values: { ':turn': { N: String(plan.turn) } } }
    return [
      { ...at('plan'), kind: 'delete', expressions, pinned: true },
      ...rowsOf(plan).map((part): UnitAction => ({
        ...at(part),
        kind: 'delete',
        expressions: {},
        pinned: true,
      })),
    ]
  }

  /** The rows of the plan as they were loaded. */
  loaded(plan: DetachedPlan): CommitWork['reads'] {
    return ['plan', ...rowsOf(plan)].map((part, at) => {
      const version = plan.versions?.[at]
      return { table: this.#table, key: keyOf(plan.id, part), ...(version !== undefined && { version }) }
    })
  }

  async #get(id: string, parts: readonly string[]): Promise<readonly [readonly ReadItem[], number]> {
    const { Responses, Clock } = (await this.#endpoint.extension('UnitGetItems', {
      Unit: { Id: id, Isolation: 'read-committed' },
      Gets: parts.map((part) => ({ TableName: this.#table, Key: keyOf(id, part) })),
    })) as {
      Responses: readonly { readonly Item?: Item; readonly Version?: number }[]
      Clock: number
    }
    const items = Responses.map(({ Item, Version }): ReadItem =>
      Item === undefined || Version === undefined ? {} : { item: Item, version: Version },
    )
    if (items.length === 0 || items.length === parts.length) return [items, Clock]
    const [others] = await this.#get(id, parts.slice(items.length))
    return [[...items, ...others], Clock]
  }

  #explained(error: unknown, id: string): unknown {
    const { name } = error as Error
    if (name === 'ResourceNotFoundException')
      return new Error(
        `A unit of work is detached into the table ${this.#table}, which is not there: call setup() of a transactor once.`,
        { cause: error },
      )
    return name === 'TransactionCanceledException' ? goneOn(id, error) : error
  }
}

const PIECES = new RegExp(`[\\s\\S]{1,${ROW_CHARACTERS}}`, 'g')

const keyOf = (id: string, part: string): { id: { S: string }; part: { S: string } } => ({
  id: { S: id },
  part: { S: part },
})

const partOf = ({ turn }: DetachedPlan, row: number): string => `plan/${turn}/${row}`

const rowsOf = (plan: DetachedPlan): readonly string[] =>
  Array.from({ length: plan.rows }, (_, row) => partOf(plan, row))

export const goneOn = (id: string, cause?: unknown): Conflict =>
  new Conflict(`Somebody else has gone on with the unit of work ${id}.`, { competitor: id }, 1, { cause })

function numberIn(item: Item | undefined, name: string): number | undefined {
  const value: AttributeValue | undefined = item?.[name]
  return value !== undefined && 'N' in value ? Number(value.N) : undefined
}

/** Without what only this process knows. */
function plainWork({ reads, ranges, actions, locks }: CommitWork): CommitWork {
  return {
    reads: reads.map(({ table, key, item, version }) => ({
      table,
      key,
      ...(item !== undefined && { item }),
      ...(version !== undefined && { version }),
    })),
    ranges,
    actions: actions.map(({ kind, table, key, item, expressions, pinned }) => ({
      kind,
      table,
      key,
      ...(item !== undefined && { item }),
      expressions,
      pinned,
    })),
    locks,
  }
}

/** JSON loses nothing of an item but an attribute named `__proto__`, which parseItem keeps. */
function parsedWork({ reads, ranges, actions, locks }: CommitWork): CommitWork {
  const parsed = <T extends { readonly key: Item; readonly item?: Item }>(one: T) => ({
    ...one,
    key: parseItem(one.key),
    ...(one.item !== undefined && { item: parseItem(one.item) }),
  })
  return {
    reads: reads.map(parsed),
    ranges,
    actions: actions.map(parsed),
    locks: locks.map(parsed),
  }
}
