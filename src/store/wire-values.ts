// store.call speaks in the shapes of the AWS SDK: bytes are Uint8Array and times are Date. The wire has base64 and
// seconds. These two functions go between.

const NESTING_DEPTH_MAX = 1000

/** A request in SDK shapes as the JSON of the wire; undefined members vanish, as they do in JSON. */
export function toWire(value: unknown, depth = 0): unknown {
  if (depth > NESTING_DEPTH_MAX) throw new RangeError('the request is nested too deeply')
  if (value instanceof Uint8Array) {
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')
  }
  if (Array.isArray(value)) return value.map((element) => toWire(element, depth + 1))
  if (typeof value === 'bigint') return value.toString()
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Date) return value.getTime() / 1000
  if (value instanceof Set) return [...value].map((element) => toWire(element, depth + 1))
  return mapMembers(value, (_, member) => toWire(member, depth + 1))
}

/** An answer of the wire in SDK shapes. */
export function fromWire(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fromWire)
  if (typeof value !== 'object' || value === null) return value
  return mapMembers(value, (name, member) => {
    if (name === 'B' && typeof member === 'string') return bytes(member)
    if (name === 'BS' && Array.isArray(member) && typeof member[0] === 'string') return member.map(bytes)
    if (typeof member === 'number' && name.endsWith('DateTime')) return new Date(member * 1000)
    return fromWire(member)
  })
}

const bytes = (base64: unknown): Uint8Array => new Uint8Array(Buffer.from(base64 as string, 'base64'))

function mapMembers(object: object, change: (name: string, member: unknown) => unknown): object {
  const entries: [string, unknown][] = []
  for (const [name, member] of Object.entries(object)) {
    if (member !== undefined) entries.push([name, change(name, member)])
  }
  // fromEntries defines members, so that `__proto__` stays an attribute.
  return Object.fromEntries(entries)
}
