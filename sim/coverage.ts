// What a long run must have seen: a fault that never happened, or a rule that was never made use of, was not tested.
import type { SimFault, Tally } from './faults.js'
import { DRAWN_KNOBS } from './knobs.js'
import type { JournalOf, Processes } from './world.js'

/** Runs of fewer transactions prove nothing by what they lack. */
export const COVERED_FROM_TRANSACTIONS = { many: 100_000, one: 50_000, workers: 50_000 } as const
/** Of units of work there are fewer kinds of events, and each is frequent. */
export const COVERED_FROM_UNITS = 50_000
/** A crash point that was passed that often must have been one. */
const PASSES_MIN = 20_000

const RULES = [
  'readsPassPrepared',
  'writesBeforePrepared',
  'writesBehindPrepared',
  'oldTimestamps',
  'severalPrepared',
  'oneRoundReads',
  'oneRoundWrites',
]

const VERDICTS = {
  both: [
    'prepare accepted',
    'prepare condition-failed',
    'prepare invalid',
    'prepare conflict',
    'prepare too-old',
    'prepare ended',
    'write done',
    'write condition-failed',
    'write invalid',
    'write conflict',
    'begin begun',
    'begin exists',
    'commit finished',
    'cancel finished',
    'decide commit: committing commit',
    'decide cancel: cancelling cancel',
    'decide cancel: completed cancel',
    'decide cancel: committing commit',
  ],
  all: [
    'transact committed',
    'transact refused',
    'transact repeated',
    'transact token-mismatch',
    'read-at value',
    'read-at pending',
    'read-at too-old',
    'step done',
    'step refused',
    'step wait',
  ],
  none: ['read-latest value', 'read-latest pending'],
} as const

const FAULT_EVENTS: Readonly<Record<SimFault, readonly string[]>> = {
  delay: ['delay'],
  drop: ['drop'],
  repeat: ['repeat'],
  partition: ['partition', 'cut-off'],
  crash: ['killed', 'power-cut', 'torn'],
  clock: ['clock'],
  disk: ['disk-full', 'sync-failed'],
  index: ['index-full', 'index-failed', 'index-behind-at-start'],
}

/** What units of work must have met, in a run of nothing else. */
const UNIT_EVENTS = [
  'verdict/prepare changed',
  'verdict/predicate holds',
  'verdict/predicate changed',
  'verdict/predicate pending',
  'verdict/predicate snapshot-too-old',
  'verdict/read-snapshot read',
  'verdict/read-snapshot snapshot-too-old',
  'verdict/range-at read',
  'verdict/range-at pending',
  'verdict/range-at snapshot-too-old',
  'verdict/lock locked',
  'verdict/lock conflict',
  'outcome/unit-read conflict',
]

/** What cannot happen, or hardly ever does, where no call is lost or repeated and a transaction is pending for a moment only. */
const SELDOM_IN_ONE_PROCESS: ReadonlySet<string> = new Set([
  'fault/repeat',
  'rule/oldTimestamps',
  'verdict/prepare conflict',
  'verdict/prepare ended',
  'verdict/write conflict',
  'verdict/predicate pending',
  'verdict/range-at pending',
  'outcome/unit-read conflict',
])
/** What they must have met: a full disk, a failed one, and writes that wait for room. */
const OF_ONE_PROCESS = ['wait/admission', 'error/WriteFailed', 'error/OutcomeUnknown']
const OF_KIND = { one: ['world/one process'], workers: ['world/workers', 'pipe/cut'] } as const
const isWithin = (processes: Processes | undefined): processes is 'one' | 'workers' =>
  processes === 'one' || processes === 'workers'
const RUN_OVER = 'error/RunOver'

/** The ways to look at ranges. */
const SCANS = ['scan/views', 'scan/pages', 'scan/query', 'scan/text', 'scan/entries']

/** What worlds must have met in which the nodes share a journal. */
const SHARED_JOURNAL = 'world/shared journal'
const TORN_GROUP = 'fault/torn-group'

/** What was run. */
export interface Covered {
  readonly faults: ReadonlySet<SimFault>
  readonly rules: 'all' | 'none'
  readonly journal?: JournalOf
  readonly processes?: Processes
}

export const missingOfUnits = (tally: Tally, covered: Covered): readonly string[] =>
  neverHappened(tally, [...UNIT_EVENTS, ...ofPlaces(covered)], covered)

/** The names of what should have happened and did not. */
export function missing(tally: Tally, covered: Covered): readonly string[] {
  const { faults, rules } = covered
  const wanted = [
    ...(rules === 'all' ? RULES.map((rule) => `rule/${rule}`) : []),
    ...[...VERDICTS.both, ...VERDICTS[rules]].map((verdict) => `verdict/${verdict}`),
    ...[...faults].flatMap((fault) => FAULT_EVENTS[fault].map((event) => `fault/${event}`)),
    ...(faults.has('crash')
      ? tally.under('point/').flatMap(([point, passes]) => (passes >= PASSES_MIN ? [`crash/${point}`] : []))
      : []),
    ...(isWithin(covered.processes) ? [RUN_OVER] : []),
    ...ofPlaces(covered),
    ...DRAWN_KNOBS.map((knob) => `knob/${knob}`),
    ...SCANS,
  ]
  return neverHappened(tally, wanted, covered)
}

const neverHappened = (tally: Tally, wanted: readonly string[], { processes }: Covered): readonly string[] =>
  wanted.filter((name) => tally.of(name) === 0 && !(isWithin(processes) && SELDOM_IN_ONE_PROCESS.has(name)))

function ofPlaces({ faults, journal, processes }: Covered): readonly string[] {
  if (journal === 'own') return []
  return [
    SHARED_JOURNAL,
    ...(isWithin(processes) ? [...OF_ONE_PROCESS, ...OF_KIND[processes]] : []),
    ...(faults.has('crash') ? [TORN_GROUP] : []),
  ]
}
