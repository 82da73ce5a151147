// How a table was defined, beside its export: what CreateTable needs to make it again.
import type { CreateTableCommandInput, DynamoDB, TableDescription } from '@aws-sdk/client-dynamodb'

export const TABLE_FILE = 'seriatim-table.json'

/** What is kept of it. */
export interface TableFile {
  readonly create: CreateTableCommandInput
  /** The attribute by which items expire. */
  readonly timeToLive?: string
}

export async function describedTable(client: DynamoDB, table: TableDescription): Promise<TableFile> {
  const timeToLive = await client
    .describeTimeToLive({ TableName: table.TableName })
    .then(({ TimeToLiveDescription: ttl }) =>
      ttl?.TimeToLiveStatus === 'ENABLED' ? ttl.AttributeName : undefined,
    )
    // Not every endpoint has it.
    .catch(() => undefined)
  const indexes = (
    list: TableDescription['GlobalSecondaryIndexes'] | TableDescription['LocalSecondaryIndexes'],
  ) => list?.map(({ IndexName, KeySchema, Projection }) => ({ IndexName, KeySchema, Projection }))
  const { StreamSpecification: stream } = table
  return {
    create: {
      TableName: table.TableName,
      KeySchema: table.KeySchema,
      AttributeDefinitions: table.AttributeDefinitions,
      // Capacity is for those who pay for it: whoever imports decides.
      BillingMode: 'PAY_PER_REQUEST',
      ...(table.GlobalSecondaryIndexes && { GlobalSecondaryIndexes: indexes(table.GlobalSecondaryIndexes) }),
      ...(table.LocalSecondaryIndexes && { LocalSecondaryIndexes: indexes(table.LocalSecondaryIndexes) }),
      ...(stream?.StreamEnabled === true && { StreamSpecification: stream }),
    },
    ...(timeToLive !== undefined && { timeToLive }),
  }
}
