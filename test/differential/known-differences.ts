// Where DynamoDB Local is not the service, or where a difference means nothing. Everything else is a finding.
import type { Outcome } from './outcome.js'
import type { Request } from './requests.js'

export interface Difference {
  readonly request: Request
  readonly seriatim: Outcome
  readonly local: Outcome
}

export interface KnownDifference {
  /** The heading in docs/known-differences.md. */
  readonly title: string
  readonly reason: string
  matches(difference: Difference): boolean
}

export const KNOWN_DIFFERENCES: readonly KnownDifference[] = [
  {
    title: 'DynamoDB Local fails where a request is malformed',
    reason: 'It answers InternalFailure with status 500; the service refuses the request with status 400.',
    matches: ({ seriatim, local }) => seriatim.status === 400 && local.name === 'InternalFailure',
  },
  {
    title: 'The JSON types of a request are checked first',
    reason:
      'The service answers SerializationException before it looks at anything else. DynamoDB Local often checks other rules first.',
    matches: ({ seriatim, local }) => seriatim.name === 'SerializationException' && local.status === 400,
  },
  {
    title: 'Another sentence in a ValidationException',
    reason:
      'DynamoDB Local words many refusals in its own way, and reports another one where several rules are broken. Seriatim follows the texts and the order of the service. Where both state the same rule, the details are compared.',
    matches: ({ seriatim, local }) =>
      seriatim.name === 'ValidationException' &&
      local.name === 'ValidationException' &&
      generalized(seriatim.message ?? '') !== generalized(local.message ?? ''),
  },
]

export function knownDifference(difference: Difference): KnownDifference | undefined {
  return KNOWN_DIFFERENCES.find((known) => known.matches(difference))
}

/** The rule that a message states, without what it states it of. */
export function generalized(message: string): string {
  return message
    .replaceAll(/"[^"]*"|'[^']*'|\{[^}]*\}|\[[^\]]*\]|[#:][\w-]+|-?\d+/g, '*')
    .replaceAll(/((operator|operand type|function|attribute|path|path one|Key|actual|table): ?)[^,;]+/gi, '$1*')
}
