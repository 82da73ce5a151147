// A run's records as lines for a terminal.
import { recordsOf, type UnitRecord } from '../records.js'
import { median } from '../statistics.js'
import {
  appendTables,
  contentionTables,
  growthTables,
  plainTables,
  simulatedTables,
  sizeTables,
  startTables,
  throughputTables,
} from './other-tables.js'
import { equalTables, peerTables } from './peer-tables.js'
import { terminalLines, whole } from './table.js'

type Records = Readonly<Record<string, UnitRecord>>

export function reportLines(records: Records): readonly string[] {
  const tables = [
    startTables,
    appendTables,
    peerTables,
    equalTables,
    throughputTables,
    sizeTables,
    plainTables,
    contentionTables,
    simulatedTables,
    growthTables,
  ].flatMap((tablesOf) => tablesOf(records))
  return [
    ...generatorLines(records),
    ...tables.flatMap(terminalLines),
    ...missingLines(records),
    ...failedLines(records),
  ]
}

/** What the generator itself can drive: seen on the bare server, of its own part or else of the comparison. */
export function generatorLines(records: Records): readonly string[] {
  const own = recordsOf(records, 'generator').map(({ measured }) => measured)
  const compared = recordsOf(records, 'peer').filter(({ target, rate }) => target === 'bare' && rate === null)
  const runs = own.length > 0 ? own : compared.map(({ measured }) => measured)
  if (runs.length === 0) return []
  const reached = median(runs.map(({ perSecond }) => perSecond))
  const micros = median(runs.map(({ generatorMicros }) => generatorMicros))
  return [
    `The generator drives the bare server with ${whole(reached)} requests a second, and uses ${micros.toFixed(1)} us of ` +
      'processor for each:',
    `with a core of its own it can drive about ${whole(1e6 / micros)} a second. What comes near that is measured too low.`,
  ]
}

function missingLines(records: Records): readonly string[] {
  const reasons = new Set(recordsOf(records, 'missing').map(({ reason }) => reason))
  return [...reasons].map((reason) => `left out: ${reason}`)
}

function failedLines(records: Records): readonly string[] {
  return Object.entries(records).flatMap(([id, record]) =>
    record.kind === 'failed' ? [`failed: ${id}: ${record.reason}`] : [],
  )
}
