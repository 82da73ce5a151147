// One store for each test file: vitest loads this module anew for every file, in a worker of its own.
import { afterAll, beforeEach } from 'vitest'
import { manualClock, open } from 'seriatim'

export const clock = manualClock(Date.parse('2030-01-01T00:00:00Z'))
export const store = await open({ memory: true, clock })
export const client = store.client()

beforeEach(async () => {
  await store.reset()
  await store.call('CreateTable', {
    TableName: 'Sessions',
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  })
  await store.call('UpdateTimeToLive', {
    TableName: 'Sessions',
    TimeToLiveSpecification: { AttributeName: 'expires', Enabled: true },
  })
})

afterAll(() => store.close())
