// Writes until it is killed; says on its standard output what was acknowledged. Started by folder.test.ts.
import { writeSync } from 'node:fs'
import { realRuntime } from '../../../src/runtime/real-runtime.js'
import { openLocalNode } from '../../../src/storage/folder/open-local-node.js'
import { number, plain, plainItem, put } from '../../suites/tables.js'

const [path, round] = process.argv.slice(2)
const node = await openLocalNode({
  runtime: realRuntime(),
  path: path as string,
  tuning: { segmentBytesMax: 20_000, applyDelayMs: 1, applyChangesMax: 20 },
})
let next = Number(round) * 1_000_000
await Promise.all(
  Array.from({ length: 10 }, async (_, client) => {
    while (next < (Number(round) + 1) * 1_000_000) {
      const v = next++
      const id = `c${client}-${v % 7}`
      await put(node, plain, plainItem(id, { v: number(v), filler: { S: 'x'.repeat(v % 500) } }))
      writeSync(1, `${id} ${v}\n`)
    }
  }),
)
