// A process that takes a lock again and again and works on a file that its parent writes for it.
//   node worker.js ENDPOINT TABLE LEASE_MS ROUNDS polite|rude
// A rude one does not look at the signal before it writes: only the fence stops it.
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { locks } from '../../../src/toolkit/index.js'

export type ToParent =
  | { readonly type: 'read'; readonly fence: string }
  | { readonly type: 'write'; readonly fence: string; readonly value: number }
  | { readonly type: 'done'; readonly lost: number }
export type ToWorker = { readonly accepted: boolean; readonly value: number }

const [endpoint = '', table = '', leaseMs = '', rounds = '', manners = ''] = process.argv.slice(2)
const client = new DynamoDBClient({
  endpoint,
  region: 'us-east-1',
  credentials: { accessKeyId: 'A', secretAccessKey: 's' },
})
const file = locks(client, { table, leaseMs: Number(leaseMs), waitMs: Infinity, label: `pid ${process.pid}` })

function ask(message: ToParent): Promise<ToWorker> {
  return new Promise((resolve) => {
    process.once('message', (answer) => resolve(answer as ToWorker))
    process.send!(message)
  })
}

let lost = 0
for (let round = 0; round < Number(rounds);) {
  await using lock = await file.acquire('file')
  const fence = String(lock.fence)
  const { accepted, value } = await ask({ type: 'read', fence })
  if (!accepted || (manners === 'polite' && lock.signal.aborted)) {
    lost++
    continue
  }
  const written = await ask({ type: 'write', fence, value: value + 1 })
  if (written.accepted) round++
  else lost++
}
client.destroy()
process.send!({ type: 'done', lost } satisfies ToParent)
process.disconnect()
