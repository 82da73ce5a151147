// The item that a request puts: a value, or a text that is as the store keeps it, which is not parsed.
import { storableBytes, type Item } from '../../model/value.js'
import { parseItem } from '../../model/parse-value.js'
import { keyNames, type KeySchema } from '../../model/table.js'
import { TextPut } from '../../model/text-put.js'
import type { Mutation } from '../../storage/contract/storage-node.js'

export type GivenItem = Item | TextPut

/** Throws what is wrong with it, but for its size. */
export const givenItem = (json: unknown, parse: (json: unknown) => Item = parseItem): GivenItem =>
  json instanceof TextPut ? json : parse(json)

/** Throws if it is too large. */
export const putOf = (
  given: GivenItem,
): Extract<Mutation, { kind: 'put' }> & { readonly itemBytes: number } =>
  given instanceof TextPut ? given : { kind: 'put', item: given, itemBytes: storableBytes(given) }

/** Attributes in which those of the key are, if the item has them. */
export const attributesForKey = (given: GivenItem, schema: KeySchema): Item =>
  given instanceof TextPut ? given.attributes(keyNames(schema)) : given
