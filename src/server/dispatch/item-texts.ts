// Takes the items that a request puts out of its body, where they are as the store keeps them: what is left is short, and is
// parsed as JSON; the items are put in as texts, of which no value was made (docs/adr/0049-items-as-they-came.md).
//
//   {"TableName":"t","Item":{"id":{"S":"a"}}}  -->  {"TableName":"t","Item":"mark 0"}   +   {"id":{"S":"a"}}
//                                                              \--JSON.parse--> { TableName, Item: TextPut }
//
// Nothing is decided here. An item that is not plain stays in the body; where anything is not as expected afterwards, the whole body
// is parsed as ever.
import { randomBytes } from 'node:crypto'
import { NOT_THERE, PlainItems } from '../../model/plain-item.js'
import { TextPut } from '../../model/text-put.js'

const QUOTE = 0x22
const COLON = 0x3a
const BACKSLASH = 0x5c
const OPEN = 0x7b
const CLOSE = 0x7d
/** In which `[` and `{`, and `]` and `}` differ. */
const BRACKET_BIT = 0x20
const NAME = Buffer.from('Item')
const MARK_BYTES = 12

export interface BodyWithoutItems {
  /** With a mark in the place of each item. */
  readonly text: string
  readonly items: readonly TextPut[]
}

/** Where an operation has its items. */
interface ItemPlace {
  /** How many brackets are open at their names. */
  readonly depth: number
  /** The objects that may have one, in the order of the text. */
  readonly owners: (input: Json) => Iterable<Json>
}

type Json = Record<string, unknown>

const PLACES: ReadonlyMap<string, ItemPlace> = new Map([
  ['PutItem', { depth: 1, owners: (input) => [input] }],
  [
    'TransactWriteItems',
    { depth: 4, owners: (input) => membersOf(elementsOf(input['TransactItems']), 'Put') },
  ],
  [
    'BatchWriteItem',
    {
      depth: 5,
      owners: (input) =>
        membersOf(Object.values(objectOf(input['RequestItems']) ?? {}).flatMap(elementsOf), 'PutRequest'),
    },
  ],
] satisfies readonly (readonly [string, ItemPlace])[])

export class ItemTexts {
  readonly #plain = new PlainItems([])
  /** No client knows it: what it has in the place of an item cannot be taken for one that was taken out. */
  readonly #mark = randomBytes(MARK_BYTES).toString('base64url')

  /** The body is UTF-8. Undefined: there is nothing to take out. */
  take(operation: string, body: Buffer): BodyWithoutItems | undefined {
    const place = PLACES.get(operation)
    if (place === undefined) return undefined
    const items: TextPut[] = []
    let text = ''
    let taken = 0
    let open = 0
    for (let at = 0; at < body.length;) {
      const byte = body[at++]!
      if (byte === QUOTE) {
        const from = at
        at = endOfString(body, at)
        if (open !== place.depth || !isName(body, from, at)) continue
        const itemFrom = at + 1
        const itemEnd = this.#plain.skip(body, itemFrom, body.length)
        if (itemEnd === NOT_THERE) continue
        text += `${body.toString('utf8', taken, itemFrom)}"${this.#mark}${items.length}"`
        items.push(new TextPut(this.#plain.itemBytes, body.subarray(itemFrom, itemEnd)))
        at = taken = itemEnd
      } else if ((byte | BRACKET_BIT) === OPEN) open++
      else if ((byte | BRACKET_BIT) === CLOSE) open--
    }
    if (items.length === 0) return undefined
    return { text: text + body.toString('utf8', taken), items }
  }

  /** Puts them into what the text was parsed to; false if they are not all where they were taken out. */
  putBack(operation: string, input: object, items: readonly TextPut[]): boolean {
    let next = 0
    for (const owner of PLACES.get(operation)?.owners(input as Json) ?? []) {
      if (owner['Item'] !== `${this.#mark}${next}`) continue
      owner['Item'] = items[next++]
    }
    return next === items.length
  }
}

/** Behind the quote that ends it. */
function endOfString(body: Buffer, from: number): number {
  let at = from
  while (at < body.length && body[at] !== QUOTE) at += body[at] === BACKSLASH ? 2 : 1
  return at + 1
}

/** Whether the string between them is the name of an item. */
const isName = (body: Buffer, from: number, behind: number): boolean =>
  behind - from === NAME.length + 1 &&
  body[behind] === COLON &&
  body[from] === NAME[0] &&
  body[from + 1] === NAME[1] &&
  body[from + 2] === NAME[2] &&
  body[from + 3] === NAME[3]

const objectOf = (value: unknown): Json | undefined =>
  typeof value === 'object' && value !== null ? (value as Json) : undefined

const elementsOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : [])

function* membersOf(elements: readonly unknown[], name: string): Iterable<Json> {
  for (const element of elements) {
    const member = objectOf(objectOf(element)?.[name])
    if (member !== undefined) yield member
  }
}
