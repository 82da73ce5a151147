// A store with ledger tables, and its operations as the wire has them.
import { type CreateTableCommandInput, DynamoDB } from '@aws-sdk/client-dynamodb'
import type { TestContext } from 'node:test'
import { type ManualClock, manualClock } from '../../src/runtime/manual-clock.js'
import { open, type OpenOptions, type Store } from '../../src/store/store.js'

export const START_MS = Date.parse('2030-01-01T12:00:00.250Z')

export interface LedgerStore {
  readonly store: Store
  readonly clock: ManualClock
  readonly url: string
  readonly dynamodb: DynamoDB
  /** An operation of Seriatim's own; an error rejects with its name and message. */
  readonly ask: <Answer = Readonly<Record<string, unknown>>>(
    operation: string,
    input: object,
  ) => Promise<Answer>
}

export async function openLedger(t: TestContext, options: Partial<OpenOptions> = {}): Promise<LedgerStore> {
  const clock = manualClock(START_MS)
  const place = 'path' in options ? {} : { memory: true }
  const store = await open({ ...place, clock, ...options } as OpenOptions)
  t.after(() => store.close())
  const { url } = await store.listen({ port: 0 })
  const dynamodb = clientOf(url)
  t.after(() => dynamodb.destroy())
  return { store, clock, url, dynamodb, ask: asking(url) }
}

export const clientOf = (endpoint: string): DynamoDB =>
  new DynamoDB({
    endpoint,
    region: 'us-east-1',
    maxAttempts: 1,
    credentials: { accessKeyId: 'k', secretAccessKey: 's' },
  })

export const asking =
  (url: string): LedgerStore['ask'] =>
  async <Answer>(operation: string, input: object): Promise<Answer> => {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': `Seriatim_20261101.${operation}`,
      },
      body: JSON.stringify(input),
    })
    const answer = (await response.json()) as { readonly __type?: string; readonly message?: string }
    if (!response.ok) throw new Error(`${answer.__type?.split('#')[1]}: ${answer.message}`)
    return answer as Answer
  }

export const LEDGER_TAG = { Key: 'seriatim:ledger', Value: 'true' }

export const ledgerTable = (
  TableName: string,
  more: Partial<CreateTableCommandInput> = {},
): CreateTableCommandInput => ({
  TableName,
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [{ AttributeName: 'vin', AttributeType: 'S' }],
  KeySchema: [{ AttributeName: 'vin', KeyType: 'HASH' }],
  Tags: [LEDGER_TAG],
  ...more,
})

export const Key = (vin: string): { readonly vin: { readonly S: string } } => ({ vin: { S: vin } })

/** Puts an item with an owner, so that each put changes it. */
export const own = (dynamodb: DynamoDB, TableName: string, vin: string, owner: string): Promise<unknown> =>
  dynamodb.putItem({ TableName, Item: { ...Key(vin), owner: { S: owner } } })

export interface DigestAnswer {
  readonly Digest: string
  readonly Size: number
  readonly Checkpoint: string
  readonly Key: string
  readonly ConsistencyProof?: readonly string[]
}

export interface RevisionAnswer {
  readonly Metadata: {
    readonly Version: number
    readonly Event: string
    readonly TransactionId: string
    readonly Cause: string
    readonly Id: string
  }
  readonly BlockAddress: { readonly SequenceNumber: number; readonly StrandId: string }
  readonly Data?: { readonly owner?: { readonly S: string } }
  readonly Redacted?: boolean
  readonly Hash: string
}

export interface RevisionsAnswer {
  readonly Revisions: readonly RevisionAnswer[]
  readonly NextToken?: string
}
