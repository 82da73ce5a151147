// A source map that knows of each line only where it begins: a quarter of the size, and a stack trace still names the right line.

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** Sources from `folder` on, relative to a folder beside it; without their texts. */
export function lineMap({ file, mappings, sources }, folder) {
  // Both go on from the last segment, whether or not it is kept.
  let [source, line] = [0, 0]
  let [keptSource, keptLine] = [0, 0]
  const lines = mappings.split(';').map((segments) => {
    let first
    for (const segment of segments.split(',')) {
      const [, ofSource, ofLine] = decode(segment)
      if (ofSource === undefined) continue
      source += ofSource
      line += ofLine
      first ??= [source, line]
    }
    if (first === undefined) return ''
    const [atSource, atLine] = first
    const kept = encode([0, atSource - keptSource, atLine - keptLine, 0])
    ;[keptSource, keptLine] = first
    return kept
  })
  return {
    version: 3,
    file,
    names: [],
    sources: sources.map((path) => {
      const at = path.indexOf(folder)
      return `../${path.slice(at >= 0 ? at : path.indexOf('node_modules/'))}`
    }),
    mappings: lines.join(';'),
  }
}

/** Base 64 digits of five bits and one that says whether more follow; the lowest bit of the number is its sign. */
function decode(segment) {
  const numbers = []
  let [value, shift] = [0, 0]
  for (const digit of segment) {
    const bits = DIGITS.indexOf(digit)
    value += (bits & 31) << shift
    shift += 5
    if ((bits & 32) !== 0) continue
    numbers.push((value & 1) === 1 ? -(value >> 1) : value >> 1)
    ;[value, shift] = [0, 0]
  }
  return numbers
}

function encode(numbers) {
  let text = ''
  for (const number of numbers) {
    let value = number < 0 ? (-number << 1) | 1 : number << 1
    do {
      text += DIGITS[(value & 31) | (value > 31 ? 32 : 0)]
      value >>= 5
    } while (value > 0)
  }
  return text
}
