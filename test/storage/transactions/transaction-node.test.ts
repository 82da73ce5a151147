import { openLocalNode } from '../../../src/storage/folder/open-local-node.js'
import { testFolder } from '../../support/folder.js'
import { testRuntime } from '../../support/test-runtime.js'
import { transactionNodeSuite } from '../../suites/transaction-node.js'

transactionNodeSuite('LMDB node', async () => {
  const runtime = testRuntime(1)
  const path = testFolder()
  const node = await openLocalNode({ runtime, path })
  return {
    node,
    now: () => runtime.clock.nowMicros(),
    advanceMs: (ms) => runtime.clock.advance(ms),
    setBackMs: (ms) => runtime.clock.jump(-ms),
    reopen: async () => {
      await node.close()
      return openLocalNode({ runtime, path })
    },
  }
})
