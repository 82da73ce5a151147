// A process that takes a lock, says so, and holds it until it is asked to end.
//   node holder.js ENDPOINT TABLE
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { locks } from '../../../src/toolkit/index.js'

const [endpoint = '', table = ''] = process.argv.slice(2)
const client = new DynamoDBClient({
  endpoint,
  region: 'us-east-1',
  credentials: { accessKeyId: 'A', secretAccessKey: 's' },
})
await locks(client, { table, releaseOn: ['SIGTERM'] }).acquire('a')
process.send!('held')
process.channel?.unref()
// Nothing of a lock keeps a process alive.
setInterval(() => undefined, 1_000)
