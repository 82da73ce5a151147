// Whether a request fits its shape, and nothing else: nearly all do, and only for the others is it worth while to walk
// along with the path of every member at hand (shape.ts), to say in DynamoDB's words what is wrong.
//
// A shape becomes a function once; the function looks at the members that a request has, not at all it might have.
import { type MapShape, type RequestShape, type StructShape, patternOf } from './shape.js'

/** Of a value that is there: neither null nor undefined. */
type Fits = (value: unknown) => boolean

/** There are as many as operations. */
const checks = new WeakMap<StructShape, Fits>()

/** False: `checkShape` has to say what is wrong, if anything is. */
export function fitsShape(shape: StructShape, input: unknown): boolean {
  let fits = checks.get(shape)
  if (fits === undefined) checks.set(shape, (fits = structFits(shape)))
  return input !== null && fits(input)
}

function fitsOf(shape: RequestShape): Fits {
  switch (shape.kind) {
    case 'any':
      return () => true
    case 'boolean':
      return (value) => typeof value === 'boolean'
    case 'string': {
      const { lengthMin = 0, lengthMax = Infinity, acceptsArn } = shape
      const values = shape.values && new Set(shape.values)
      const pattern = shape.pattern === undefined ? undefined : patternOf(shape.pattern)
      return (value) => {
        if (typeof value !== 'string') return false
        if (acceptsArn && value.startsWith('arn:')) return true
        if (value.length < lengthMin || value.length > lengthMax) return false
        return (values === undefined || values.has(value)) && (pattern === undefined || pattern.test(value))
      }
    }
    case 'integer':
    case 'long':
    case 'double': {
      const { valueMin = -Infinity, valueMax = Infinity } = shape
      return (value) => typeof value === 'number' && value >= valueMin && value <= valueMax
    }
    case 'list': {
      const { lengthMin = 0, lengthMax = Infinity } = shape
      const member = fitsOf(shape.member)
      return (value) => {
        if (!Array.isArray(value) || value.length < lengthMin || value.length > lengthMax) return false
        for (const element of value as readonly unknown[]) {
          if (element === null || element === undefined || !member(element)) return false
        }
        return true
      }
    }
    case 'map':
      return mapFits(shape)
    case 'struct':
      return structFits(shape)
  }
}

function mapFits(shape: MapShape): Fits {
  const { lengthMin = 0, lengthMax = Infinity, keyLengthMin, keyLengthMax, keyPattern } = shape
  const plainKeys = keyLengthMin === undefined && keyLengthMax === undefined && keyPattern === undefined
  // Keys with rules of their own are seldom, and the slow walk knows them.
  if (!plainKeys) return () => false
  const member = fitsOf(shape.member)
  const plainMembers = shape.member.kind === 'any' && shape.member.required === undefined
  return (value) => {
    if (typeof value !== 'object' || Array.isArray(value)) return false
    if (plainMembers && lengthMin === 0 && lengthMax === Infinity) return true
    const keys = Object.keys(value as object)
    if (keys.length < lengthMin || keys.length > lengthMax) return false
    for (const key of keys) {
      const element = (value as Readonly<Record<string, unknown>>)[key]
      if (element === null || element === undefined || !member(element)) return false
    }
    return true
  }
}

function structFits({ members }: StructShape): Fits {
  const known = new Map(Object.entries(members).map(([name, shape]) => [name, fitsOf(shape)]))
  const required = Object.keys(members).filter((name) => members[name]?.required)
  return (value) => {
    if (typeof value !== 'object' || Array.isArray(value)) return false
    const object = value as Readonly<Record<string, unknown>>
    for (const name of required) if (!Object.hasOwn(object, name)) return false
    for (const name of Object.keys(object)) {
      const fits = known.get(name)
      if (fits === undefined) continue
      const member = object[name]
      if (member === null || member === undefined) {
        if (members[name]?.required) return false
      } else if (!fits(member)) return false
    }
    return true
  }
}
