// The long form of http-fuzz.test.ts:
//   npm run fuzz:http -- --seconds 60 --seed 1
import { parseArgs } from 'node:util'
import { compareStreams, told } from './compare.js'

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '60' }, seed: { type: 'string', default: '1' } },
})
const endMs = performance.now() + Number(values.seconds) * 1000
const { streams, asked, disagreements } = await compareStreams(
  Number(values.seed),
  () => performance.now() >= endMs,
)
for (const disagreement of disagreements.slice(0, 10)) console.log(told(disagreement))
console.log(
  `${streams} streams from seed ${values.seed}, ${asked} requests, ${disagreements.length} disagreements`,
)
process.exitCode = disagreements.length === 0 ? 0 : 1
