// Of a request that is kept: only what its shape knows. What else a client sends is checked by nobody, and may be long.
import type { RequestShape } from './shape.js'

/** The value, whose types have been checked, without members that no struct of the shape has. */
export function knownMembers<Value>(shape: RequestShape, value: Value): Value {
  return known(shape, value) as Value
}

function known(shape: RequestShape, value: unknown): unknown {
  if (value === undefined || value === null) return value
  switch (shape.kind) {
    case 'struct':
      return Object.fromEntries(
        Object.entries(value).flatMap(([name, member]) =>
          Object.hasOwn(shape.members, name) ? [[name, known(shape.members[name]!, member)]] : [],
        ),
      )
    case 'list':
      return (value as readonly unknown[]).map((each) => known(shape.member, each))
    case 'map':
      return Object.fromEntries(
        Object.entries(value).map(([name, each]) => [name, known(shape.member, each)]),
      )
    case 'any':
    case 'string':
    case 'integer':
    case 'long':
    case 'double':
    case 'boolean':
      return value
  }
}
