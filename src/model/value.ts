// The data model: DynamoDB's attribute values exactly as the wire spells them, so that an item read from disk is the
// JSON text that leaves on the socket, and nothing is converted on the way.
//
// Items are plain objects as JSON.parse makes them. A name such as `__proto__` or `constructor` is an ordinary
// attribute: read items only through `attribute`, and build them only through `setAttribute`.

/** An attribute value in the form of the wire: numbers as decimal text, binaries as base64. */
export type AttributeValue =
  | { readonly S: string }
  /** Canonical decimal text, see number.ts. */
  | { readonly N: string }
  /** Canonical base64. */
  | { readonly B: string }
  | { readonly BOOL: boolean }
  | { readonly NULL: true }
  | { readonly SS: readonly string[] }
  | { readonly NS: readonly string[] }
  | { readonly BS: readonly string[] }
  | { readonly L: readonly AttributeValue[] }
  | { readonly M: Item }

export type AttributeType = 'S' | 'N' | 'B' | 'BOOL' | 'NULL' | 'SS' | 'NS' | 'BS' | 'L' | 'M'
export type KeyAttributeType = 'S' | 'N' | 'B'

/** An item, or the value of a map: attribute values by name. Every value in it has been validated. */
export interface Item {
  readonly [name: string]: AttributeValue
}
export interface MutableItem {
  [name: string]: AttributeValue
}

/** The attribute of that name, never something inherited from Object.prototype. */
export function attribute(item: Item, name: string): AttributeValue | undefined {
  return Object.hasOwn(item, name) ? item[name] : undefined
}

export function setAttribute(item: MutableItem, name: string, value: AttributeValue): void {
  setMember(item, name, value)
}

/** As JSON.parse does it: `__proto__` is a name like any other, and of two with one name the later one stays. */
export function setMember(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__')
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })
  else object[name] = value
}

/** The one type tag of a validated value. */
export function typeOf(value: AttributeValue): AttributeType {
  for (const tag in value) return tag as AttributeType
  throw new TypeError('an attribute value without a type')
}

/** Only those attributes of the item that have one of the names. */
export function pickAttributes(item: Item, names: Iterable<string>): Item {
  const picked: MutableItem = {}
  for (const name of names) {
    const value = attribute(item, name)
    if (value !== undefined) setAttribute(picked, name, value)
  }
  return picked
}
