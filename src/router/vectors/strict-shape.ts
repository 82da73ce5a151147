// SearchVectors reads its request by another reader than older operations do: what is null is no value, and the first thing
// that is wrong is told with its place in the text. The text is gone here; that of the same request without blanks has to do.
import { serializationError, validationError } from '../../model/errors.js'
import type { Input } from '../request/context.js'

const MEMBERS = {
  TableName: 'a string',
  IndexName: 'a string',
  SearchVector: 'a sequence',
  TopK: 'i32',
} as const

export function checkStrictly(input: Input): void {
  for (const [name, expected] of Object.entries(MEMBERS)) {
    if (input[name] !== null) continue
    throw serializationError(
      `invalid type: null, expected ${expected} at line 1 column ${columnOf(input, name)}`,
    )
  }
  for (const name of Object.keys(MEMBERS)) {
    if (input[name] === undefined)
      throw validationError(`missing field \`${name}\` at line 1 column ${JSON.stringify(input).length}`)
  }
}

/** Behind the null. */
function columnOf(input: Input, name: string): number {
  const member = `${JSON.stringify(name)}:null`
  return JSON.stringify(input).indexOf(member) + member.length
}
