// Seriatim beside its peers: all servers run and are filled first, then each round asks each of them each workload,
// one after another, so that whatever else the machine does meets all of them.
import { type BenchGroup, groupOf, type Measurement } from '../bench.js'
import { dropTables, fillPeerTables } from '../../src/bench/fill.js'
import type { Generator } from '../../src/bench/load/generator-process.js'
import { measure } from '../../src/bench/measure.js'
import type { UnitRecord } from '../records.js'
import type { BesideClients } from '../presets.js'
import type { TargetName } from '../targets/commands.js'
import { endpointServer } from '../../src/bench/targets/server.js'
import { startTarget, type Target } from '../targets/target.js'
import {
  ITEM_TABLE,
  PARTITION_TABLE,
  type Scale,
  type Workload,
  isJudged,
} from '../../src/bench/load/workloads.js'

export interface PeerOptions {
  readonly targets: readonly TargetName[]
  /** A server that somebody else has started. */
  readonly endpoint?: string
  readonly workloads: readonly Workload[]
  readonly scale: Scale
  readonly clients: readonly number[]
  readonly beside?: BesideClients
  /** Of an open loop, in requests a second; undefined: closed. */
  readonly rate?: number
  readonly rounds: number
  /** Instead, for operations by which the store is not judged. */
  readonly otherRounds?: number
  readonly warmupMs: number
  /** Instead, when a server meets an operation for the first time. */
  readonly firstWarmupMs: number
  readonly durationMs: number
  /** Instead, for operations by which the store is judged. */
  readonly judgedMs?: number
}

const START_AND_FILL_MS = 5000
const BETWEEN_MS = 60

interface PeerLoad {
  readonly clients: number
  /** Names of workloads; all if absent. */
  readonly operations?: readonly string[]
  readonly rounds: number
  readonly warmupMs: number
  readonly durationMs: number
}

export function peerGroup(options: PeerOptions): BenchGroup {
  const { targets, endpoint, workloads, clients, beside, rate, rounds, durationMs } = options
  const names: readonly string[] = endpoint === undefined ? targets : [...targets, 'endpoint']
  const loads: readonly PeerLoad[] = [
    ...clients.map((count) => ({ clients: count, rounds, warmupMs: options.warmupMs, durationMs })),
    ...(beside?.clients ?? []).map((count) => ({ ...beside!, clients: count })),
  ]
  const units: (Measurement & { run(peers: Peers): Promise<UnitRecord> })[] = []
  for (let round = 1; round <= Math.max(...loads.map(({ rounds }) => rounds)); round++) {
    for (const [at, each] of loads.entries()) {
      if (round > each.rounds) continue
      const warmupMs = round === 1 && at === 0 ? options.firstWarmupMs : each.warmupMs
      for (const workload of workloads) {
        if (each.operations?.includes(workload.name) === false) continue
        if (!isJudged(workload) && round > (options.otherRounds ?? each.rounds)) continue
        const isLonger = at < clients.length && isJudged(workload)
        const load = {
          ...each,
          warmupMs,
          durationMs: (isLonger ? options.judgedMs : undefined) ?? each.durationMs,
        }
        for (const target of names) {
          const name = rate === undefined ? `${load.clients} clients` : `${rate} a second`
          units.push({
            id: `peers/${workload.name}/${name}/${target}/round ${round}`,
            estimateMs: load.warmupMs + load.durationMs + BETWEEN_MS,
            run: (peers) => measurePeer(peers, { target, workload, load, rate, round }),
          })
        }
      }
    }
  }
  return groupOf({
    name: 'peers',
    setupMs: START_AND_FILL_MS * names.length,
    units,
    open: (generator) => openPeers(options, generator),
    close: closePeers,
  })
}

interface Peers {
  readonly generator: Generator
  readonly running: ReadonlyMap<string, Target>
  readonly missing: ReadonlyMap<string, string>
}

async function openPeers({ targets, endpoint, scale }: PeerOptions, generator: Generator): Promise<Peers> {
  const missing = new Map<string, string>()
  const running = new Map<string, Target>()
  const peers: Peers = { generator, running, missing }
  try {
    for (const name of targets) {
      const target = await startTarget(name)
      if ('missing' in target) missing.set(name, target.missing)
      else running.set(name, target)
    }
    for (const [name, target] of running) {
      if (name !== 'bare') await fillPeerTables(target.endpoint, scale)
    }
    if (endpoint !== undefined) {
      await fillPeerTables(endpoint, scale)
      running.set('endpoint', endpointServer(endpoint))
    }
    return peers
  } catch (error) {
    await closePeers(peers)
    throw error
  }
}

async function closePeers({ running }: Peers): Promise<void> {
  const other = running.get('endpoint')
  if (other !== undefined) await dropTables(other.endpoint, [ITEM_TABLE, PARTITION_TABLE])
  await Promise.all([...running.values()].map((target) => target.stop()))
}

async function measurePeer(
  { generator, running, missing }: Peers,
  {
    target: name,
    workload,
    load: { clients, warmupMs, durationMs },
    rate,
    round,
  }: {
    readonly target: string
    readonly workload: Workload
    readonly load: PeerLoad
    readonly rate: number | undefined
    readonly round: number
  },
): Promise<UnitRecord> {
  const target = running.get(name)
  if (target === undefined) return { kind: 'missing', target: name, reason: missing.get(name) ?? '' }
  const measured = await measure(generator, target, {
    mix: [{ weight: 1, workload }],
    mode:
      rate === undefined
        ? { kind: 'closed', clients }
        : { kind: 'open', perSecond: rate, connections: clients, spacing: 'poisson' },
    warmupMs,
    durationMs,
    seed: round,
  })
  return {
    kind: 'peer',
    target: name,
    workload: workload.name,
    clients,
    rate: rate ?? null,
    round,
    measured,
  }
}
