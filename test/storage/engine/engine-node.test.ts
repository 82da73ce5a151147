// A node on an engine keeps what every storage node promises, whatever one step of the engine spans.
import { MemoryEngine } from '../../../src/engine/memory-engine.js'
import { openEngineNode } from '../../../src/storage/engine/engine-node.js'
import { realRuntime } from '../../../src/runtime/real-runtime.js'
import { storageNodeSuite } from '../../suites/storage-node.js'
import { type OpenedNode, transactionNodeSuite } from '../../suites/transaction-node.js'
import { testRuntime } from '../../support/test-runtime.js'

for (const scope of ['partition', 'store'] as const) {
  storageNodeSuite(`engine node, scope ${scope}`, () =>
    openEngineNode({ engine: new MemoryEngine({ scope }), runtime: realRuntime() }),
  )

  const openedNode = async (): Promise<OpenedNode> => {
    const runtime = testRuntime(1)
    const engine = new MemoryEngine({ scope })
    return {
      node: await openEngineNode({ engine, runtime }),
      now: () => runtime.clock.nowMicros(),
      advanceMs: (ms) => runtime.clock.advance(ms),
      setBackMs: (ms) => runtime.clock.jump(-ms),
      reopen: () => openEngineNode({ engine, runtime }),
      hasOwner: false,
      oneStep: scope === 'store' ? 'node' : 'partition',
    }
  }
  transactionNodeSuite(`engine node, scope ${scope}`, openedNode)
}
