// The items that tables begin with: pure.
//
//   { "Orders": [ { "id": "o1", "total": 12 } ] }                             plain values
//   { "Orders": [ { "PutRequest": { "Item": { "id": { "S": "o1" } } } } ] }   as `aws dynamodb batch-write-item` takes them
import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import type { Item } from '../model/value.js'
import { marshallItem, toSdkItem } from '../toolkit/values/values.js'
import type { TemplateTable } from './table-properties.js'
import { isObject, listAt, objectAt, type Place, wrong } from './template-error.js'

export interface Seed {
  readonly TableName: string
  readonly Item: Record<string, AttributeValue>
}

/** A table is called by its name, or by its logical id in the template. */
export function seedsIn(document: unknown, tables: readonly TemplateTable[]): readonly Seed[] {
  return Object.entries(objectAt([], document)).flatMap(([called, items]) => {
    const TableName = nameOf(called, tables)
    return listAt([called], items).map((item, at) => ({ TableName, Item: itemOf(item, [called, at]) }))
  })
}

function nameOf(called: string, tables: readonly TemplateTable[]): string {
  const table =
    tables.find(({ create }) => create.TableName === called) ?? tables.find(({ id }) => id === called)
  if (table !== undefined) return table.create.TableName as string
  const names = tables.map(({ create }) => create.TableName).join(', ')
  throw wrong([called], `there is no such table; there are ${names}`)
}

function itemOf(given: unknown, place: Place): Record<string, AttributeValue> {
  const item = objectAt(place, given)
  const { PutRequest: put } = item
  const isRequest = Object.keys(item).length === 1 && isObject(put) && isObject(put['Item'])
  try {
    return toSdkItem(isRequest ? (put['Item'] as Item) : marshallItem(item))
  } catch (error) {
    throw wrong(place, (error as Error).message)
  }
}
