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
    if (compare(members[at - 1]!, members[at]!) > 0) return SORTED[type](members)
  return members
}

/** There may be 200,000 members: what is compared is made once for each, and where it can be, without a call for each comparison. */
const SORTED: Readonly<Record<keyof typeof COMPARE, (members: readonly string[]) => readonly string[]>> = {
  // JavaScript's own order differs from that of the bytes only where a character takes two units.
  SS: (members) =>
    members.some((member) => SURROGATE.test(member)) ? members.toSorted(compareUtf8) : members.toSorted(),
  NS: (members) =>
    members.every((member) => SHORT_INTEGER.test(member))
      ? Array.from(Float64Array.from(members, Number).toSorted(), String)
      : members.toSorted(compareNumbers),
  BS: (members) => members.map(base64ToBytes).toSorted().map(bytesToBase64),
}

const SURROGATE = /[\ud800-\udfff]/
/** A canonical number that is one of JavaScript's, with the same text. */
const SHORT_INTEGER = /^-?\d{1,15}$/
