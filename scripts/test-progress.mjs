// What scripts/test.mjs says: every failure in full at once, how far it is, and at the end the files that took longest and a
// line `N passed, N failed, N skipped`.
import { openStacks } from './test-stacks.mjs'

const SLOWEST = 15
const TESTS_PER_LINE = 250
/** A process goes on after its tests where a server, a connection or a timer was left open, or where much is to be removed. */
const LINGER_MS_MAX = 1_500

export function openReport({ isBrief, isOfAllFiles = false, write }) {
  const startMs = Date.now()
  const files = new Map()
  const failures = []
  const lingering = []
  const counts = { passed: 0, failed: 0, skipped: 0 }
  const shown = (file) => file.replace(/^dist\//, '')

  const known = (file) => {
    if (!files.has(file)) files.set(file, { tests: 0, wallMs: 0, cpuMs: 0 })
    return files.get(file)
  }
  const sourced = openStacks()
  const fail = (title, text) => {
    counts.failed += 1
    failures.push(title)
    write(`\n✖ ${title}\n${sourced(text)}\n`)
    return 1
  }

  return {
    /** Takes what a test of a file came to; returns the count of failures in it. */
    take(file, { type, name, nesting, verdict, ms, text }) {
      const indent = '  '.repeat(nesting)
      if (type === 'diagnostic' && !isBrief) write(`${indent}ℹ ${text}\n`)
      if (type === 'suite' && !isBrief) write(`${indent}▸ ${name}\n`)
      if (type !== 'test') return 0
      known(file).tests += 1
      if (verdict === 'failed') return fail(`${shown(file)}: ${name}`, text)
      counts[verdict] += 1
      if (!isBrief)
        write(
          verdict === 'passed'
            ? `${indent}✔ ${name} (${ms.toFixed(0)} ms)\n`
            : `${indent}﹣ ${name} (${text ?? 'skipped'})\n`,
        )
      const tests = counts.passed + counts.failed + counts.skipped
      if (isBrief && tests % TESTS_PER_LINE === 0)
        write(`${tests} tests of ${files.size} files, ${counts.failed} failed (${secondsSince(startMs)} s)\n`)
      return 0
    },
    /** What a file took, by the clock and of the processor. */
    spent: (file, wallMs, cpuMs) => void Object.assign(known(file), { wallMs, cpuMs }),
    /** A file that could not be loaded, or whose process has crashed. */
    broken: (file, text) => fail(shown(file), text),
    /** How long a process went on after the last test of its files. */
    lingered(files, ms) {
      if (ms > LINGER_MS_MAX) lingering.push([ms, files])
    },
    /** What a process with failures has printed. */
    output(text) {
      if (text !== '') write(`\nits output:\n${sourced(text)}\n`)
    },
    /** Returns whether all is well; takes what all of it has cost. */
    end(cpuMs) {
      if (isBrief || isOfAllFiles) {
        write(`\nslowest files, in seconds by the clock and of the processor:\n`)
        const slowest = [...files]
          .toSorted(([, a], [, b]) => b.wallMs - a.wallMs)
          .slice(0, isOfAllFiles ? Infinity : SLOWEST)
        for (const [file, { wallMs, cpuMs, tests }] of slowest)
          write(`${secondsOf(wallMs)} ${secondsOf(cpuMs)}  ${shown(file)} (${tests})\n`)
      }
      if (isBrief || isOfAllFiles)
        for (const [ms, of] of lingering)
          write(
            `${secondsOf(ms)}  after the last test of ${of.map(shown).join(', ')}, before its process ended\n`,
          )
      if (failures.length > 0) write(`\nfailed:\n`)
      for (const failure of failures) write(`  ✖ ${failure}\n`)
      write(
        `\n${files.size} files in ${secondsSince(startMs)} s, ${(cpuMs / 1000).toFixed(0)} of the processor\n`,
      )
      write(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`)
      return counts.failed === 0
    },
  }
}

const secondsOf = (ms) => (ms / 1000).toFixed(1).padStart(7)
const secondsSince = (ms) => ((Date.now() - ms) / 1000).toFixed(0)
