// The code under test, as it is deployed: its client finds the endpoint, the region and the keys in the environment.
const { DynamoDBClient, GetItemCommand, PutItemCommand } = require('@aws-sdk/client-dynamodb')

const client = new DynamoDBClient()
const TableName = 'shop-sessions-test'

exports.userOf = async (id) =>
  (await client.send(new GetItemCommand({ TableName, Key: { id: { S: id } } }))).Item?.user.S

exports.begin = (id, user) =>
  client.send(
    new PutItemCommand({
      TableName,
      Item: { id: { S: id }, user: { S: user } },
      ConditionExpression: 'attribute_not_exists(id)',
    }),
  )
