// A store on an engine that other servers use, too: `open({ engine })`.
//
//   engine --> one engine node --> catalogue with a lease, coordinator, recovery, router: as in any other store
//
// What needs the memory of one owner is left out of the table of operations: snapshots and units on the server, explicit locks,
// WaitForItem. They answer UnknownOperationException, by which the toolkit knows that it has to use its protocols for any endpoint.
import type { Engine } from '../engine/engine.js'
import { enginePlacement } from '../coordinator/engine-placement.js'
import type { Runtime } from '../runtime/runtime.js'
import { newSecret } from '../router/request/passes.js'
import type { StorageNode } from '../storage/contract/storage-node.js'
import { CATALOGUE_LEASE_MS, LATE_STEP_MS } from '../storage/engine/catalogue-lease.js'
import { EngineMeter } from '../storage/engine/engine-meter.js'
import { engineRules, openEngineNode } from '../storage/engine/engine-node.js'
import type { FleetOptions, StoreEngine } from './fleet-options.js'
import type { StoreParts } from './local-store.js'

export type EngineStoreParts = Pick<
  StoreParts,
  | 'nodes'
  | 'placement'
  | 'rules'
  | 'sharedJournal'
  | 'isSoleOwner'
  | 'secret'
  | 'hasUnits'
  | 'leaseMs'
  | 'staleMs'
  | 'refreshMs'
  | 'metrics'
  | 'closed'
>

/** What `openStore` needs to know of an engine. The engine is closed with the store. */
export async function engineParts(
  given: StoreEngine,
  runtime: Runtime,
  fleet: FleetOptions,
  onError: (error: unknown) => void,
): Promise<EngineStoreParts> {
  if (!isEngine(given))
    throw new TypeError('engine takes what cassandra() of seriatim/engine/cassandra gives')
  const engine = given
  const { leaseMs = CATALOGUE_LEASE_MS, lateMs = LATE_STEP_MS, refreshMs, counted } = fleet
  const meter = new EngineMeter(runtime.clock)
  const node = await openEngineNode({
    engine: meter.of(engine),
    runtime,
    onError,
    tuning: { leaseMs },
    counted: (what) => {
      meter.doubt(what)
      counted?.(what)
    },
    stepCounted: (what) => meter.step(what),
  })
  return {
    nodes: [node],
    placement: enginePlacement(node),
    rules: engineRules,
    sharedJournal: false,
    isSoleOwner: false,
    secret: await sharedSecret(node, runtime),
    hasUnits: false,
    leaseMs,
    staleMs: leaseMs + lateMs,
    ...(refreshMs !== undefined && { refreshMs }),
    metrics: () => meter.text(),
    closed: () => engine.close(),
  }
}

const SECRET = 'passes/secret'
const ATTEMPTS_MAX = 5

/** What NextTokens are sealed with: a client goes on reading at any server of the fleet. The first one makes it. */
async function sharedSecret(node: StorageNode, runtime: Runtime): Promise<string> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const held = (await node.readMeta(SECRET)).find(({ name }) => name === SECRET)
    if (held !== undefined) return Buffer.from(held.value).toString()
    const value = Buffer.from(newSecret(runtime))
    if (await node.writeMetaIf({ name: SECRET }, [{ name: SECRET, value }])) return value.toString()
  }
  throw new Error(
    'The engine keeps no secret for NextTokens: each attempt to write one found another server ahead',
  )
}

const isEngine = (given: StoreEngine): given is Engine =>
  ['read', 'cas', 'write', 'range'].every((call) => typeof (given as never)[call] === 'function')
