// The same for many rounds, by hand:
//   node dist/test/large/rounds.js [--rounds 100] [--keys 300000] [--burst 50000] [--nodes 1] [--memory] [--seed 1]
import { parseArgs } from 'node:util'
import { open } from '../../src/store/store.js'
import { testFolder } from '../support/folder.js'
import { LargeWorld } from './large-world.js'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '100' },
    keys: { type: 'string', default: '300000' },
    burst: { type: 'string', default: '50000' },
    nodes: { type: 'string', default: '1' },
    writers: { type: 'string', default: '4' },
    seed: { type: 'string', default: '1' },
    memory: { type: 'boolean', default: false },
  },
})
const [rounds, nodes, seed] = [values.rounds, values.nodes, values.seed].map(Number) as [
  number,
  number,
  number,
]

await using store = await open({ ...(values.memory ? { memory: true } : { path: testFolder() }), nodes })
const world = new LargeWorld(store, {
  seed,
  keys: Number(values.keys),
  burstWrites: Number(values.burst),
  writers: Number(values.writers),
})
await world.create()
for (let round = 1; round <= rounds; round++) {
  await world.burst()
  await world.compare()
  if (round % 10 === 0 || round === rounds) console.log(`${round} rounds, ${world.items} items: as the model`)
}
