// Opens a data folder, says its process id, and keeps the folder until it is killed. Started by owner.test.ts.
import { realRuntime } from '../../../src/runtime/real-runtime.js'
import { openLocalNode } from '../../../src/storage/folder/open-local-node.js'

await openLocalNode({ runtime: realRuntime(), path: process.argv[2] as string })
console.log(process.pid)
setInterval(() => undefined, 1_000_000)
