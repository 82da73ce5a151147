import { realRuntime } from '../../src/runtime/real-runtime.js'
import { openLocalNode } from '../../src/storage/folder/open-local-node.js'
import type { StorageNode } from '../../src/storage/contract/storage-node.js'
import { FRAME_HEAD_BYTES } from '../../src/workers/bytes.js'
import { Channel } from '../../src/workers/channel.js'
import { nodeServices, remoteNode } from '../../src/workers/node-calls.js'
import { storageNodeSuite } from '../suites/storage-node.js'
import { type OpenedNode, transactionNodeSuite } from '../suites/transaction-node.js'
import { unitNodeSuite } from '../suites/unit-node.js'
import { testRuntime } from '../support/test-runtime.js'

/** The node as another worker sees it: every call goes over as bytes. */
function remotely(node: StorageNode, defer: (callback: () => void) => void = setImmediate): StorageNode {
  const callee: Channel = new Channel({
    runtime: { defer },
    services: nodeServices(node),
    send: (message) => caller.receive(message.subarray(FRAME_HEAD_BYTES)),
  })
  const caller = new Channel({
    runtime: { defer },
    services: [],
    send: (message) => callee.receive(message.subarray(FRAME_HEAD_BYTES)),
  })
  return { ...remoteNode(caller, 0), unitsHeld: node.unitsHeld, close: () => node.close() }
}

async function openedNode(): Promise<OpenedNode> {
  const runtime = testRuntime(1)
  const node = await openLocalNode({ runtime, memory: true })
  // At once: the tests let time pass in the turn in which they call.
  const remote = remotely(node, (callback) => callback())
  return {
    node: Object.defineProperty({ ...remote }, 'unitsHeld', { get: () => node.unitsHeld }),
    now: () => runtime.clock.nowMicros(),
    advanceMs: (ms) => runtime.clock.advance(ms),
    setBackMs: (ms) => runtime.clock.jump(-ms),
  }
}

storageNodeSuite('node of another worker', async () =>
  remotely(await openLocalNode({ runtime: realRuntime(), memory: true })),
)
transactionNodeSuite('node of another worker', openedNode)
unitNodeSuite('units, node of another worker', openedNode)
