// The put of an item of which the text is known as the store keeps it: from a request (plain-item.ts) or from another worker. No value
// is made of it until somebody looks into it, and its text is written as it came (docs/adr/0049-items-as-they-came.md).
import { leadingAttributes } from './leading-attributes.js'
import type { Item } from './value.js'

export class TextPut {
  readonly kind = 'put'
  readonly itemBytes: number
  /** In UTF-8; a part of the bytes that it came with. */
  readonly json: Buffer
  #item: Item | undefined

  constructor(itemBytes: number, json: Buffer) {
    this.itemBytes = itemBytes
    this.json = json
  }

  /** All of it, parsed once. */
  get item(): Item {
    return (this.#item ??= JSON.parse(this.json.toString()) as Item)
  }

  /** In a request it stands in the place of the item. */
  toJSON(): Item {
    return this.item
  }

  /** Only the attributes of those names that it has. */
  attributes(names: readonly string[]): Item {
    return leadingAttributes(this.json, 0, this.json.length, names)
  }
}

/** What a request has in the place of an item, as a value. */
export const itemValue = (json: unknown): unknown => (json instanceof TextPut ? json.item : json)
