// Policies of tables, as far as CreateTable and PutResourcePolicy have them in common.
import { anyone, owner, type Principal } from '../request/access.js'
import { validationError } from '../../model/errors.js'

/** The part of a table's policies that is the table's own; the others are of its streams, by label. */
export const TABLE_POLICY = 'table'

const POLICY_BYTES_MAX = 20 * 1024

/** The text, which has to be a policy by its form. */
export function checkedPolicy(text: string): string {
  if (Buffer.byteLength(text) > POLICY_BYTES_MAX) {
    throw validationError(`Resource-based policy exceeds the maximum size of ${POLICY_BYTES_MAX} bytes`)
  }
  let policy: unknown
  try {
    policy = JSON.parse(text)
  } catch {
    policy = undefined
  }
  const isPolicy = typeof policy === 'object' && policy !== null && 'Statement' in policy
  if (!isPolicy) throw validationError('Invalid policy document: a JSON object with a Statement is expected')
  return text
}

/** Access is granted by the file of keys, and by nothing else. */
export function refusePolicyWithKeys(principal: Principal): void {
  if (principal === anyone || principal === owner) return
  throw validationError(
    'Resource-based policies are not enforced by this store, whose access file grants access: a policy is kept only where no keys are in use',
  )
}
