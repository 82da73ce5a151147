// The code under test, as it is deployed: its client finds the endpoint, the region and the keys in the environment.
import { DynamoDBClient, PutItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb'

const client = new DynamoDBClient()
const TableName = 'orders-test'

export async function ordersOf(customer) {
  const { Items } = await client.send(
    new QueryCommand({
      TableName,
      KeyConditionExpression: 'customer = :c',
      ExpressionAttributeValues: { ':c': { S: customer } },
    }),
  )
  return Items.map(({ number }) => Number(number.N))
}

export async function place(customer, number, total) {
  await client.send(
    new PutItemCommand({
      TableName,
      Item: { customer: { S: customer }, number: { N: String(number) }, total: { N: String(total) } },
      ConditionExpression: 'attribute_not_exists(customer)',
    }),
  )
}
