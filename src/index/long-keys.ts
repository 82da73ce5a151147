// Keys longer than LMDB takes, cut into parts that it does take, in an order-preserving way.
//
//   entries:   short key -> value            head (exactly HEAD_BYTES) -> number of a branch
//   branches:  number, short rest -> value   number, head of the rest  -> number of a further branch
//
// A short part is always shorter than a head, so the two cannot be confused; a head sorts before all parts that do not
// begin with it and are greater, so walking the parts in order walks the whole keys in order. A branch whose last entry
// was removed stays, empty: about a kilobyte for each distinct long head.
import type { KeyBytes } from '../model/brand.js'

/** Well below LMDB's limit of 1,978 bytes, so that a page holds several keys. */
export const HEAD_BYTES = 1024

/** Where a key, or a part of it, stands: in the branch of that number ('' for the trunk), under that part. */
export interface Place {
  readonly branch: string
  readonly part: string
}

export const isLong = (key: string): boolean => key.length >= HEAD_BYTES

/** The place of a long key; `branchAt` tells which branch begins at a head, if any does. */
export function placeOf(
  key: KeyBytes,
  branchAt: (head: Place) => string | undefined,
): Place | undefined {
  let branch = ''
  let rest: string = key
  while (isLong(rest)) {
    const further = branchAt({ branch, part: rest.slice(0, HEAD_BYTES) })
    if (further === undefined) return undefined
    branch = further
    rest = rest.slice(HEAD_BYTES)
  }
  return { branch, part: rest }
}

/** A range of parts within one branch; `to` absent: up to the end of the branch. */
export interface PartRange {
  readonly from: string
  readonly to?: string
  readonly reverse: boolean
}

/** The range of rests, behind that head, whose whole keys are in the range. */
export function behindHead(range: PartRange, head: string): PartRange {
  const from = range.from.startsWith(head) ? range.from.slice(HEAD_BYTES) : ''
  if (range.to === undefined || !range.to.startsWith(head)) return { from, reverse: range.reverse }
  return { from, to: range.to.slice(HEAD_BYTES), reverse: range.reverse }
}

/** Whether a short part, or anything behind a head, can be in the range. */
export function mayHold({ from, to }: PartRange, part: string): boolean {
  if (to !== undefined && part >= to) return false
  return part >= from || (isLong(part) && from.startsWith(part))
}

export function branchName(number: number): string {
  const bytes = Buffer.allocUnsafe(8)
  bytes.writeBigUInt64BE(BigInt(number))
  return bytes.toString('latin1')
}
