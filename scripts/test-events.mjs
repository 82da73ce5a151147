// A reporter for node:test that writes what happens to the file SERIATIM_TEST_EVENTS, a line of JSON for each event, at once:
// what was written is there although the process crashes. Its last line says that the tests have come to their end.
import { appendFileSync } from 'node:fs'

/** The name of a test that stands between two files. */
export const END_OF_FILE = '(end of a test file)'
/** Node's own sums, of one process. */
const TOTAL = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) /

// eslint-disable-next-line import/no-default-export -- node takes a reporter by its default export
export default async function* report(source) {
  const path = process.env['SERIATIM_TEST_EVENTS']
  const tell = (event) => appendFileSync(path, `${JSON.stringify(event)}\n`)
  for await (const { type, data } of source) {
    if (type === 'test:pass' || type === 'test:fail') tell(endOf(type, data))
    else if (type === 'test:dequeue') tell({ type: 'begin', name: data.name })
    else if (type === 'test:diagnostic' && !TOTAL.test(data.message))
      tell({ type: 'diagnostic', text: data.message, nesting: data.nesting })
    yield ''
  }
  tell({ type: 'end' })
}

function endOf(type, data) {
  const { name, nesting, details, skip } = data
  if (name === END_OF_FILE && nesting === 0 && type === 'test:pass') return { type: 'end of file' }
  const isSuite = details?.type === 'suite'
  // A suite whose own hooks failed says what no test of it says.
  const isSkipped = skip !== undefined && skip !== false
  if (isSuite && !isSkipped && (type === 'test:pass' || details.error?.failureType === 'subtestsFailed'))
    return { type: 'suite', name, nesting }
  const verdict = type === 'test:fail' ? 'failed' : isSkipped ? 'skipped' : 'passed'
  return {
    type: 'test',
    name,
    nesting,
    verdict,
    ms: details.duration_ms,
    ...(verdict === 'failed' && { text: textOf(details.error) }),
    ...(typeof skip === 'string' && { text: skip }),
  }
}

function textOf(error) {
  const cause = error?.cause ?? error
  return typeof cause === 'object' && cause !== null
    ? (cause.stack ?? cause.message ?? String(cause))
    : String(cause)
}
