// Patterns as Lambda's FilterCriteria have them: which records a trigger hands to its handler.
//
//   { "eventName": ["INSERT", "MODIFY"], "dynamodb": { "NewImage": { "state": { "S": [{ "prefix": "paid" }] } } } }
//
// A pattern has the structure of a record. Its leaves are lists: one of their elements has to match. Members of an object all
// have to match; of the objects of `$or`, one. Several patterns are alternatives. A pattern is checked when it is compiled, so
// that a mistake is an error and not a filter that lets nothing through.

/** Lambda's FilterCriteria. A pattern is JSON text, as templates have it, or the same as an object. */
export interface FilterCriteria {
  /** A record passes if one of them matches it. */
  readonly Filters: readonly { readonly Pattern: string | object }[]
}

/** Whether a record passes. */
export type RecordFilter = (record: object) => boolean

type Test = (value: unknown) => boolean
type Json = Readonly<Record<string, unknown>>

const FILTERS_MAX = 10
const PATTERN_CHARACTERS_MAX = 4096
const DEPTH_MAX = 64

/**
 * One function of all patterns; it reads nothing but its argument.
 *
 * @throws TypeError if a pattern is not one, with the path of the mistake
 *
 * @example
 * const passes = compileFilter({ Filters: [{ Pattern: '{ "eventName": ["REMOVE"] }' }] })
 * passes({ eventName: 'REMOVE' }) // true
 */
export function compileFilter({ Filters }: FilterCriteria): RecordFilter {
  if (!Array.isArray(Filters)) throw new TypeError('filter.Filters is a list of { Pattern }')
  if (Filters.length > FILTERS_MAX)
    throw new TypeError(`filter.Filters has at most ${FILTERS_MAX} patterns, not ${Filters.length}`)
  const tests = Filters.map(({ Pattern }, at) => objectTest(patternOf(Pattern, at), `pattern ${at + 1}`, 0))
  return tests.length === 0 ? () => true : (record) => tests.some((test) => test(record))
}

function patternOf(pattern: unknown, at: number): unknown {
  if (typeof pattern !== 'string') return pattern
  if (pattern.length > PATTERN_CHARACTERS_MAX)
    throw new TypeError(`pattern ${at + 1} is longer than ${PATTERN_CHARACTERS_MAX} characters`)
  try {
    return JSON.parse(pattern) as unknown
  } catch (cause) {
    throw new TypeError(`pattern ${at + 1} is not JSON: ${(cause as Error).message}`, { cause })
  }
}

function objectTest(pattern: unknown, path: string, depth: number): Test {
  if (!isObject(pattern)) throw new TypeError(`${path} is an object with the structure of a record`)
  if (depth > DEPTH_MAX) throw new TypeError(`${path} is nested too deeply`)
  const tests = Object.entries(pattern).map(([name, member]): Test => {
    const place = `${path}.${name}`
    if (name === '$or') return alternatives(member, place, depth)
    if (!Array.isArray(member)) {
      const test = objectTest(member, place, depth + 1)
      return (value) => test(memberOf(value, name))
    }
    const test = leafTest(member, place, name)
    return (value) => test(memberOf(value, name))
  })
  return (value) => tests.every((test) => test(value))
}

function alternatives(patterns: unknown, path: string, depth: number): Test {
  if (!Array.isArray(patterns) || patterns.length < 2)
    throw new TypeError(`${path} is a list of at least two objects`)
  const tests = patterns.map((one, at) => objectTest(one, `${path}[${at}]`, depth + 1))
  return (value) => tests.some((test) => test(value))
}

/** Of a list in the record, such as a set of strings, one element has to match. */
function leafTest(list: readonly unknown[], path: string, name: string): Test {
  if (list.length === 0) throw new TypeError(`${path} is an empty list, which matches nothing`)
  if (name === 'N' && list.every((element) => needsNumber(element)))
    throw new TypeError(
      `${path} can never match: in a record the value of a number attribute is text, such as "5". Compare it with strings`,
    )
  const tests = list.map((element, at) => elementTest(element, `${path}[${at}]`))
  const matches: Test = (value) => tests.some((test) => test(value))
  return (value) => (Array.isArray(value) ? value.some(matches) : matches(value))
}

function elementTest(element: unknown, path: string): Test {
  if (!isObject(element)) {
    if (!isScalar(element)) throw new TypeError(`${path} is a string, a number, true, false, null or a rule`)
    return (value) => value === element
  }
  const [rule, ...more] = Object.entries(element)
  if (rule === undefined || more.length > 0) throw new TypeError(`${path} is an object with one rule`)
  return ruleTest(rule[0], rule[1], path)
}

function ruleTest(rule: string, argument: unknown, path: string): Test {
  switch (rule) {
    case 'prefix':
      return textTest(argument, path, (value, prefix) => value.startsWith(prefix))
    case 'suffix':
      return textTest(argument, path, (value, suffix) => value.endsWith(suffix))
    case 'equals-ignore-case':
      return textTest({ 'equals-ignore-case': argument }, path, (value, other) => value === other)
    case 'exists':
      if (typeof argument !== 'boolean') throw new TypeError(`${path}.exists is true or false`)
      return (value) => isLeaf(value) === argument
    case 'numeric':
      return numericTest(argument, `${path}.numeric`)
    case 'anything-but':
      return anythingBut(argument, `${path}.anything-but`)
    default:
      throw new TypeError(
        `${path} has the unknown rule ${JSON.stringify(rule)}; there are prefix, suffix, equals-ignore-case, anything-but, numeric and exists`,
      )
  }
}

/** As for the others, `exists` looks at leaves: an object in the record is not one. */
const isLeaf = (value: unknown): boolean => value !== undefined && !isObject(value)

function textTest(
  argument: unknown,
  path: string,
  matches: (value: string, argument: string) => boolean,
): Test {
  const ignoresCase = isObject(argument)
  const text = ignoresCase ? argument['equals-ignore-case'] : argument
  if (typeof text !== 'string') throw new TypeError(`${path} needs a string`)
  if (!ignoresCase) return (value) => typeof value === 'string' && matches(value, text)
  const lower = text.toLowerCase()
  return (value) => typeof value === 'string' && matches(value.toLowerCase(), lower)
}

/** A value has to be there to be another one. */
function anythingBut(argument: unknown, path: string): Test {
  const excluded = isObject(argument)
    ? [elementTest(argument, path)]
    : (Array.isArray(argument) ? argument : [argument]).map((one: unknown, at) => {
        if (isObject(one) || Array.isArray(one)) throw new TypeError(`${path}[${at}] is a string or a number`)
        return elementTest(one, path)
      })
  return (value) => isLeaf(value) && !excluded.some((test) => test(value))
}

const COMPARISONS: Readonly<Record<string, (value: number, bound: number) => boolean>> = {
  '=': (value, bound) => value === bound,
  '<': (value, bound) => value < bound,
  '<=': (value, bound) => value <= bound,
  '>': (value, bound) => value > bound,
  '>=': (value, bound) => value >= bound,
}

/** `['>', 0, '<=', 5]`: pairs of an operator and a number, all of which hold. */
function numericTest(argument: unknown, path: string): Test {
  if (!Array.isArray(argument) || argument.length === 0 || argument.length % 2 !== 0)
    throw new TypeError(`${path} is a list such as [">", 0, "<=", 5]`)
  const tests: ((value: number) => boolean)[] = []
  for (let at = 0; at < argument.length; at += 2) {
    const compare = Object.hasOwn(COMPARISONS, argument[at] as string)
      ? COMPARISONS[argument[at] as string]
      : undefined
    const bound = argument[at + 1] as unknown
    if (compare === undefined) throw new TypeError(`${path}[${at}] is one of =, <, <=, > and >=`)
    if (typeof bound !== 'number') throw new TypeError(`${path}[${at + 1}] is a number`)
    tests.push((value) => compare(value, bound))
  }
  return (value) => typeof value === 'number' && tests.every((test) => test(value))
}

/**
 * In a record the value of an attribute of type N is text, and Lambda compares it with no number: a pattern of nothing else lets
 * nothing through.
 */
function needsNumber(element: unknown): boolean {
  if (!isObject(element)) return typeof element === 'number'
  const excluded = element['anything-but']
  return (
    Object.hasOwn(element, 'numeric') ||
    (excluded !== undefined && [excluded].flat().every((one) => needsNumber(one)))
  )
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isScalar = (value: unknown): boolean =>
  value === null || ['string', 'number', 'boolean'].includes(typeof value)

const memberOf = (value: unknown, name: string): unknown =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
