// Whether a value fits a shape, as a function made of the shape once. It says yes to nearly every request, quickly; where
// it says no, shape.ts looks again, and finds the words for what is wrong, or nothing wrong after all.
import type { ListShape, MapShape, Shape, StringShape, StructShape } from './shape.js'

export type Fits = (value: unknown) => boolean

const made = new WeakMap<Shape, Fits>()

/** Shapes are declarations: their number is bounded. */
export function fitsOf(shape: Shape): Fits {
  let fits = made.get(shape)
  if (fits === undefined) made.set(shape, (fits = make(shape)))
  return fits
}

function make(shape: Shape): Fits {
  switch (shape.kind) {
    case 'any':
      return () => true
    case 'boolean':
      return (value) => typeof value === 'boolean'
    case 'integer':
    case 'long':
    case 'double': {
      const { valueMin = -Infinity, valueMax = Infinity } = shape
      return (value) => typeof value === 'number' && value >= valueMin && value <= valueMax
    }
    case 'string':
      return stringFits(shape)
    case 'list':
      return listFits(shape)
    case 'map':
      return mapFits(shape)
    case 'struct':
      return structFits(shape)
  }
}

function stringFits({ lengthMin = 0, lengthMax = Infinity, pattern, values, acceptsArn }: StringShape): Fits {
  const regular = pattern === undefined ? undefined : new RegExp(`^${pattern}$`)
  return (value) => {
    if (typeof value !== 'string') return false
    if (acceptsArn === true && value.startsWith('arn:')) return true
    if (value.length < lengthMin || value.length > lengthMax) return false
    if (values !== undefined && !values.includes(value)) return false
    return regular === undefined || regular.test(value)
  }
}

function listFits({ member, lengthMin = 0, lengthMax = Infinity }: ListShape): Fits {
  const memberFits = fitsOf(member)
  return (value) => {
    if (!Array.isArray(value) || value.length < lengthMin || value.length > lengthMax) return false
    for (const element of value) {
      if (element === null || element === undefined || !memberFits(element)) return false
    }
    return true
  }
}

function mapFits(shape: MapShape): Fits {
  const memberFits = fitsOf(shape.member)
  const { lengthMin = 0, lengthMax = Infinity, keyLengthMin = 0, keyLengthMax = Infinity, keyPattern } = shape
  const regular = keyPattern === undefined ? undefined : new RegExp(`^${keyPattern}$`)
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
    const keys = Object.keys(value)
    if (keys.length < lengthMin || keys.length > lengthMax) return false
    for (const key of keys) {
      if (key.length < keyLengthMin || key.length > keyLengthMax) return false
      if (regular !== undefined && !regular.test(key)) return false
      const element = (value as Readonly<Record<string, unknown>>)[key]
      if (element === null || element === undefined || !memberFits(element)) return false
    }
    return true
  }
}

function structFits({ members }: StructShape): Fits {
  const names = Object.keys(members)
  const fits = names.map((name) => fitsOf(members[name] as Shape))
  const required = names.map((name) => members[name]?.required === true)
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
    for (let at = 0; at < names.length; at++) {
      const name = names[at] as string
      const member = Object.hasOwn(value, name)
        ? (value as Readonly<Record<string, unknown>>)[name]
        : undefined
      // JSON null counts as absent.
      if (member === null || member === undefined) {
        if (required[at] === true) return false
      } else if (!(fits[at] as Fits)(member)) {
        return false
      }
    }
    return true
  }
}
