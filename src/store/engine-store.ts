// A store on an engine that other servers use, too: `open({ engine })`.
//
//   engine --> one engine node --> catalogue with a lease, coordinator, recovery, router: as in any other store
//
// What needs the memory of one owner is left out of the table of operations: snapshots and units on the server, explicit locks,
// WaitForItem. They answer UnknownOperationException, by which the toolkit knows that it has to use its protocols for any endpoint.
import type { Engine } from '../engine/engine.js'
import { enginePlacement } from '../coordinator/engine-placement.js'
import type { Runtime } from '../runtime/runtime.js'
import { CATALOGUE_LEASE_MS, LATE_STEP_MS } from '../storage/engine/catalogue-lease.js'
import { engineRules, openEngineNode } from '../storage/engine/engine-node.js'
import type { StoreParts } from './local-store.js'

/** How servers on one engine follow each other. All of them need the same. */
export interface FleetOptions {
  /** How long a server may use its tables after it has read what they are, in milliseconds; 10,000 by default. */
  readonly leaseMs?: number
  /** How long after that a step that was on its way may still arrive; 20,000 by default. */
  readonly lateMs?: number
  /** How often a server looks whether another has changed a table; 2,000 by default. */
  readonly refreshMs?: number
  /** Told of every call of the engine: for metrics. */
  readonly counted?: (what: 'cas' | 'refused' | 'unknown' | 'unresolved') => void
}

export type EngineStoreParts = Pick<
  StoreParts,
  | 'nodes'
  | 'placement'
  | 'rules'
  | 'sharedJournal'
  | 'isSoleOwner'
  | 'hasUnits'
  | 'staleMs'
  | 'refreshMs'
  | 'closed'
>

/** What `openStore` needs to know of an engine. The engine is closed with the store. */
export async function engineParts(
  engine: Engine,
  runtime: Runtime,
  fleet: FleetOptions,
  onError: (error: unknown) => void,
): Promise<EngineStoreParts> {
  const { leaseMs = CATALOGUE_LEASE_MS, lateMs = LATE_STEP_MS, refreshMs, counted } = fleet
  const node = await openEngineNode({
    engine,
    runtime,
    onError,
    tuning: { leaseMs },
    ...(counted && { counted }),
  })
  return {
    nodes: [node],
    placement: enginePlacement(node),
    rules: engineRules,
    sharedJournal: false,
    isSoleOwner: false,
    hasUnits: false,
    staleMs: leaseMs + lateMs,
    ...(refreshMs !== undefined && { refreshMs }),
    closed: () => engine.close(),
  }
}
