import { realRuntime } from '../../../src/runtime/real-runtime.js'
import { openLocalNode } from '../../../src/storage/folder/open-local-node.js'
import { testFolder } from '../../support/folder.js'
import { storageNodeSuite } from '../../suites/storage-node.js'

storageNodeSuite('LMDB node', () => openLocalNode({ runtime: realRuntime(), path: testFolder() }))
// Everything goes to the index at once, in small commits, so that readers meet it there too.
storageNodeSuite('LMDB node that applies at once', () =>
  openLocalNode({
    runtime: realRuntime(),
    path: testFolder(),
    tuning: { overlayBytesMax: 3000, applyDelayMs: 0, applyChangesMax: 2, segmentBytesMax: 2000 },
  }),
)
