import { realRuntime } from '../../../src/runtime/real-runtime.js'
import { openLocalNode } from '../../../src/storage/folder/open-local-node.js'
import { storageNodeSuite } from '../../suites/storage-node.js'
import { type OpenedNode, transactionNodeSuite } from '../../suites/transaction-node.js'
import { unitNodeSuite } from '../../suites/unit-node.js'
import { testRuntime } from '../../support/test-runtime.js'

async function openedNode(): Promise<OpenedNode> {
  const runtime = testRuntime(1)
  return {
    node: await openLocalNode({ runtime, memory: true }),
    now: () => runtime.clock.nowMicros(),
    advanceMs: (ms) => runtime.clock.advance(ms),
    setBackMs: (ms) => runtime.clock.jump(-ms),
  }
}

storageNodeSuite('memory node', () => openLocalNode({ runtime: realRuntime(), memory: true }))
transactionNodeSuite('memory node', openedNode)
unitNodeSuite('units, memory node', openedNode)
