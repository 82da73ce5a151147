// The order of the members of a set, which has none of its own: DynamoDB answers strings and binaries by their bytes, and numbers
// by their value. Sets that an older version has stored stand as they were sent until their item is written again.
import { base64ToBytes, bytesToBase64, compareBase64 } from './binary.js'
import { compareUtf8 } from './compare.js'
import { compareNumbers } from './number.js'

const COMPARE = { SS: compareUtf8, NS: compareNumbers, BS: compareBase64 } as const

/** The same members in order; the same list if it is in order already, as most are. */
export function sortedMembers(type: keyof typeof COMPARE, members: readonly string[]): readonly string[] {
  const compare = COMPARE[type]
  for (let at = 1; at < members.length; at++)
    if (compare(members[at - 1]!, members[at]!) > 0)
      return type === 'BS' ? byBytes(members) : members.toSorted(compare)
  return members
}

/** Each is decoded once, not with each comparison: there may be 200,000 of them. */
const byBytes = (members: readonly string[]): readonly string[] =>
  members.map(base64ToBytes).toSorted().map(bytesToBase64)
