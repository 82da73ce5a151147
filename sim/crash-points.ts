// Every point at which a process can crash, by name, and a run of short worlds that makes somebody crash at each of them
// in many worlds.
//
//   world 1: aims at a few points --> crashes there, by chance elsewhere too --> judged like every world
//   world 2: aims at those that have had the fewest worlds so far ...
//   ... until each has had its number, or there have been too many worlds
//
// The list is written down, not gathered: a point that has vanished is missed, and a new one must be put in.
import type { Aim } from './planned-crashes.js'
import { UNIT_METHODS } from './node-methods.js'
import { Random } from '../src/runtime/seeded-random.js'
import { type SimulationOptions, simulateWorld, type WorldResult } from './simulate.js'
import { Tally } from './faults.js'
import type { UnitService } from './unit-service.js'
import type { JournalOf, Processes } from './world.js'

type Server = 'node' | 'coordinator' | 'recovery'
type Rules = SimulationOptions['rules']

/** For units of work. */
const COORDINATOR_UNIT_METHODS: readonly (keyof UnitService)[] = [
  'unitGetItems',
  'unitRange',
  'unitCommit',
  'unitEnd',
]

/** What each asks of others. */
const CALLS: Readonly<Record<Server, readonly string[]>> = {
  coordinator: [
    'prepare',
    'commit',
    'cancel',
    'finished',
    'transact',
    'readAt',
    'readLatest',
    'begin',
    'decide',
    'complete',
    ...UNIT_METHODS,
  ],
  recovery: ['unfinished', 'stalled', 'decide', 'commit', 'cancel', 'finished', 'complete', 'purge'],
  node: ['report'],
}

/** What each is asked. */
const SERVES: Readonly<Record<Server, readonly string[]>> = {
  coordinator: ['write', 'read', ...COORDINATOR_UNIT_METHODS],
  recovery: ['report'],
  node: ['get', 'write', ...new Set([...CALLS.coordinator, ...CALLS.recovery])],
}

const NODE_STEPS = [
  'before-open',
  'after-open',
  'before-write',
  'before-sync',
  'after-sync',
  'before-truncate',
  'after-truncate',
  'before-sync-folder',
  'after-sync-folder',
  'before-remove',
  'after-remove',
  'before-apply',
  'after-apply',
  // Of an item whose last write is still on its way to the disk.
  'after-look-at-unsynced',
]

/** With the rules of section 4, and without: the other of the two ways is never gone. */
const ONLY_WITH: Readonly<Record<string, Rules>> = {
  transact: 'all',
  transactGet: 'all',
  readAt: 'all',
  readLatest: 'none',
}

const ONLY_OF_UNITS: ReadonlySet<string> = new Set([...UNIT_METHODS, ...COORDINATOR_UNIT_METHODS])

const pointsAround = (methods: readonly string[], steps: readonly string[]): readonly string[] =>
  methods.flatMap((method) => steps.map((step) => `${step}:${method}`))

const SENDING = ['before-send', 'after-send', 'before-result', 'after-result']
const RECEIVING = ['before-receive', 'after-receive', 'before-answer', 'after-answer']

const CALLING = ['before-call', 'after-call']

const isOfNoUnit = (method: string): boolean => !ONLY_OF_UNITS.has(method)

const ofNodes = (points: readonly string[]): readonly string[] => points.map((point) => `node:${point}`)

/** Of a machine that does everything itself. */
const WITHIN = [
  ...pointsAround([...new Set([...CALLS.coordinator, ...CALLS.recovery])], CALLING),
  ...pointsAround(['get', 'transactGet', ...SERVES.coordinator], RECEIVING),
  ...NODE_STEPS,
]

/** With the role of the process that crashes. */
export const CRASH_POINTS: Readonly<Record<Processes, readonly string[]>> = {
  many: [
    ...(['coordinator', 'recovery', 'node'] as const).flatMap((role) =>
      [...pointsAround(CALLS[role], SENDING), ...pointsAround(SERVES[role], RECEIVING)].map(
        (point) => `${role}:${point}`,
      ),
    ),
    ...ofNodes(NODE_STEPS),
  ],
  one: ofNodes(WITHIN),
  workers: [
    ...ofNodes(WITHIN),
    ...[
      // Units of work are handed on.
      ...pointsAround(['get', 'write', ...CALLS.coordinator.filter(isOfNoUnit)], CALLING),
      ...pointsAround(['get', 'transactGet', ...SERVES.coordinator], RECEIVING),
    ].map((point) => `worker:${point}`),
  ],
}

export interface CrashPointOptions {
  readonly seed: number
  /** How many worlds must see a crash at each point. */
  readonly seedsEach: number
  /** At most; worlds differ. */
  readonly nodes: number
  readonly faults: SimulationOptions['faults']
  readonly workloads: readonly string[]
  readonly journal?: JournalOf
  readonly processes?: Processes
  readonly onWorld?: (world: WorldResult, whenDurable: number) => void
}

export interface CrashPointReport {
  readonly worlds: number
  readonly tally: Tally
  /** In how many worlds somebody crashed there: of every point of the list, in its order. */
  readonly seedsOf: ReadonlyMap<string, number>
  /** Passed, but not in the list. */
  readonly unlisted: readonly string[]
  /** Worlds with anomalies. */
  readonly broken: readonly WorldResult[]
}

const WORLD_TRANSACTIONS = 40
const AIMS_MAX = 6
const BROKEN_MAX = 5
/** For each world that would do if every aim were met. */
const WORLDS_FACTOR_MAX = 5

export async function coverCrashPoints(options: CrashPointOptions): Promise<CrashPointReport> {
  const { seed, seedsEach, processes = 'many' } = options
  const points = CRASH_POINTS[processes]
  const seedsOf = new Map(points.map((point) => [point, 0]))
  const passesOf = new Map<string, number>()
  const unlisted = new Set<string>()
  const broken: WorldResult[] = []
  const tally = new Tally()
  const worldsMax = Math.ceil((WORLDS_FACTOR_MAX * points.length * seedsEach) / AIMS_MAX)
  let worlds = 0
  const open = (): readonly string[] => points.filter((point) => seedsOf.get(point)! < seedsEach)
  for (
    let left = open();
    left.length > 0 && worlds < worldsMax && broken.length < BROKEN_MAX;
    left = open()
  ) {
    const worldSeed = seed + worlds
    const workload = options.workloads[worldSeed % options.workloads.length] as string
    const reachable = left.filter((point) => isReached(point, workload))
    const rules = rulesOf(reachable, worlds)
    const aims = aimsOf(reachable, rules, seedsOf, passesOf, new Random(worldSeed))
    const world = await simulateWorld({ ...options, rules }, worldSeed, WORLD_TRANSACTIONS, aims)
    worlds++
    tally.addAll(world.tally)
    for (const [point, passes] of world.tally.under('point/')) {
      if (!seedsOf.has(point)) unlisted.add(point)
      passesOf.set(point, ((passesOf.get(point) ?? passes) + passes) / 2)
    }
    for (const [point] of world.tally.under('crash/'))
      if (seedsOf.has(point)) seedsOf.set(point, seedsOf.get(point)! + 1)
    if (world.anomalies.length > 0) broken.push(world)
    options.onWorld?.(world, points.length - left.length)
  }
  return { worlds, tally, seedsOf, unlisted: [...unlisted].toSorted(), broken }
}

/** In turn, but not where there is nothing left to aim at. */
function rulesOf(left: readonly string[], worlds: number): Rules {
  const rules = worlds % 2 === 0 ? 'all' : 'none'
  return left.some((point) => isPossible(point, rules)) ? rules : rules === 'all' ? 'none' : 'all'
}

const methodOf = (point: string): string => point.slice(point.lastIndexOf(':') + 1)

/** Only units of work ask for snapshots and locks. */
const isReached = (point: string, workload: string): boolean =>
  workload === 'units' || !ONLY_OF_UNITS.has(methodOf(point))

const isPossible = (point: string, rules: Rules): boolean => {
  const only = ONLY_WITH[methodOf(point)]
  return only === undefined || only === rules
}

/** At those with the fewest worlds; at an arrival that such a world should see. */
function aimsOf(
  left: readonly string[],
  rules: Rules,
  seedsOf: ReadonlyMap<string, number>,
  passesOf: ReadonlyMap<string, number>,
  random: Random,
): readonly Aim[] {
  return random
    .sample(
      left.filter((point) => isPossible(point, rules)),
      left.length,
    )
    .toSorted((a, b) => seedsOf.get(a)! - seedsOf.get(b)!)
    .slice(0, AIMS_MAX)
    .map((point) => ({ point, arrival: random.skewed(1, Math.max(1, (passesOf.get(point) ?? 1) / 2)) }))
}
