// The intrinsic functions of CloudFormation, as far as a table needs them: pure, from the template and given parameters.
//
// Only what is asked for is evaluated, so a template may hold anything elsewhere. A reference to something that only a
// deployment knows (an attribute of another resource, an export of another stack) is looked up in the parameters by its
// name, such as `Key.Arn`.
import { isObject, listAt, objectAt, type Place, shown, textAt, wrong } from './template-error.js'

export type Parameters = Readonly<Record<string, unknown>>

/** The parts of a template that functions look at, each by its logical id. */
export interface Template {
  readonly parameters: Readonly<Record<string, unknown>>
  readonly mappings: unknown
  readonly conditions: Readonly<Record<string, unknown>>
  readonly resources: Readonly<Record<string, unknown>>
}

export interface Scope {
  readonly template: Template
  /** What was given by the caller; it comes before the defaults of the template. */
  readonly given: Parameters
  /** What a `Ref` of this resource is, if it is known: the name of a table. */
  readonly nameOf: (id: string, depth: number) => string | undefined
  /** Replaces what another tool writes into texts, such as the variables of serverless.yml. */
  readonly text?: ((text: string, place: Place) => unknown) | undefined
}

/** A template that refers to itself in a circle would go on for ever. */
const DEPTH_MAX = 64
const NO_VALUE = 'AWS::NoValue'

const PSEUDO_PARAMETERS: Parameters = {
  'AWS::AccountId': '000000000000',
  'AWS::Partition': 'aws',
  'AWS::Region': 'us-east-1',
  'AWS::StackName': 'test',
  'AWS::StackId': 'arn:aws:cloudformation:us-east-1:000000000000:stack/test/0',
  'AWS::URLSuffix': 'amazonaws.com',
}

type Evaluate = (args: unknown, place: Place, scope: Scope, depth: number) => unknown

const FUNCTIONS: ReadonlyMap<string, Evaluate> = new Map<string, Evaluate>([
  ['Ref', (id, place, scope, depth) => reference(textAt(place, id), place, scope, depth)],
  ['Fn::Sub', substitute],
  ['Fn::Join', join],
  ['Fn::If', choose],
  ['Fn::FindInMap', findInMap],
  ['Fn::Select', select],
  ['Fn::Split', split],
  ['Fn::GetAtt', attributeOf],
  [
    'Fn::ImportValue',
    (name, place, scope, depth) => imported(evaluate(name, place, scope, depth), place, scope),
  ],
  ['Fn::Equals', equals],
  ['Fn::Not', (args, place, scope, depth) => !isTrue(listAt(place, args)[0], place, scope, depth)],
  [
    'Fn::And',
    (args, place, scope, depth) => listAt(place, args).every((one) => isTrue(one, place, scope, depth)),
  ],
  [
    'Fn::Or',
    (args, place, scope, depth) => listAt(place, args).some((one) => isTrue(one, place, scope, depth)),
  ],
])

/** The plain value of a part of the template; undefined for AWS::NoValue, which counts as absent. */
export function evaluate(value: unknown, place: Place, scope: Scope, depth = 0): unknown {
  if (depth > DEPTH_MAX) throw wrong(place, `refers to itself, or is nested deeper than ${DEPTH_MAX} levels`)
  if (typeof value === 'string') {
    const replaced = scope.text === undefined ? value : scope.text(value, place)
    if (typeof replaced !== 'string') return evaluate(replaced, place, scope, depth + 1)
    if (replaced.includes('{{resolve:'))
      throw wrong(place, `${shown(replaced)} is known to a deployment only; give this part as a parameter`)
    return replaced
  }
  if (Array.isArray(value)) {
    return value
      .map((each, at) => evaluate(each, [...place, at], scope, depth + 1))
      .filter((each) => each !== undefined)
  }
  if (!isObject(value)) return value ?? undefined
  const [name, ...others] = Object.keys(value)
  if (name !== undefined && others.length === 0 && isFunction(name)) {
    const run = FUNCTIONS.get(name)
    if (run === undefined) throw wrong(place, `${name} is not understood in tables`)
    return run(value[name], place, scope, depth + 1)
  }
  const members = Object.entries(value).map(
    ([key, each]) => [key, evaluate(each, [...place, key], scope, depth + 1)] as const,
  )
  return Object.fromEntries(members.filter(([, each]) => each !== undefined))
}

/** Whether a condition of the template holds, by its name. */
export function holds(name: string, place: Place, scope: Scope, depth = 0): boolean {
  const { conditions } = scope.template
  if (!Object.hasOwn(conditions, name)) throw wrong(place, `there is no condition ${name}`)
  return isTrue(conditions[name], ['Conditions', name], scope, depth + 1)
}

function isTrue(condition: unknown, place: Place, scope: Scope, depth: number): boolean {
  if (depth > DEPTH_MAX) throw wrong(place, `refers to itself, or is nested deeper than ${DEPTH_MAX} levels`)
  if (isObject(condition) && typeof condition['Condition'] === 'string')
    return holds(condition['Condition'], place, scope, depth)
  const value = evaluate(condition, place, scope, depth + 1)
  if (value === true || value === 'true') return true
  if (value === false || value === 'false') return false
  throw wrong(place, `is no condition: ${shown(condition)}`)
}

const isFunction = (name: string): boolean => name === 'Ref' || name.startsWith('Fn::')

function reference(id: string, place: Place, scope: Scope, depth: number): unknown {
  if (id === NO_VALUE) return undefined
  const { given, template } = scope
  if (Object.hasOwn(given, id)) return given[id]
  if (Object.hasOwn(template.parameters, id)) return defaultOf(id, place, scope, depth)
  if (Object.hasOwn(PSEUDO_PARAMETERS, id)) return PSEUDO_PARAMETERS[id]
  // The name of another resource is chosen by its deployment: its logical id stands for it.
  if (Object.hasOwn(template.resources, id)) return scope.nameOf(id, depth) ?? id
  throw wrong(place, `there is no parameter or resource ${id}`)
}

function defaultOf(id: string, place: Place, scope: Scope, depth: number): unknown {
  const parameter = objectAt(['Parameters', id], scope.template.parameters[id])
  const type = parameter['Type']
  const isElsewhere = typeof type === 'string' && type.startsWith('AWS::SSM::')
  if (!('Default' in parameter) || isElsewhere)
    throw wrong(place, `the parameter ${id} has no value; give it in parameters: { ${id}: '...' }`)
  const value = evaluate(parameter['Default'], ['Parameters', id, 'Default'], scope, depth)
  return type === 'CommaDelimitedList' && typeof value === 'string' ? value.split(',') : value
}

const SUBSTITUTED = /\$\{(!?)\s*([\w:.]+)\s*\}/g

function substitute(args: unknown, place: Place, scope: Scope, depth: number): string {
  const [pattern, values = {}] = Array.isArray(args) ? args : [args]
  const own = objectAt(place, values)
  const text = textAt(place, scope.text === undefined ? pattern : scope.text(textAt(place, pattern), place))
  return text.replaceAll(SUBSTITUTED, (_, literal: string, name: string) => {
    if (literal === '!') return `\${${name}}`
    if (Object.hasOwn(own, name)) return textAt(place, evaluate(own[name], place, scope, depth))
    const value = name.includes('.')
      ? attributeOf(name, place, scope, depth)
      : reference(name, place, scope, depth)
    return textAt(place, value)
  })
}

function join(args: unknown, place: Place, scope: Scope, depth: number): string {
  const [separator, parts] = listAt(place, args)
  const values = listAt(place, evaluate(parts, place, scope, depth))
  return values.map((part) => textAt(place, part)).join(textAt(place, separator))
}

function choose(args: unknown, place: Place, scope: Scope, depth: number): unknown {
  const [name, then, otherwise] = listAt(place, args)
  return evaluate(holds(textAt(place, name), place, scope, depth) ? then : otherwise, place, scope, depth)
}

function findInMap(args: unknown, place: Place, scope: Scope, depth: number): unknown {
  const keys = listAt(place, evaluate(args, place, scope, depth)).slice(0, 3)
  let found = scope.template.mappings
  for (const key of keys) {
    found = isObject(found) ? found[textAt(place, key)] : undefined
    if (found === undefined) throw wrong(place, `there is no ${keys.map(String).join('.')} in Mappings`)
  }
  return evaluate(found, place, scope, depth)
}

function select(args: unknown, place: Place, scope: Scope, depth: number): unknown {
  const [index, list] = listAt(place, evaluate(args, place, scope, depth))
  const values = listAt(place, list)
  const value = values[Number(index)]
  if (value === undefined) throw wrong(place, `there is no element ${shown(index)} in ${shown(values)}`)
  return value
}

function split(args: unknown, place: Place, scope: Scope, depth: number): readonly string[] {
  const [separator, text] = listAt(place, evaluate(args, place, scope, depth))
  return textAt(place, text).split(textAt(place, separator))
}

function attributeOf(args: unknown, place: Place, scope: Scope, depth: number): unknown {
  const parts =
    typeof args === 'string' ? args.split('.') : listAt(place, evaluate(args, place, scope, depth))
  const [id = '', ...rest] = parts.map(String)
  const name = [id, ...rest].join('.')
  if (Object.hasOwn(scope.given, name)) return scope.given[name]
  const table = Object.hasOwn(scope.template.resources, id) ? scope.nameOf(id, depth) : undefined
  if (table !== undefined && rest.join('.') === 'Arn') {
    const pseudo = (key: string): string => textAt(place, reference(`AWS::${key}`, place, scope, depth))
    return `arn:${pseudo('Partition')}:dynamodb:${pseudo('Region')}:${pseudo('AccountId')}:table/${table}`
  }
  throw wrong(place, `${name} is known to a deployment only; give it in parameters: { '${name}': '...' }`)
}

function imported(name: unknown, place: Place, scope: Scope): unknown {
  const key = textAt(place, name)
  if (Object.hasOwn(scope.given, key)) return scope.given[key]
  throw wrong(place, `${key} is exported by another stack; give it in parameters: { '${key}': '...' }`)
}

function equals(args: unknown, place: Place, scope: Scope, depth: number): boolean {
  const [left, right] = listAt(place, args).map((one) => evaluate(one, place, scope, depth))
  return String(left) === String(right)
}
