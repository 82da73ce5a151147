// How memory and time of a client grow with the items of a unit: one process for each size, the endpoint in another.
//   node growth.js URL ITEMS [RUNS]
import { pathToFileURL } from 'node:url'
import { clientEndpoint } from '../../../src/toolkit/endpoint/endpoint.js'
import type { Endpoint } from '../../../src/toolkit/endpoint/endpoint.js'
import { intentLimits } from '../../../src/toolkit/intents/protocol/limits.js'
import { foreign, intentsTransactor, PATIENT, sdkClient } from './endpoints.js'

export interface Growth {
  readonly items: number
  /** Until the caller had its answer; the middle one of several. */
  readonly answerMs: number
  /** Until everything behind was done. */
  readonly doneMs: number
  /** Of the client's CPU until everything was done. */
  readonly cpuMs: number
  /** Live heap at its highest, above that before the unit, garbage collected at each look. */
  readonly heapBytes: number
  readonly rssBytes: number
  /** Requests under way at once, at most. */
  readonly underWayMax: number
}

const TABLE = 'Growth'
const RUNS = 3
/** Looks at the heap during one unit. */
const LOOKS = 12

export async function growthOf(endpoint: Endpoint, items: number, runs = RUNS): Promise<Growth> {
  let underWay = 0
  let underWayMax = 0
  let answers = 0
  let look: () => void = () => undefined
  const watched = foreign({
    async call(operation, input, options) {
      underWayMax = Math.max(underWayMax, ++underWay)
      try {
        return await endpoint.call(operation, input, options)
      } finally {
        underWay--
        if (++answers % Math.ceil((2 * items) / LOOKS) === 0) look()
      }
    },
  })
  await endpoint
    .call('CreateTable', {
      TableName: TABLE,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    })
    .catch((error: unknown) => {
      if ((error as Error).name !== 'ResourceInUseException') throw error
    })
  const t = intentsTransactor(watched, { protocol: 'intents', ...PATIENT })
  await t.setup()
  const unit = (count: number, text: string): Promise<void> =>
    t.transact((tx) => {
      for (let at = 0; at < count; at++) tx.put(TABLE, { id: `item ${at}`, text: text.repeat(200) })
    })
  await unit(items, 'x')
  await t.idle()
  const times: { readonly answerMs: number; readonly doneMs: number; readonly cpuMs: number }[] = []
  for (let run = 0; run < runs; run++) {
    const cpu = process.cpuUsage()
    const start = performance.now()
    await unit(items, 'ab'[run % 2]!)
    const answerMs = performance.now() - start
    await t.idle()
    const { user, system } = process.cpuUsage(cpu)
    times.push({ answerMs, doneMs: performance.now() - start, cpuMs: (user + system) / 1000 })
  }
  // Apart from the times, because collecting garbage takes its own.
  const { gc } = globalThis as { gc?: () => void }
  const heap = (): number => {
    gc?.()
    return process.memoryUsage().heapUsed
  }
  const before = heap()
  let highest = before
  look = () => (highest = Math.max(highest, heap()))
  await unit(items, 'z')
  await t.idle()
  const middle = (name: 'answerMs' | 'doneMs' | 'cpuMs'): number =>
    times.map((one) => one[name]).toSorted((a, b) => a - b)[Math.floor(runs / 2)]!
  return {
    items,
    answerMs: middle('answerMs'),
    doneMs: middle('doneMs'),
    cpuMs: middle('cpuMs'),
    heapBytes: highest - before,
    rssBytes: process.resourceUsage().maxRSS * 1024,
    underWayMax,
  }
}

/** The table for the documentation. */
export function growthTable(rows: readonly { readonly growth: Growth; readonly where: string }[]): string {
  const head = [
    'items',
    'endpoint',
    'answer',
    'all done',
    'client CPU',
    'client CPU an item',
    'heap',
    'heap an item',
    'process (RSS)',
    'requests at once',
  ]
  const lines = rows.map(({ growth, where }) => [
    growth.items,
    where,
    `${growth.answerMs.toFixed(0)} ms`,
    `${growth.doneMs.toFixed(0)} ms`,
    `${growth.cpuMs.toFixed(0)} ms`,
    `${(growth.cpuMs / growth.items).toFixed(2)} ms`,
    `${(growth.heapBytes / 1e6).toFixed(1)} MB`,
    `${(growth.heapBytes / 1e3 / growth.items).toFixed(1)} KB`,
    `${(growth.rssBytes / 1e6).toFixed(0)} MB`,
    growth.underWayMax,
  ])
  return [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

export const requestsAtOnceMax = intentLimits.parallelMax

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [url = '', items = '', runs] = process.argv.slice(2)
  const client = sdkClient(url)
  process.stdout.write(
    `${JSON.stringify(await growthOf(clientEndpoint(client), Number(items), runs === undefined ? RUNS : Number(runs)))}\n`,
  )
  client.destroy()
}
