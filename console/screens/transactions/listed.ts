// What ListTransactions and ListContention answer.
import { shortText, type Item } from '../../values/attribute.js'

export interface ListedItem {
  readonly TableName?: string
  readonly Key?: Item
}

export interface ListedTransaction {
  readonly TransactionId: string
  readonly Outcome?: 'COMMITTED' | 'CANCELLED'
  readonly State?: string
  readonly Stalled?: boolean
  readonly BegunDateTime?: number
  readonly DecidedDateTime?: number
  readonly CompletedDateTime?: number
  readonly Attempt?: number
  readonly UnitId?: string
  readonly Nodes?: readonly {
    readonly Node: number
    readonly Items: number
    readonly PreparedDateTime?: number
    readonly FinishedDateTime?: number
  }[]
  readonly Participants?: readonly { readonly Node: number; readonly Items?: number }[]
  readonly Items?: readonly ListedItem[]
  readonly ItemCount?: number
  readonly CancellationReasons?: readonly { readonly Code: string; readonly Message?: string }[]
  readonly Obstacles?: readonly (ListedItem & { readonly Kind: string; readonly By?: string })[]
}

export interface TransactionList {
  readonly InFlight: readonly ListedTransaction[]
  readonly Recent: readonly ListedTransaction[]
  readonly Recovered?: readonly {
    readonly TransactionId: string
    readonly DateTime: number
    readonly Did: string
    readonly Items?: readonly ListedItem[]
    readonly ItemCount?: number
  }[]
}

export interface ListedWait extends ListedItem {
  readonly Node: number
  readonly Waiter?: string
  readonly Holders: readonly string[]
  readonly SinceDateTime: number
  readonly State: 'WAITING' | 'WENT_ON' | 'GAVE_UP'
  readonly WaitedMs?: number
}

export interface ListedLock extends ListedItem {
  readonly Node: number
  readonly UnitId: string
  readonly SinceDateTime: number
  readonly LeftMs: number
}

export interface Contention {
  readonly Waits: readonly ListedWait[]
  readonly Locks: readonly ListedLock[]
}

export const itemText = ({ TableName, Key }: ListedItem): string => {
  if (TableName === undefined) return 'an item of a dropped table'
  const key = Object.values(Key ?? {})
    .map((value) => shortText(value, 40))
    .join(', ')
  return `${TableName}(${key})`
}

const ITEMS_SHOWN = 3

/** The first of them, and how many more there are. */
export function itemsText({
  Items = [],
  ItemCount = Items.length,
}: Pick<ListedTransaction, 'Items' | 'ItemCount'>): string {
  const shown = Items.slice(0, ITEMS_SHOWN)
  const more = ItemCount - shown.length
  return shown.map(itemText).join(', ') + (more > 0 ? ` and ${more} more` : '')
}
