// The beginning of a statement: what it is about to do, without reading the rest.

/** The first word of a statement, in lower case, behind spaces and comments; empty if something else stands there. */
export function firstWord(text: string): string {
  let at = 0
  while (at < text.length) {
    const code = text.charCodeAt(at)
    const next = isSpace(code) ? at + 1 : commentEnd(text, at, code)
    if (next === undefined || next < 0) break
    at = next
  }
  WORD.lastIndex = at
  return (WORD.exec(text)?.[0] ?? '').toLowerCase()
}

const WORD = /[a-z]+/iy

export const isSpace = (code: number): boolean => code === 0x20 || (code >= 0x09 && code <= 0x0d)

/** Where the comment that begins here ends: -1 if it does not end; undefined: none begins here. */
export function commentEnd(text: string, at: number, code: number): number | undefined {
  if (code === DASH && text.charCodeAt(at + 1) === DASH) {
    const end = text.slice(at).search(/[\r\n]/)
    return end < 0 ? text.length : at + end
  }
  if (code === SLASH && text.charCodeAt(at + 1) === STAR) {
    const end = text.indexOf('*/', at + 2)
    return end < 0 ? -1 : end + 2
  }
  return undefined
}

const DASH = 0x2d
const SLASH = 0x2f
const STAR = 0x2a
