// Takes the indentation off generated code: a twentieth of it. Text in templates stays as it is.
import { parseAst } from 'rolldown/parseAst'

/** The lines of the code are the same afterwards, and so is what it means: it is read again to see that. */
export function dedented(code) {
  const templates = []
  const before = shapeOf(parseAst(code), ({ start, end }) => templates.push([start, end]))
  templates.sort(([a], [b]) => a - b)
  let text = ''
  let at = 0
  let next = 0
  for (const line of code.split('\n')) {
    while (next < templates.length && templates[next][1] < at) next++
    const isInTemplate = next < templates.length && templates[next][0] <= at
    text += `${at === 0 ? '' : '\n'}${isInTemplate ? line : line.trimStart()}`
    at += line.length + 1
  }
  if (shapeOf(parseAst(text)) !== before) throw new Error('code means something else without its indentation')
  return text
}

/** Everything of a program but where it stands. */
function shapeOf(program, onTemplate = () => undefined) {
  return JSON.stringify(program, (key, value) => {
    if (value?.type === 'TemplateElement') onTemplate(value)
    return key === 'start' || key === 'end' || key === 'range'
      ? undefined
      : typeof value === 'bigint'
        ? `${value}n`
        : value
  })
}
