// Where the time of a processor profile went, by part of the program and by function.
//
//   node --cpu-prof --cpu-prof-dir=profiles dist/src/cli/main.js start --memory    (and SIGINT when there was enough load)
//   node dist/bench/studies/cpuprofile.js profiles/*.cpuprofile
import { readFileSync } from 'node:fs'
import { type CpuProfile, type FunctionTime, selfTimes } from '../profile/self-times.js'
import { percent, terminalLines } from '../../src/bench/table.js'

const paths = process.argv.slice(2)
if (paths.length === 0) throw new Error('which .cpuprofile?')
for (const path of paths) {
  const { busyMicros, idleMicros, parts, functions } = selfTimes(
    JSON.parse(readFileSync(path, 'utf8')) as CpuProfile,
  )
  const rows = (times: readonly FunctionTime[]): readonly (readonly string[])[] =>
    times.map(({ name, micros }) => [name, percent(micros / busyMicros), `${(micros / 1000).toFixed(1)} ms`])
  const title = `${path}: busy ${(busyMicros / 1e6).toFixed(2)} s, idle ${(idleMicros / 1e6).toFixed(2)} s`
  for (const line of [
    ...terminalLines({ title, columns: ['part', 'of the busy time', ''], rows: rows(parts) }),
    ...terminalLines({ title: 'Functions', columns: ['function', 'self time', ''], rows: rows(functions) }),
  ]) {
    console.log(line)
  }
}
