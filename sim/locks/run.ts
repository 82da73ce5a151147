// One run: a table, up to fifty contenders, trouble for a while, then calm; and the verdict.
import { locks } from '../../src/toolkit/locks/locks.js'
import { Random } from '../../src/runtime/seeded-random.js'
import { Scheduler } from '../scheduler.js'
import { Contender, type Habits } from './contender.js'
import { type Anomaly, Judge } from './judge.js'
import { type NetworkFaults, SimNetwork } from './sim-endpoint.js'
import { SimProcess } from './sim-process.js'
import { SimTable } from './sim-table.js'

export interface RunResult {
  readonly seed: number
  readonly contenders: number
  readonly anomalies: readonly Anomaly[]
  readonly counts: ReadonlyMap<string, number>
  readonly events: number
  readonly traceHash: string
}

export const CONTENDERS_MAX = 50
/** Of those who come again and again. */
const FLEET_MAX = 24
const HOUR_MICROS = 3_600_000_000
/** Within the margin of leases (rules.ts). */
const RATE_MAX = 0.045
const CONTENDERS_KILLED_MAX = 0.6

export async function runLocks(seed: number): Promise<RunResult> {
  const random = new Random(seed)
  const scheduler = new Scheduler()
  const judge = new Judge(scheduler)
  const table = new SimTable(judge.changed)
  const plan = withLimits(planOf(random), seed)
  const network = new SimNetwork(scheduler, random, table, judge, plan.faults, plan.wake)
  const newProcess = (name: string): SimProcess =>
    new SimProcess(name, scheduler, random, { skewMicrosMax: HOUR_MICROS, rateMax: RATE_MAX })

  const contenders = Array.from({ length: plan.contenders }, (_, at) => {
    const habits: Habits = {
      ...plan.habits,
      patience: random.pick(plan.patience),
      leaseMs: random.pick(plan.leasesMs),
    }
    return new Contender(newProcess(`c${at}`), habits, { network, judge })
  })
  for (const contender of contenders) {
    scheduler.after(random.below(plan.arrivalMicros), 'arrive', () =>
      contender.process.run(() => contender.start()),
    )
  }
  if (plan.trouble) makeTrouble(scheduler, random, contenders, plan.troubleMicros, judge)
  if (plan.breaks) breakSometime(scheduler, random, newProcess('operator'), plan, network, judge)
  scheduler.after(plan.troubleMicros, 'calm', () => network.calm())

  const horizonMicros = horizonOf(plan)
  const over = (): boolean => contenders.every((one) => one.over)
  await scheduler.run(() => over() || scheduler.nowMicros > horizonMicros)
  for (const contender of contenders) {
    const { process, failed } = contender
    if (failed !== undefined) judge.blame('failed', `${process.name}: ${(failed as Error).stack}`)
    else if (!contender.over) judge.blame('never-served', `${process.name} still waits`)
    if (plan.quiet && contender.drawnAgainMax > 1)
      judge.blame(
        'drawn-too-often',
        `${process.name} drew ${contender.drawnAgainMax} times again without having been stopped`,
      )
  }
  if (over()) await judgeWhatIsLeft(scheduler, network, table, judge, newProcess('sweeper'))
  for (const { process } of contenders) {
    if (process.dead) judge.count('killed')
    if (process.stops > 0) judge.count('stopped')
  }
  return {
    seed,
    contenders: contenders.length,
    anomalies: judge.anomalies,
    counts: judge.counts,
    events: scheduler.events,
    traceHash: scheduler.traceHash,
  }
}

interface Plan {
  readonly contenders: number
  readonly habits: Omit<Habits, 'patience' | 'leaseMs'>
  readonly patience: readonly Habits['patience'][]
  readonly leasesMs: readonly number[]
  readonly arrivalMicros: number
  readonly troubleMicros: number
  readonly faults: NetworkFaults
  readonly wake: 'wakes' | 'polls'
  readonly trouble: boolean
  readonly breaks: boolean
  /** Nothing but skewed clocks: nobody has an excuse. */
  readonly quiet: boolean
}

/**
 * Four kinds of runs: `racing`, where a few race for a lock that is often free, on a network whose delays differ much, so
 * that everything overlaps; `lingering`, where holders stay for leases while processes are cut off and stand still;
 * `fading`, where links get slow before they fail; and any mixture of everything.
 */
function planOf(random: Random): Plan {
  const kind = random.pick(['racing', 'lingering', 'fading', 'mixed', 'mixed', 'mixed'] as const)
  const leaseMs = random.pick([2_000, 5_000, 10_000])
  const mixed = planOfMixed(random, leaseMs)
  const { habits, faults } = mixed
  const waits: Plan['patience'] = ['waits', 'waits', 'gives-up']
  switch (kind) {
    case 'mixed':
      return mixed
    case 'racing':
      return {
        ...mixed,
        ...NO_TROUBLE,
        contenders: random.skewed(2, RACING_MAX),
        patience: waits,
        habits: {
          ...habits,
          rounds: RACING_ROUNDS,
          names: ['a'],
          holdMsMax: random.pick([10, leaseMs / 20]),
        },
        arrivalMicros: 1_000,
        faults: { ...CALM, tornQueries: faults.tornQueries, delayMicrosMax: 100_000 },
      }
    case 'lingering':
      return {
        ...mixed,
        contenders: random.skewed(2, LINGERING_MAX),
        patience: waits,
        habits: { ...habits, rounds: 2, names: ['a'], holdMsMax: leaseMs * 3, manualChance: 0 },
        troubleMicros: leaseMs * 1000 * 10,
        trouble: true,
        quiet: false,
        faults: {
          ...faults,
          slowMicrosMax: leaseMs * 1000 * 2,
          stop: random.pick([0, 0.02, 0.06]),
          stopMicrosMax: leaseMs * 1000 * 3,
          kill: 0,
          delayMicrosMax: leaseMs * random.pick([20, 120]),
        },
      }
    case 'fading':
      return {
        ...mixed,
        ...NO_TROUBLE,
        quiet: false,
        contenders: random.skewed(2, LINGERING_MAX),
        patience: ['waits'],
        habits: { ...habits, rounds: 3, names: ['a'], holdMsMax: leaseMs * 5, manualChance: 0 },
        troubleMicros: leaseMs * 1000 * 40,
        faults: { ...CALM, slow: 0.05, slowMicrosMax: leaseMs * 250, fade: 0.5, delayMicrosMax: leaseMs * 5 },
        wake: 'polls',
      }
  }
}

/**
 * In some runs several may hold a name at once. Drawn from a source of its own, so that the other choices of a seed stay
 * as they are.
 */
function withLimits(plan: Plan, seed: number): Plan {
  const random = new Random(seed ^ LIMITS_SEED)
  if (!random.chance(LIMITED_CHANCE)) return plan
  const limit = random.between(2, 4)
  // All the same, or a few who are alone, or who ask with another limit.
  const limits = random.pick([[limit], [limit, limit, limit, 1], [limit, limit + 1]])
  return { ...plan, habits: { ...plan.habits, limits } }
}

const LIMITS_SEED = 0x5e_3a_f0_12
const LIMITED_CHANCE = 0.25
const RACING_MAX = 6
const RACING_ROUNDS = 10
const LINGERING_MAX = 5

const CALM: NetworkFaults = {
  loss: 0,
  repeat: 0,
  slow: 0,
  slowMicrosMax: 1,
  fade: 0,
  stop: 0,
  stopMicrosMax: 1,
  kill: 0,
  tornQueries: false,
  delayMicrosMax: 20_000,
}
const NO_TROUBLE = { quiet: true, trouble: false, breaks: false, troubleMicros: 0 } as const

function planOfMixed(random: Random, leaseMs: number): Plan {
  const fleet = random.fraction()
  const patience: Plan['patience'] =
    fleet < 0.14 ? ['impatient'] : fleet < 0.25 ? ['tries'] : ['waits', 'waits', 'waits', 'gives-up']
  const contenders = random.skewed(2, fleet < 0.25 ? FLEET_MAX : CONTENDERS_MAX)
  const quiet = random.chance(0.05)
  const some = (chance: number, values: readonly number[]): number =>
    random.chance(chance) ? random.pick(values) : 0
  const tornQueries = random.chance(0.5)
  const delayMicrosMax = random.pick([5_000, 20_000, 100_000])
  return {
    contenders,
    habits: {
      rounds: random.between(1, contenders > 15 ? 1 : 3),
      names: ['a', 'b', 'c'].slice(0, random.between(1, 3)),
      namesMax: random.pick([1, 1, 2, 3]),
      sharedChance: random.pick([0, 0, 0.3, 0.7]),
      limits: [1],
      holdMsMax: random.pick([0, leaseMs / 20, leaseMs / 4, leaseMs * 2]),
      pauseMsMax: random.pick([leaseMs / 5, leaseMs]),
      manualChance: random.pick([0, 0, 0.3]),
    },
    patience,
    leasesMs: [leaseMs, leaseMs, leaseMs / 2],
    arrivalMicros: random.pick([1_000, 200_000, leaseMs * 1000]),
    troubleMicros: leaseMs * 1000 * random.between(1, 12),
    faults: quiet
      ? { ...CALM, tornQueries, delayMicrosMax }
      : {
          loss: some(0.7, [0.005, 0.02, 0.1]),
          repeat: some(0.6, [0.02, 0.2, 0.5]),
          slow: some(0.6, [0.005, 0.02, 0.1]),
          slowMicrosMax: leaseMs * 1000 * random.pick([1, 3]),
          fade: 0,
          stop: some(0.6, [0.005, 0.02, 0.06]),
          stopMicrosMax: leaseMs * 1000 * random.pick([1.5, 4]),
          kill: some(0.4, [0.001, 0.005, 0.02]),
          tornQueries,
          delayMicrosMax,
        },
    wake: random.pick(['wakes', 'polls']),
    trouble: random.chance(0.8),
    breaks: random.chance(0.1),
    quiet,
    ...(quiet && NO_TROUBLE),
  }
}

/** Long enough for everybody to work, and for every death to be noticed one after the other. */
function horizonOf({ contenders, habits, leasesMs, arrivalMicros, troubleMicros }: Plan): number {
  const leaseMs = Math.max(...leasesMs)
  const eachMs = habits.rounds * (2.5 * habits.holdMsMax + 12 * leaseMs)
  return arrivalMicros + troubleMicros + (contenders * eachMs + 40 * leaseMs) * 1000
}

function makeTrouble(
  scheduler: Scheduler,
  random: Random,
  contenders: readonly Contender[],
  untilMicros: number,
  judge: Judge,
): void {
  const everyMicros = untilMicros / random.between(2, 20)
  let killed = 0
  const strike = (): void => {
    if (scheduler.nowMicros > untilMicros) return
    const { process } = random.pick(contenders)
    const what = random.pick(['stop', 'stop', 'cut', 'cut', 'kill', 'clock'] as const)
    judge.count(`trouble ${what}`)
    if (what === 'stop') process.stop(random.skewed(10_000, untilMicros))
    else if (what === 'cut') process.cutOff(random.skewed(100_000, untilMicros))
    else if (what === 'clock') process.jumpClock()
    else if (++killed <= contenders.length * CONTENDERS_KILLED_MAX) process.kill()
    scheduler.after(random.below(2 * everyMicros), 'trouble', strike)
  }
  scheduler.after(random.below(2 * everyMicros), 'trouble', strike)
}

function breakSometime(
  scheduler: Scheduler,
  random: Random,
  operator: SimProcess,
  plan: Plan,
  network: SimNetwork,
  judge: Judge,
): void {
  judge.operator = operator
  const client = locks(network.endpointOf(operator), { table: 'Locks', runtime: operator.runtime })
  scheduler.after(random.below(plan.troubleMicros), 'break', () => {
    operator.run(() => {
      void client.break(random.pick(plan.habits.names)).then(
        (broken) => broken.forEach(() => judge.count('broken')),
        () => undefined,
      )
    })
  })
}

async function judgeWhatIsLeft(
  scheduler: Scheduler,
  network: SimNetwork,
  table: SimTable,
  judge: Judge,
  sweeper: SimProcess,
): Promise<void> {
  network.calm()
  // What is still on its way arrives.
  await scheduler.run(() => false)
  let swept = false
  const client = locks(network.endpointOf(sweeper), { table: 'Locks', runtime: sweeper.runtime })
  void client.sweep().then(
    () => (swept = true),
    () => undefined,
  )
  await scheduler.run(() => swept)
  if (!swept) judge.blame('left-over', 'the sweep did not end')
  for (const item of table.items()) {
    const { pk, sk } = item as unknown as { readonly pk: { S: string }; readonly sk: { S: string } }
    if (sk.S !== '.tickets' && !sk.S.endsWith('/lock')) judge.blame('left-over', `${pk.S} ${sk.S}`)
  }
}
