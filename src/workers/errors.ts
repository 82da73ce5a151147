// Errors as plain data: those that a caller reacts to keep their class.
import { NoAnswer } from '../coordinator/calls.js'
import { DurabilityUnknown, ItemPending, RunOver, TableGone, WriteFailed } from '../line/errors.js'
import type { KeyBytes } from '../model/brand.js'
import { DynamoError, type DynamoErrorName } from '../model/errors.js'
import { EntryDamaged } from '../ordered-map/checksum.js'
import { damageIn } from '../storage/items/damage.js'

export interface PlainError {
  readonly name: string
  readonly message: string
  readonly damagedKey?: KeyBytes
  /** Of an answer on the wire. */
  readonly members?: Readonly<Record<string, unknown>>
}

export function plainError(error: unknown): PlainError {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) }
  const damage = damageIn(error)
  if (damage !== undefined) return { name: damage.name, message: damage.why, damagedKey: damage.key }
  const { name, message } = error
  return error instanceof DynamoError ? { name, message, members: error.members } : { name, message }
}

export function errorOf({ name, message, damagedKey, members }: PlainError): Error {
  if (damagedKey !== undefined) return new EntryDamaged(damagedKey, message)
  if (members !== undefined) return new DynamoError(name as DynamoErrorName, message, members)
  switch (name) {
    case 'WriteFailed':
      return new WriteFailed(message)
    case 'OutcomeUnknown':
      return new DurabilityUnknown(message)
    case 'ItemPending':
      return new ItemPending()
    case 'TableGone':
      return new TableGone()
    case 'RunOver':
      return new RunOver()
    case 'NoAnswer':
      return new NoAnswer(message)
    default:
      return Object.assign(new Error(message), { name })
  }
}
