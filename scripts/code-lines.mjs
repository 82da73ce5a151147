// Minified code gets its lines back: a break wherever the line of the source changes and a break means nothing. So a source map
// that knows of each line only where it begins still names the right line in a stack trace, at a quarter of the size, and code
// that is read without its map is no wall.
import { parseAst } from 'rolldown/parseAst'

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
/** Behind these a break never ends a statement. */
const BREAKS_BEHIND = '(,[{;}:?=&|>'

/** The code in lines, and their map: sources from `folder` on, relative to a folder beside it, without their texts. */
export function inLines(code, { file, mappings, sources }, folder) {
  const lines = code.split('\n')
  const texts = []
  const before = shapeOf(parseAst(code), ({ start, end }) => texts.push([start, end]))
  texts.sort(([a], [b]) => a - b)
  let next = 0
  /** Whether a place stands in the text of a template, where a break would belong to it. Asked from front to back. */
  const isText = (place) => {
    while (next < texts.length && texts[next][1] < place) next++
    return next < texts.length && texts[next][0] <= place
  }
  let lineStart = 0
  const broken = []
  const kept = []
  let [source, line] = [0, 0]
  let [keptSource, keptLine] = [0, 0]
  for (const [at, segments] of mappings.split(';').entries()) {
    const text = lines[at]
    let column = 0
    let begin = 0
    /** Where in the source the line that begins at `begin` comes from. */
    let first
    const end = (to) => {
      broken.push(text.slice(begin, to))
      kept.push(first === undefined ? '' : encode([0, first[0] - keptSource, first[1] - keptLine, 0]))
      ;[keptSource, keptLine] = first ?? [keptSource, keptLine]
    }
    for (const segment of segments === '' ? [] : segments.split(',')) {
      const [columns, ofSource, ofLine] = decode(segment)
      column += columns
      if (ofSource === undefined) continue
      source += ofSource
      line += ofLine
      const isElsewhere = first !== undefined && (first[0] !== source || first[1] !== line)
      if (
        isElsewhere &&
        column > begin &&
        BREAKS_BEHIND.includes(text[column - 1]) &&
        !isText(lineStart + column)
      ) {
        end(column)
        begin = column
        first = [source, line]
      }
      first ??= [source, line]
    }
    end(text.length)
    lineStart += text.length + 1
  }
  const text = [...broken, ...lines.slice(mappings.split(';').length)].join('\n')
  if (shapeOf(parseAst(text)) !== before) throw new Error('code means something else with its lines')
  return {
    code: text,
    map: {
      version: 3,
      file,
      names: [],
      sources: sources.map((path) => {
        const at = path.indexOf(folder)
        return `../${path.slice(at >= 0 ? at : path.indexOf('node_modules/'))}`
      }),
      mappings: kept.join(';'),
    },
  }
}

/** Everything of a program but where it stands. */
function shapeOf(program, onText = () => undefined) {
  return JSON.stringify(program, (key, value) => {
    if (value?.type === 'TemplateElement') onText(value)
    return key === 'start' || key === 'end' || key === 'range'
      ? undefined
      : typeof value === 'bigint'
        ? `${value}n`
        : value
  })
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
