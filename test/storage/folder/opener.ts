// Opens a data folder, whatever format it has, adds to what it holds, and closes it: a process that is killed on the way. Its clock
// stands where the folder was written: what is kept for some days only is there whenever the test runs.
import { manualClock } from '../../../src/runtime/manual-clock.js'
import { open } from '../../../src/store/store.js'

const [, , path = '', writtenMs] = process.argv
const clock = manualClock(Number(writtenMs))
const store = await open({ path, clock, ledgerCopies: 'adopt' })
// In the form of this version, beside what is there in that of an earlier one.
for (const n of ['1', '2'])
  await store.call('PutItem', { TableName: 'Things', Item: { id: { S: 'more' }, n: { N: n } } })
await store.call('DeleteItem', { TableName: 'Things', Key: { id: { S: 'more' } } })
await store.close()
