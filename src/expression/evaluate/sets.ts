// ADD and DELETE: numbers and sets combined with what is there already. Members are canonical texts, so that equal
// members are equal texts.
import { addNumbers } from '../../model/number.js'
import { sortedMembers } from '../../model/sets.js'
import type { AttributeValue } from '../../model/value.js'

/** The sum or union; what is absent counts as nothing. A list is appended to, which only AttributeUpdates can ask. */
export function afterAdd(
  before: AttributeValue | undefined,
  operand: AttributeValue,
): AttributeValue | 'wrong type' {
  if (before === undefined) return operand
  if ('N' in before && 'N' in operand) return { N: addNumbers(before.N, operand.N) }
  if ('SS' in before && 'SS' in operand) return { SS: sortedMembers('SS', union(before.SS, operand.SS)) }
  if ('NS' in before && 'NS' in operand) return { NS: sortedMembers('NS', union(before.NS, operand.NS)) }
  if ('BS' in before && 'BS' in operand) return { BS: sortedMembers('BS', union(before.BS, operand.BS)) }
  if ('L' in before && 'L' in operand) return { L: [...before.L, ...operand.L] }
  return 'wrong type'
}

/** The set without those members; there are no empty sets, so nothing may be left. */
export function without(
  before: AttributeValue | undefined,
  operand: AttributeValue,
): AttributeValue | undefined | 'wrong type' {
  if (before === undefined) return undefined
  if ('SS' in before && 'SS' in operand) {
    const SS = difference(before.SS, operand.SS)
    return SS.length === 0 ? undefined : { SS }
  }
  if ('NS' in before && 'NS' in operand) {
    const NS = difference(before.NS, operand.NS)
    return NS.length === 0 ? undefined : { NS }
  }
  if ('BS' in before && 'BS' in operand) {
    const BS = difference(before.BS, operand.BS)
    return BS.length === 0 ? undefined : { BS }
  }
  return 'wrong type'
}

const union = (a: readonly string[], b: readonly string[]): readonly string[] => [...new Set([...a, ...b])]

function difference(a: readonly string[], b: readonly string[]): readonly string[] {
  const removed = new Set(b)
  return a.filter((member) => !removed.has(member))
}
