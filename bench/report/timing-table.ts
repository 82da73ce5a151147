// The parameters of the simulation, each beside what the run measured of it and where that comes from.
import { FLEET } from '../groups/simulated.js'
import { type RecordOf, recordsOf, type UnitRecord } from '../records.js'
import { REGION } from '../simulated/timing.js'
import { median } from '../../src/bench/statistics.js'
import { fixed, percent, type ReportTable, whole } from '../../src/bench/table.js'

type Records = Readonly<Record<string, UnitRecord>>

/** So much for a request, and so much for each item of it. */
export interface Line {
  readonly requestMicros: number
  readonly itemMicros: number
}

export function timingTable(records: Records): ReportTable {
  const { networkMicros, syncMicros, slowShare, slowMicros, messageMicros } = REGION
  const {
    readCallMicros,
    writeCallMicros,
    readMicros,
    prepareMicros,
    commitMicros,
    writeMicros,
    kilobyteMicros,
    coordinateMicros,
  } = REGION
  const range = ({ min, max }: { readonly min: number; readonly max: number }): string => `${min} to ${max}`
  const syncs = recordsOf(records, 'append').filter(({ frameBytes }) => frameBytes < 1000)
  const sync = (of: 'p50Micros' | 'p90Micros'): string =>
    whole(median(syncs.map(({ latency }) => latency[of])))
  const step = (name: RecordOf<'fit'>['step']): string => lineText(stepFit(records, name))
  const message = median(
    recordsOf(records, 'fit')
      .filter(({ step }) => step === 'message')
      .map(({ micros }) => micros),
  )
  const beyond = (operation: string, name: RecordOf<'fit'>['step']): string => {
    const server = processorFit(records, operation, 'seriatim-disk')
    const node = stepFit(records, name)
    return server === undefined || node === undefined ? '-' : fixed(server.itemMicros - node.itemMicros, 1)
  }
  return {
    title: '',
    columns: ['times in us', 'simulated', 'measured in this run', 'by'],
    words: 4,
    rows: [
      ['nodes and coordinators', `${FLEET.nodes} and ${FLEET.coordinators}`, '-', 'assumed'],
      ['network, one way', range(networkMicros), '-', 'assumed'],
      ['a kilobyte on the wire', String(kilobyteMicros), '-', 'assumed'],
      [`slow messages and syncs (${percent(slowShare)})`, range(slowMicros), '-', 'assumed'],
      [
        'write and sync of a journal',
        range(syncMicros),
        `p50 ${sync('p50Micros')}, p90 ${sync('p90Micros')}`,
        '`--part append`, 900 bytes',
      ],
      [
        'processor, a message received and answered',
        String(messageMicros),
        fixed(message, 1),
        '`--part fit`: a kilobyte between two processes',
      ],
      [
        'processor of a node, read',
        `${readMicros} an item, ${readCallMicros} a call`,
        step('read'),
        '`--part fit`: a node called in its process',
      ],
      [
        'processor of a node, write in one round',
        `${writeMicros} an item, ${writeCallMicros} a call`,
        step('write in one round'),
        'the same',
      ],
      [
        'processor of a node, prepare and commit',
        `${prepareMicros} + ${commitMicros} an item, ${2 * writeCallMicros} both calls`,
        step('prepare and commit'),
        'the same; together',
      ],
      [
        'processor of a coordinator',
        `${coordinateMicros} an item`,
        `${beyond('TransactGetItems', 'read')} reading, ${beyond('TransactWriteItems', 'write in one round')} writing`,
        '`--part peers`: what a server takes for an item beyond its node',
      ],
    ],
  }
}

const lineText = (line: Line | undefined): string =>
  line === undefined ? '-' : `${fixed(line.itemMicros, 1)} an item, ${fixed(line.requestMicros, 1)} a call`

function stepFit(records: Records, step: RecordOf<'fit'>['step']): Line | undefined {
  return lineThrough(
    recordsOf(records, 'fit')
      .filter((record) => record.step === step)
      .map(({ items, micros }) => ({ items, micros })),
  )
}

/** Of a server, by the sizes of its transactions. */
export function processorFit(records: Records, operation: string, of: string): Line | undefined {
  return lineThrough(
    recordsOf(records, 'peer').flatMap(({ target, workload, measured }) => {
      const items = Number(/ of (\d+)$/.exec(workload)?.[1] ?? NaN)
      return target === of && workload.startsWith(`${operation} of`) && measured.cpuMicros !== null
        ? [{ items, micros: measured.cpuMicros }]
        : []
    }),
  )
}

/** Least squares over the medians of each size; undefined for less than two sizes. */
export function lineThrough(
  points: readonly { readonly items: number; readonly micros: number }[],
): Line | undefined {
  const sizes = [...new Set(points.map(({ items }) => items))]
  if (sizes.length < 2) return undefined
  const middles = sizes.map((items) => ({
    items,
    micros: median(points.filter((point) => point.items === items).map(({ micros }) => micros)),
  }))
  const mean = (of: (point: { items: number; micros: number }) => number): number =>
    middles.reduce((sum, point) => sum + of(point), 0) / middles.length
  const [items, micros] = [mean((point) => point.items), mean((point) => point.micros)]
  const itemMicros =
    mean((point) => (point.items - items) * (point.micros - micros)) /
    mean((point) => (point.items - items) ** 2)
  return { requestMicros: micros - itemMicros * items, itemMicros }
}
