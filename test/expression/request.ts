// Requests for tests: names and values under fixed placeholders, so that tables need only texts.
import { DynamoError } from '../../src/model/errors.js'
import { openExpressions, type RequestExpressions } from '../../src/expression/expression.js'
import type { AttributeValue } from '../../src/model/value.js'

const VALUES: Readonly<Record<string, AttributeValue>> = {
  ':a': { S: 'a' },
  ':b': { S: 'b' },
  ':hel': { S: 'hel' },
  ':long': { S: 'x'.repeat(251) },
  ':empty': { S: '' },
  ':zero': { N: '0' },
  ':one': { N: '1' },
  ':two': { N: '2' },
  ':three': { N: '3' },
  ':five': { N: '5' },
  ':huge': { N: '9.9999999999999999999999999999999999999E+125' },
  ':true': { BOOL: true },
  ':null': { NULL: true },
  ':list': { L: [{ S: 'x' }] },
  ':ones': { L: [{ N: '1' }] },
  ':map': { M: { x: { N: '1.0' } } },
  ':ss': { SS: ['b', 'a'] },
  ':sx': { SS: ['x'] },
  ':ns': { NS: ['2', '1.0'] },
  ':bs': { BS: ['YQ=='] },
  ':bin': { B: 'YQ==' },
  ':bin2': { B: 'YWI=' },
  ':S': { S: 'S' },
  ':Q': { S: 'Q' },
}
const NAMES: Readonly<Record<string, string>> = {
  '#n': 'n',
  '#proto': '__proto__',
  '#ctor': 'constructor',
  '#odd': 'a.b[0] #:',
  '#a': 'a',
  '#pk': 'pk',
}

/** The expressions of a request that gives just the names and values that these texts mention and we know. */
export function requestFor(...texts: readonly string[]): RequestExpressions {
  const mentioned = (known: Readonly<Record<string, unknown>>): Record<string, unknown> | undefined => {
    const entries = Object.entries(known).filter(([key]) =>
      texts.some((text) => new RegExp(`${key}(?![A-Za-z0-9_])`).test(text)),
    )
    return entries.length === 0 ? undefined : Object.fromEntries(entries)
  }
  return openExpressions({
    ExpressionAttributeNames: mentioned(NAMES),
    ExpressionAttributeValues: mentioned(VALUES),
  })
}

/** The message of the ValidationException that it throws, or undefined. Anything else that is thrown is a fault. */
export function messageOf(action: () => unknown): string | undefined {
  try {
    action()
  } catch (error) {
    if (error instanceof DynamoError && error.name === 'ValidationException') return error.message
    throw error
  }
  return undefined
}
