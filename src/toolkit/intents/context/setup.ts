// The table of transaction records.
import { layoutProblem } from '../protocol/setup-check.js'
import type { IntentsContext } from './context.js'

const ACTIVE_ROUNDS_MAX = 300
const ACTIVE_MS = 200

/** Creates the table, or verifies the one that is there. */
export async function setupRecords({ caller, records, layouts }: IntentsContext): Promise<void> {
  const usage = { requests: 0, capacity: 0 }
  const reply = await caller.send(
    'CreateTable',
    {
      TableName: records,
      KeySchema: [
        { AttributeName: 'id', KeyType: 'HASH' },
        { AttributeName: 'part', KeyType: 'RANGE' },
      ],
      AttributeDefinitions: [
        { AttributeName: 'id', AttributeType: 'S' },
        { AttributeName: 'part', AttributeType: 'S' },
      ],
      BillingMode: 'PAY_PER_REQUEST',
    },
    usage,
  )
  if (!reply.ok && reply.error.name !== 'ResourceInUseException') throw reply.error
  for (let rounds = 0; rounds < ACTIVE_ROUNDS_MAX; rounds++) {
    const { Table } = await caller.read('DescribeTable', { TableName: records }, usage)
    if (Table?.TableStatus === 'ACTIVE') {
      const problem = layoutProblem(await layouts.of(records))
      if (problem !== undefined)
        throw new Error(`the table ${records} cannot hold transaction records: ${problem}`)
      return
    }
    await caller.sleep(ACTIVE_MS)
  }
  throw new Error(`the table ${records} has not become active`)
}
