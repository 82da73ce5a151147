// A run's records as lines for a terminal.
import { recordsOf, type UnitRecord } from '../records.js'
import { median } from '../../src/bench/statistics.js'
import {
  appendTables,
  contentionTables,
  growthTables,
  plainTables,
  simulatedTables,
  sizeTables,
  startTables,
  throughputTables,
  worstTables,
} from './other-tables.js'
import { coldTables } from './cold-tables.js'
import { costTables } from './cost-tables.js'
import { halfTables } from './half-tables.js'
import { judgedLines, judgedTable } from './judged.js'
import { equalTables, peerTables } from './peer-tables.js'
import { profileTables } from './profile-tables.js'
import { rivalTables } from './rival-tables.js'
import { terminalLines, whole } from '../../src/bench/table.js'

type Records = Readonly<Record<string, UnitRecord>>

export function reportLines(records: Records): readonly string[] {
  const tables = [
    startTables,
    coldTables,
    appendTables,
    worstTables,
    peerTables,
    equalTables,
    halfTables,
    costTables,
    profileTables,
    throughputTables,
    sizeTables,
    plainTables,
    contentionTables,
    simulatedTables,
    growthTables,
    rivalTables,
  ].flatMap((tablesOf) => tablesOf(records))
  return [
    ...generatorLines(records),
    ...tables.flatMap(terminalLines),
    ...judged(records),
    ...missingLines(records),
    ...failedLines(records),
  ]
}

/** If anything of it was measured. */
function judged(records: Records): readonly string[] {
  const lines = judgedLines(records).filter(({ measured }) => measured !== undefined)
  return lines.length === 0 ? [] : terminalLines(judgedTable(lines))
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
