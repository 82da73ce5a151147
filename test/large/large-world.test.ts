import { test } from 'node:test'
import { open } from '../../src/store/store.js'
import { testFolder } from '../support/folder.js'
import { LargeWorld } from './large-world.js'

for (const [place, nodes, keys] of [
  ['on disk', 1, 40_000],
  ['on disk', 4, 25_000],
  ['in memory', 1, 25_000],
] as const) {
  test(`large world: right after a burst of 50,000 writes every read is that of a map (${nodes} nodes, ${place})`, async () => {
    await using store = await open({
      ...(place === 'on disk' ? { path: testFolder() } : { memory: true }),
      nodes,
    })
    const world = new LargeWorld(store, { seed: nodes, keys, burstWrites: 50_000, writers: 4 })
    await world.create()
    await world.burst()
    await world.compare()
  })
}
