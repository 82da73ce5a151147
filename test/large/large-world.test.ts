import { test } from 'node:test'
import { open } from '../../src/store/store.js'
import { testFolder } from '../support/folder.js'
import { LargeWorld } from './large-world.js'
import { sized } from '../support/sizes.js'

const BURST_WRITES = sized(12_000, 50_000)

for (const [place, nodes, keys] of [
  ['on disk', 1, sized(10_000, 40_000)],
  ['on disk', 4, sized(6_000, 25_000)],
  ['in memory', 1, sized(6_000, 25_000)],
] as const) {
  test(`large world: right after a burst of writes every read is that of a map (${nodes} nodes, ${place})`, async () => {
    await using store = await open({
      ...(place === 'on disk' ? { path: testFolder() } : { memory: true }),
      nodes,
    })
    const world = new LargeWorld(store, { seed: nodes, keys, burstWrites: BURST_WRITES, writers: 4 })
    await world.create()
    await world.burst()
    await world.compare()
  })
}
