// Whether a text stands within another, in time that is linear in both whatever they are.
//
// V8's String.prototype.includes is that (by Boyer and Moore) for parts of up to 250 characters. Of longer ones it prepares only
// the last 250, and takes time proportional to the product for texts made for it: 'xy' and 20,000 'x' sought in 400,000 'x'
// took it 3.5 s. Those are searched as Knuth, Morris and Pratt do.

export interface Counted {
  /** Characters of the text that were looked at, for tests. */
  looks: number
}

/** Longer parts cost several nanoseconds for each character of the text: an expression may seek few of them. */
export const NATIVE_SEARCH_LENGTH_MAX = 250

export function includesText(text: string, part: string, counted?: Counted): boolean {
  if (part.length <= NATIVE_SEARCH_LENGTH_MAX) return text.includes(part)
  return part.length <= text.length && searchLinear(text, part, counted)
}

function searchLinear(text: string, part: string, counted: Counted | undefined): boolean {
  // Arrays of numbers are read several times faster than characters of strings.
  const units = unitsOf(text)
  const sought = unitsOf(part)
  const borders = bordersOf(sought)
  const whole = sought.length
  let matched = 0
  let looks = 0
  for (let at = 0; at < units.length; at++) {
    const unit = units[at]
    looks++
    while (matched > 0 && sought[matched] !== unit) {
      matched = borders[matched - 1]!
      looks++
    }
    if (sought[matched] === unit && ++matched === whole) break
  }
  if (counted !== undefined) counted.looks += looks
  return matched === whole
}

/** For each prefix of what is sought, the length of the longest shorter prefix that it ends with. */
function bordersOf(sought: Uint16Array): Int32Array {
  const borders = new Int32Array(sought.length)
  let length = 0
  for (let at = 1; at < sought.length; at++) {
    const unit = sought[at]
    while (length > 0 && sought[length] !== unit) length = borders[length - 1]!
    if (sought[length] === unit) length++
    borders[at] = length
  }
  return borders
}

function unitsOf(text: string): Uint16Array {
  const bytes = Buffer.from(text, 'utf16le')
  return new Uint16Array(bytes.buffer, bytes.byteOffset, text.length)
}
