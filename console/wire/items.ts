// One item, read and written as a unit of work: a write is carried out only if the item still has the version that was read, so
// that two people who edit the same item learn of each other.
import type { Item } from '../values/attribute.js'
import { call } from './client.js'

export interface ReadItem {
  readonly item: Item | undefined
  /** The timestamp of its last write; undefined if there is none. */
  readonly version: number | undefined
}

interface UnitAnswer {
  readonly ReadTimestamp?: string
  readonly Clock?: number
  readonly Began?: string
  readonly Responses: readonly { readonly Item?: Item; readonly Version?: number }[]
}

const unitId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  )

const read = (unit: object, table: string, key: Item): Promise<UnitAnswer> =>
  call<UnitAnswer>('UnitGetItems', { Unit: unit, Gets: [{ TableName: table, Key: key }] })

export async function readItem(table: string, key: Item): Promise<ReadItem> {
  const { Responses } = await read({ Id: unitId(), Isolation: 'read-committed' }, table, key)
  return { item: Responses[0]?.Item, version: Responses[0]?.Version }
}

/** The item is not the one that was read any more. */
export class Changed extends Error {
  override readonly name = 'Changed'
  readonly now: ReadItem

  constructor(now: ReadItem) {
    super('the item was changed since it was read')
    this.now = now
  }
}

/** Puts the item, or deletes it, if it still has that version. */
export async function writeItem(
  table: string,
  key: Item,
  version: number | undefined,
  next: Item | undefined,
): Promise<void> {
  const unit = { Id: unitId(), Isolation: 'serializable' }
  const first = await read(unit, table, key)
  const [found] = first.Responses
  if (found?.Version !== version) throw new Changed({ item: found?.Item, version: found?.Version })
  const write =
    next === undefined
      ? { Delete: { TableName: table, Key: key } }
      : { Put: { TableName: table, Item: next } }
  try {
    await call('UnitCommit', {
      Unit: {
        ...unit,
        ReadTimestamp: first.ReadTimestamp,
        Began: first.Began,
        AttemptBegan: first.Clock,
        TimeoutMs: 30_000,
      },
      Reads: [{ TableName: table, Key: key, ...(version !== undefined && { Version: version }) }],
      TransactItems: [write],
    })
  } catch (error) {
    if ((error as Error).name !== 'UnitConflictException') throw error
    throw new Changed(await readItem(table, key))
  }
}
