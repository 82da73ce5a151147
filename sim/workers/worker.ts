// A worker beside the first of a simulated server: a coordinator of its own upon remote nodes, as src/store/worker-store.ts makes it.
// What units of work ask is handed on as a whole.
//
//   client --> worker: coordinator, single items --channel--> nodeServices --> watched nodes of the machine
//                  \-> units of work --channel--> the machine's own coordinator
import { type CoordinatedNode, openCoordinator } from '../../src/coordinator/coordinator.js'
import type { StorageNode } from '../../src/storage/contract/storage-node.js'
import type { Channel, Method, Service } from '../../src/workers/channel.js'
import { nodeServices, remoteNode, SERVICES_OF_NODE } from '../../src/workers/node-calls.js'
import { LEDGER_METHODS, TRANSACTION_METHODS, UNIT_METHODS } from '../node-methods.js'
import { calledWithin, inTurns, type RunningNode, singleItems } from '../within.js'
import { type Cluster, coordinatorServices, placementOf, WRITE_DEADLINE_MS } from '../processes.js'
import type { Life, Services } from '../process.js'
import type { SentWork, UnitService } from '../unit-service.js'
import type { RequestUnit } from '../../src/router/units/unit.js'
import type { Watched, Witness } from '../witness.js'

const HUB = 0
const FIRST_NODE = 1
const UNIT_CALLS = [
  'unitGetItems',
  'unitRange',
  'unitCommit',
  'unitEnd',
] as const satisfies readonly (keyof UnitService)[]

/** What the first worker offers on each channel: `called`, its nodes as those in its own process have them. */
export function servicesOfFirst(
  witness: Witness,
  called: readonly CoordinatedNode[],
  running: readonly RunningNode[],
  units: UnitService,
): readonly Service[] {
  const handed: UnitService = {
    ...units,
    unitCommit: (unit, work, token) => {
      witness.expect(unit.id, [...work.writes, ...work.reads, ...work.locks])
      return units.unitCommit(unit, work, token)
    },
  }
  return [
    UNIT_CALLS.map(
      (name): Method =>
        (...args: unknown[]) =>
          (handed[name] as AnyMethod)(...args),
    ),
    ...running.flatMap(({ watched: { get, write } }, at) =>
      nodeServices({ ...called[at]!, get, write } as unknown as StorageNode),
    ),
  ]
}

type AnyMethod = (...args: unknown[]) => Promise<unknown>

export function serveAsSimWorker(
  { rules, witness, nodes: simNodes, knobs, onBroken }: Cluster,
  life: Life,
  channel: Channel,
): Services {
  const remotes = simNodes.map((_, at) => remoteNode(channel, FIRST_NODE + at * SERVICES_OF_NODE))
  const called = <T extends object>(target: T, methods: readonly (keyof T & string)[]): T =>
    calledWithin(life, target, methods, onBroken)
  const nodes = remotes.map((remote): CoordinatedNode => ({
    ...called<Watched>(witness.sender(remote), [...TRANSACTION_METHODS, ...UNIT_METHODS]),
    ledger: called(remote.ledger, LEDGER_METHODS),
    unitsHeld: remote.unitsHeld,
  }))
  const coordinator = openCoordinator({
    runtime: life.runtime,
    nodes,
    placement: placementOf(nodes.length),
    rules,
    sharedJournal: true,
    tuning: { deadlineMs: WRITE_DEADLINE_MS, completionsMax: knobs.completionsMax },
  })
  const items = remotes.map((remote, at) => {
    const watched = called<Pick<Watched, 'get' | 'write'>>(remote, ['get', 'write'])
    return [simNodes[at]!.services.node, singleItems(watched, coordinator)] as const
  })
  const units = Object.fromEntries(
    UNIT_CALLS.map((name, number) => [name, (...args: unknown[]) => channel.call(HUB, number, args)]),
  ) as unknown as {
    [Name in keyof UnitService]: (unit: RequestUnit, ...rest: SentWork[]) => Promise<unknown>
  }
  return inTurns(life, {
    ...coordinatorServices(life.runtime, coordinator, nodes),
    units,
    ...Object.fromEntries(items),
  })
}
