// Request ids look like AWS's: 52 characters of base 32. Drawing 32 random bytes for each would cost more than the rest
// of a small answer's headers, so one random prefix is drawn for the process and followed by a counter.
import { randomBytes } from 'node:crypto'

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUV'
const PREFIX_CHARACTERS = 42
const EPOCH_CHARACTERS = 8
/** The last two characters, made once. */
const TAILS: readonly string[] = Array.from(
  { length: DIGITS.length ** 2 },
  (_, index) => DIGITS[index >> 5]! + DIGITS[index & 31]!,
)

/** A source of ids that differ from each other, and from those of another process. */
export function requestIds(): () => string {
  let prefix = ''
  for (const byte of randomBytes(PREFIX_CHARACTERS)) prefix += DIGITS[byte & 31]!
  let epoch = 0
  let tail = 0
  let head = prefix + inBase32(epoch)
  return () => {
    if (tail === TAILS.length) {
      tail = 0
      head = prefix + inBase32(++epoch)
    }
    return head + TAILS[tail++]!
  }
}

function inBase32(value: number): string {
  return value.toString(32).toUpperCase().padStart(EPOCH_CHARACTERS, '0')
}
