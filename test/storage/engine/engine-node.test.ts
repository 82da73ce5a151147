// A node on an engine keeps what every storage node promises, whatever one step of the engine spans.
import { after } from 'node:test'
import type { Engine } from '../../../src/engine/engine.js'
import { MemoryEngine } from '../../../src/engine/memory-engine.js'
import { openEngineNode } from '../../../src/storage/engine/engine-node.js'
import { realRuntime } from '../../../src/runtime/real-runtime.js'
import { apartEngine } from '../../fleet/apart.js'
import { RING, sharedEngines } from '../../fleet/shared-engines.js'
import { storageNodeSuite } from '../../suites/storage-node.js'
import { type OpenedNode, transactionNodeSuite } from '../../suites/transaction-node.js'
import { testRuntime } from '../../support/test-runtime.js'

/** In memory, or all tests apart from each other on the ring that there is. */
const ring = RING === undefined ? undefined : sharedEngines(1)[0]
after(() => ring?.close())

for (const scope of RING === undefined ? (['partition', 'store'] as const) : (['partition'] as const)) {
  const name = RING === undefined ? `engine node, scope ${scope}` : 'engine node on a ring'
  const engineOf = (): Engine => (ring === undefined ? new MemoryEngine({ scope }) : apartEngine(ring))
  storageNodeSuite(name, () => openEngineNode({ engine: engineOf(), runtime: realRuntime() }))

  const openedNode = async (): Promise<OpenedNode> => {
    const runtime = testRuntime(1)
    const engine = engineOf()
    return {
      node: await openEngineNode({ engine, runtime }),
      now: () => runtime.clock.nowMicros(),
      advanceMs: (ms) => runtime.clock.advance(ms),
      setBackMs: (ms) => runtime.clock.jump(-ms),
      reopen: () => openEngineNode({ engine, runtime }),
    }
  }
  transactionNodeSuite(name, openedNode, {
    hasOwner: false,
    oneStep: scope === 'store' ? 'node' : 'partition',
  })
}
