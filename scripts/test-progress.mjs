// A reporter for node --test: a line for each test file as it ends, every failure in full at once, and at the end the files that
// took longest.
import { relative } from 'node:path'

const SLOWEST = 15

// eslint-disable-next-line import/no-default-export -- node --test takes a reporter by its default export
export default async function* progress(source) {
  const files = new Map()
  const failures = []
  let passed = 0
  let skipped = 0
  const startMs = Date.now()
  for await (const { type, data } of source) {
    if (type === 'test:stderr' || type === 'test:stdout') continue
    if (type !== 'test:pass' && type !== 'test:fail') continue
    const file = relative(process.cwd(), data.file ?? '').replace(/^dist\//, '')
    // The end of a suite says nothing that its tests have not said.
    if (data.details?.type === 'suite') continue
    const known = files.get(file) ?? { tests: 0, ms: 0, endMs: 0 }
    files.set(file, known)
    known.tests += 1
    known.endMs = Date.now()
    if (data.nesting === 0) known.ms += data.details.duration_ms
    if (data.skip !== undefined) skipped += 1
    else if (type === 'test:pass') passed += 1
    else {
      failures.push(`${file}: ${data.name}`)
      yield `\n✖ ${file}: ${data.name}\n${textOf(data.details.error)}\n`
    }
    if ((passed + skipped + failures.length) % 250 === 0)
      yield `${passed + skipped + failures.length} tests of ${files.size} files, ${failures.length} failed (${seconds(startMs)} s)\n`
  }
  const slowest = [...files].toSorted(([, a], [, b]) => b.ms - a.ms).slice(0, SLOWEST)
  yield `\nslowest files, by the time of their tests:\n`
  for (const [file, { ms, tests }] of slowest)
    yield `${(ms / 1000).toFixed(1).padStart(7)} s  ${file} (${tests})\n`
  yield `\n${passed} tests passed, ${skipped} were skipped, ${failures.length} failed, in ${seconds(startMs)} s\n`
  for (const failure of failures) yield `  ✖ ${failure}\n`
}

const seconds = (sinceMs) => ((Date.now() - sinceMs) / 1000).toFixed(0)

function textOf(error) {
  const cause = error?.cause ?? error
  return typeof cause === 'object' ? (cause.stack ?? cause.message ?? String(cause)) : String(cause)
}
