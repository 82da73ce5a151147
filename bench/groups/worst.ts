// The dearest requests, one at a time against a quiet server on disk: how long each holds its main thread.
import { setTimeout as delay } from 'node:timers/promises'
import { type BenchGroup, groupOf } from '../bench.js'
import { UNSIGNED_HEADERS } from '../../src/bench/load/request-bytes.js'
import type { UnitRecord } from '../records.js'
import { startTarget, type Target } from '../targets/target.js'
import { LATER_REQUESTS, laterTables } from '../worst/later-requests.js'
import { WORST_REQUESTS, type WorstRequest, worstTables } from '../worst/requests.js'

export interface WorstOptions {
  readonly rounds: number
  /** All if absent. */
  readonly requests?: readonly WorstRequest[]
}

const TARGET = 'seriatim-disk'
const ROUNDS_MAX = 3
const SETUP_MS = 20_000
const REQUEST_MS = 300
/** Until what was written is in the index, and what was left behind is collected. */
const QUIET_MS = 50

export function worstGroup({
  rounds,
  requests = [...WORST_REQUESTS, ...LATER_REQUESTS],
}: WorstOptions): BenchGroup {
  return groupOf({
    name: 'worst requests',
    setupMs: SETUP_MS,
    units: requests.flatMap((request) =>
      Array.from({ length: Math.min(rounds, ROUNDS_MAX) }, (_, round) => ({
        id: `worst/${request.name}/round ${round + 1}`,
        estimateMs: REQUEST_MS,
        run: (target: Target) => measureOne(target, request, round + 1),
      })),
    ),
    async open() {
      const target = await startTarget(TARGET, { profiled: true })
      if ('missing' in target) throw new Error(target.missing)
      try {
        for (const [operation, body] of [...worstTables(), ...laterTables()]) {
          const { status, text } = await send(target, `DynamoDB_20120810.${operation}`, body)
          if (status !== 200) throw new Error(`${operation}: ${text.slice(0, 200)}`)
        }
        await target.settle()
        return target
      } catch (error) {
        await target.stop()
        throw error
      }
    },
    close: (target) => target.stop(),
  })
}

async function measureOne(target: Target, request: WorstRequest, round: number): Promise<UnitRecord> {
  const { profiler } = target
  if (profiler === undefined) throw new Error(`${target.title} cannot be asked for its time`)
  const { name, waiting, kind: expected, before = [] } = request
  const answers: string[] = []
  for (const [operation, made] of before) {
    const { status, text } = await send(target, operation, made(answers))
    if (status !== 200) throw new Error(`${operation}, before ${name}: ${text.slice(0, 200)}`)
    answers.push(text)
  }
  const body = request.body(answers)
  const asked = new AbortController()
  if (waiting !== undefined) await hold(target, waiting, asked.signal)
  await delay(QUIET_MS)
  await profiler.watch()
  const { status, text } = await send(target, request.target, body)
  await delay(QUIET_MS)
  const { activeMs, longestMs } = await profiler.spent()
  asked.abort()
  const isConflict = expected === 'valid' && text.includes('UnitConflictException')
  if ((status === 200 || isConflict) !== (expected === 'valid') || status >= 500)
    throw new Error(`${name} is ${expected}, but answered with ${status}: ${text.slice(0, 200)}`)
  return { kind: 'worst', request: name, expected, status, activeMs, longestMs, round }
}

/** Sends those that wait, and goes on when all of them do. */
async function hold(
  target: Target,
  { count, target: operation, body }: NonNullable<WorstRequest['waiting']>,
  signal: AbortSignal,
): Promise<void> {
  for (let at = 0; at < count; at++) send(target, operation, body, signal).catch(() => undefined)
  while ((await inFlight(target)) < count) await delay(QUIET_MS)
}

async function inFlight({ endpoint }: Target): Promise<number> {
  const text = await (await fetch(new URL('/metrics', endpoint))).text()
  return Number(/^seriatim_requests_in_flight (\d+)/m.exec(text)?.[1])
}

async function send(
  { endpoint }: Target,
  operation: string,
  body: string,
  signal?: AbortSignal,
): Promise<{ readonly status: number; readonly text: string }> {
  const headers = {
    'content-type': 'application/x-amz-json-1.0',
    'x-amz-target': operation,
    ...UNSIGNED_HEADERS,
  }
  const response = await fetch(new URL('/', endpoint), {
    method: 'POST',
    headers,
    body,
    ...(signal && { signal }),
  })
  return { status: response.status, text: await response.text() }
}
