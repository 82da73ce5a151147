// A machine that does everything itself, as `seriatim start` does: beside its nodes run a coordinator and recovery that
// call them without a network between.
//
//   client ----network----> coordinator --call--> node, ledger      nothing is lost, repeated or overtaken on the way;
//                           recovery ----call--/                    whoever answers and whoever asks crash together
//
// What a coordinator spares itself where no call can be lost (fences, records of transactions in one round) is tried here
// alone: between processes it does none of it. And requests that arrive while the process is busy are begun in one turn, so
// that their steps come between each other's.
import { type CoordinatedNode, openCoordinator } from '../src/coordinator/coordinator.js'
import { startRecovery } from '../src/recovery/recovery.js'
import { LEDGER_METHODS, TRANSACTION_METHODS, UNIT_METHODS } from './node-methods.js'
import {
  type Cluster,
  coordinatorServices,
  placementOf,
  RECOVERY_TIMES,
  WRITE_DEADLINE_MS,
} from './processes.js'
import type { Life, Services } from './process.js'
import type { Watched } from './witness.js'
import { calledWithin, inTurns, type RunningNode, singleItems } from './within.js'
import { servicesOfFirst } from './workers/worker.js'

type WithinCluster = Pick<Cluster, 'rules' | 'around' | 'knobs' | 'onBroken' | 'group' | 'witness'>

/** What such a machine offers to clients, once it has finished what the life before left. */
export async function serveWithin(
  { rules, around, knobs, onBroken, group, witness }: WithinCluster,
  life: Life,
  running: readonly RunningNode[],
): Promise<Services> {
  const called = <T extends object>(target: T, methods: readonly (keyof T & string)[]): T =>
    calledWithin(life, target, methods, onBroken)
  const nodes = running.map(({ node, watched, ledger }): CoordinatedNode => ({
    ...called<Watched>(watched, [...TRANSACTION_METHODS, ...UNIT_METHODS]),
    ledger: called(ledger, LEDGER_METHODS),
    get unitsHeld() {
      return node.unitsHeld
    },
  }))
  const places = {
    runtime: life.runtime,
    nodes,
    placement: placementOf(nodes.length),
  }
  const onError = (): void => around.tally.add('recovery error')
  const recovery = startRecovery({ ...places, tuning: RECOVERY_TIMES, onError })
  for (const [position, { node }] of running.entries()) node.onStalled((tx) => recovery.report(position, tx))
  await recovery.takeOver()
  const coordinator = openCoordinator({
    ...places,
    rules,
    sharedJournal: true,
    tuning: { deadlineMs: WRITE_DEADLINE_MS, completionsMax: knobs.completionsMax },
  })
  const items = running.map(({ service, watched }) => [service, singleItems(watched, coordinator)] as const)
  const services = coordinatorServices(life.runtime, coordinator, nodes)
  // Connections are accepted when all workers can take them.
  await group?.open(life, servicesOfFirst(witness, nodes, running, services.units))
  return inTurns(life, { ...services, ...Object.fromEntries(items) })
}
