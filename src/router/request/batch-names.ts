// RequestItems of a batch: table names, or their ARNs, as the keys of a map.
import { validationError } from '../../model/errors.js'
import { itemValue } from '../../model/text-put.js'
import { administeredTableNameShape, type MapShape } from '../shapes/shape.js'
import { tableNameOf } from '../shapes/table-name.js'

const { lengthMin = 3, lengthMax = 255, pattern = '.*' } = administeredTableNameShape

/** What BatchGetItem asks of the keys together with its other members. */
export const batchNamesShape = {
  keyPattern: pattern,
  keyLengthMin: lengthMin,
  keyLengthMax: lengthMax,
  keysAcceptArn: true,
} satisfies Partial<MapShape>

const NAME = new RegExp(`^${pattern}$`)

/** The plain name of the table that a key of RequestItems stands for. */
export const batchTableName = (key: string): string => tableNameOf(key)

type Requested<Element> = readonly (readonly [string, readonly Element[]])[]

/** BatchWriteItem looks at the names only once its other members are right. */
export function checkWriteNames<Element extends object>(requested: Requested<Element>): void {
  const fits = (name: string): boolean =>
    name.startsWith('arn:') || (name.length >= lengthMin && name.length <= lengthMax && NAME.test(name))
  if (requested.every(([name]) => fits(name))) return
  throw validationError(
    `1 validation error detected: Value '${shownWrites(requested)}' at 'requestItems' failed to satisfy constraint: ` +
      `Map keys must satisfy constraint: [Member must have length less than or equal to ${lengthMax}, ` +
      `Member must have length greater than or equal to ${lengthMin}, ` +
      `Member must satisfy regular expression pattern: ${pattern}]`,
  )
}

/** As Java shows it, but for the values, and with no more than the beginning of what is long. */
export function shownWrites<Element extends object>(requested: Requested<Element>): string {
  const tables = requested.slice(0, TABLES_SHOWN_MAX).map(([name, writes]) => {
    const shown = writes.slice(0, WRITES_SHOWN_MAX).map(shownWrite)
    if (writes.length > shown.length) shown.push(`${writes.length - shown.length} more`)
    return `${name.slice(0, NAME_SHOWN_MAX)}=[${shown.join(', ')}]`
  })
  return `{${tables.join(', ')}}`
}

const TABLES_SHOWN_MAX = 25
const WRITES_SHOWN_MAX = 2
const NAME_SHOWN_MAX = 300
const ITEM_SHOWN_MAX = 5

function shownWrite(write: object): string {
  const { PutRequest: put, DeleteRequest: remove } = write as {
    readonly PutRequest?: { readonly Item?: object } | null
    readonly DeleteRequest?: { readonly Key?: object } | null
  }
  const shownPut = put ? `PutRequest(item=${shownItem(put.Item)})` : 'null'
  const shownDelete = remove ? `DeleteRequest(key=${shownItem(remove.Key)})` : 'null'
  return `WriteRequest(putRequest=${shownPut}, deleteRequest=${shownDelete})`
}

function shownItem(item: object | undefined): string {
  const names = Object.keys(itemValue(item) ?? {}).slice(0, ITEM_SHOWN_MAX)
  return `{${names.map((name) => `${name.slice(0, NAME_SHOWN_MAX)}=AttributeValue`).join(', ')}}`
}
