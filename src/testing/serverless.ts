// The variables of serverless.yml, `${source:address, default}`, resolved as the Serverless Framework does: pure, from the
// document, given parameters and the environment. `${Name}` without a source is CloudFormation's, and left alone.
import type { Parameters } from './intrinsics.js'
import { isObject, type Place, textAt, wrong } from './template-error.js'

export interface ServerlessSources {
  readonly document: Readonly<Record<string, unknown>>
  readonly given: Parameters
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The document in another file, for `${file(tables.yml)}`. */
  readonly readDocument: (path: string, place: Place) => unknown
  /** How many variables have brought this one. */
  readonly depth?: number
}

/** Of one text, and of one variable in another: one that brings itself would go on for ever. */
const REPLACEMENTS_MAX = 100
const DEPTH_MAX = 32
const INNERMOST = /\$\{([^${}]*)\}/g
const VARIABLE = /^\s*(?:(?!AWS::)[A-Za-z]\w*(?:\([^)]*\))?:(?!:)|file\(|'|")/
const SOURCE = /^([A-Za-z]\w*)(?:\(([^)]*)\))?(?::(.*))?$/s
const LITERAL = /^(?:'([^']*)'|"([^"]*)"|(true|false|null)|(-?\d+(?:\.\d+)?))$/

/** Texts become what they stand for, which need not be a text. */
export function serverlessText(sources: ServerlessSources): (text: string, place: Place) => unknown {
  const resolveText = (text: string, place: Place): unknown => {
    let current = text
    for (let replaced = 0; replaced < REPLACEMENTS_MAX; replaced++) {
      const found = [...current.matchAll(INNERMOST)].find(([, content]) => VARIABLE.test(content!))
      if (found === undefined) return current
      const [variable, content = ''] = found
      const value = valueOf(content, place, sources)
      if (variable === current) {
        if (typeof value !== 'string') return value
        current = value
      } else {
        current =
          current.slice(0, found.index) + textAt(place, value) + current.slice(found.index + variable.length)
      }
    }
    throw wrong(place, `a variable in ${JSON.stringify(text)} brings itself`)
  }
  return resolveText
}

function valueOf(content: string, place: Place, sources: ServerlessSources): unknown {
  for (const alternative of alternativesIn(content)) {
    const literal = LITERAL.exec(alternative)
    if (literal !== null) {
      const [, single, double, word, number] = literal
      return single ?? double ?? (number === undefined ? (JSON.parse(word!) as unknown) : Number(number))
    }
    const value = sourceValue(alternative, place, sources)
    if (value !== undefined && value !== null) return value
  }
  const name = alternativesIn(content)[0] ?? content
  throw wrong(place, `\${${content}} has no value; give it in parameters: { '${name}': '...' }`)
}

function sourceValue(text: string, place: Place, sources: ServerlessSources): unknown {
  const { document, given, environment, readDocument } = sources
  if (Object.hasOwn(given, text)) return given[text]
  const [, source, argument, address = ''] = SOURCE.exec(text) ?? []
  const ownGiven = Object.hasOwn(given, address) ? given[address] : undefined
  switch (source) {
    case 'self':
      return at(document, address, place, sources)
    case 'file':
      return at(readDocument(argument?.trim() ?? '', place), address, place, sources)
    case 'opt':
      return ownGiven
    case 'env':
      return ownGiven ?? environment[address]
    case 'param':
      return ownGiven ?? paramOf(address, place, sources)
    case 'sls':
      return address === 'stage' ? stageOf(place, sources) : undefined
    case 'aws':
      return address === 'region'
        ? regionOf(place, sources)
        : address === 'accountId'
          ? '000000000000'
          : undefined
    case undefined:
    default:
      return undefined
  }
}

/** The value at `a.b.0.c`, in which each step may itself be a variable. */
function at(start: unknown, address: string, place: Place, sources: ServerlessSources): unknown {
  const { depth = 0 } = sources
  if (depth > DEPTH_MAX) throw wrong(place, `the variable ${address} brings itself`)
  const resolveText = serverlessText({ ...sources, depth: depth + 1 })
  let value = typeof start === 'string' ? resolveText(start, place) : start
  for (const key of address.split('.').filter((part) => part !== '')) {
    if ((!isObject(value) && !Array.isArray(value)) || !Object.hasOwn(value, key)) return undefined
    const member = (value as Readonly<Record<string, unknown>>)[key]
    value = typeof member === 'string' ? resolveText(member, place) : member
  }
  return value
}

function stageOf(place: Place, sources: ServerlessSources): unknown {
  const { given, document } = sources
  return given['opt:stage'] ?? given['stage'] ?? at(document, 'provider.stage', place, sources) ?? 'dev'
}

function regionOf(place: Place, sources: ServerlessSources): unknown {
  const { given, document } = sources
  return (
    given['opt:region'] ??
    given['AWS::Region'] ??
    at(document, 'provider.region', place, sources) ??
    'us-east-1'
  )
}

/** Of the stage, else of `default`. */
function paramOf(name: string, place: Place, sources: ServerlessSources): unknown {
  const stage = textAt(place, stageOf(place, sources))
  const { document } = sources
  return (
    at(document, `params.${stage}.${name}`, place, sources) ??
    at(document, `params.default.${name}`, place, sources)
  )
}

/** What commas separate, but for those within quotes and brackets. */
function alternativesIn(content: string): readonly string[] {
  const parts = content.match(/(?:'[^']*'|"[^"]*"|\([^)]*\)|[^,])+/g) ?? []
  return parts.map((part) => part.trim()).filter((part) => part !== '')
}
