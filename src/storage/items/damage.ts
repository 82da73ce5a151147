// What a damaged record of the index is called: by table and key where it is an item's.
import { EntryDamaged } from '../../ordered-map/checksum.js'
import type { KeyBytes } from '../../model/brand.js'
import { keyText } from '../../model/key-text.js'
import type { TableShape } from '../../model/table.js'
import { FolderRefused } from '../../line/errors.js'
import { countSpace, metaName, pendingItem, spaceOfKey, withoutSpace } from '../../line/spaces.js'

const CAUSES_MAX = 8

/** The damage that is behind an error, if that is what it is. */
export function damageIn(error: unknown): EntryDamaged | undefined {
  let cause = error
  for (let depth = 0; depth < CAUSES_MAX && cause instanceof Error; depth++) {
    if (cause instanceof EntryDamaged) return cause
    ;({ cause } = cause)
  }
  return undefined
}

/** `the stored item of table Orders with key {"id":{"S":"7"}}`: what a key of the index stands for. */
export function nameOfRecord(key: KeyBytes, tables: Iterable<TableShape>): string {
  const space = spaceOfKey(key)
  if (space === 0) return nameOfOwnRecord(key, tables)
  for (const table of tables) {
    if (table.space === space)
      return `the stored item of table ${table.name} with key ${keyText(table.key, withoutSpace(key))}`
    const index = table.indexes.find((each) => each.space === space)
    if (index !== undefined) return `the entry ${hex(key)} of the index ${index.name} of table ${table.name}`
    if (table.expiry?.space === space)
      return `the entry ${hex(key)} of the expiry index of table ${table.name}`
  }
  return `the record ${hex(key)}`
}

/** In the system's own space. */
function nameOfOwnRecord(key: KeyBytes, tables: Iterable<TableShape>): string {
  switch (key.charAt(4)) {
    case 'm':
      return `the record ${JSON.stringify(metaName(key))} of the catalogue of tables`
    case 'c':
      return nameOfCount(key, tables)
    case 'p':
      return `the record of what is pending on ${nameOfPending(key, tables)}`
    case 'l':
      return `the record ${hex(key)} of the transaction ledger`
    case 'e':
      return `the record ${hex(key)} of an ended transaction`
    case 'b':
      return `the record ${hex(key)} of the blocks of ledger tables`
    case 't':
      return 'the record of the clock'
    case 'r':
      return 'the record of the highest timestamp'
    default:
      return `the record ${hex(key)}`
  }
}

function nameOfCount(key: KeyBytes, tables: Iterable<TableShape>): string {
  if (key.length !== 9) return `the record ${hex(key)}`
  const space = countSpace(key)
  for (const table of tables) {
    if (table.space === space) return `the count of table ${table.name}`
    const index = table.indexes.find((each) => each.space === space)
    if (index !== undefined) return `the count of the index ${index.name} of table ${table.name}`
  }
  return `the count of the key space ${space}`
}

function nameOfPending(key: KeyBytes, tables: Iterable<TableShape>): string {
  const item = pendingItem(key)
  return item.length < 4 || spaceOfKey(item) === 0 ? hex(item) : nameOfRecord(item, tables)
}

/** As a sentence begins. */
export const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** A folder cannot be opened without a record that is damaged; anything else is told as it is. */
export function refusalOf(error: unknown, path: string): unknown {
  const damage = damageIn(error)
  if (damage === undefined) return error
  return new FolderRefused(
    `${capitalised(nameOfRecord(damage.key, []))} is damaged (${damage.why}), and the data folder ${path} cannot be ` +
      `opened without it. Run seriatim verify --path ${path} to see what else is damaged.`,
    { cause: error },
  )
}

const hex = (key: KeyBytes): string => `0x${Buffer.from(key, 'latin1').toString('hex')}`
