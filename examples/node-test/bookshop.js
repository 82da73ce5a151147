// The code under test: it takes a DynamoDBClient and knows nothing of Seriatim.
import { GetItemCommand, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'

export class Bookshop {
  #client

  constructor(client) {
    this.#client = client
  }

  async addBook(id, copies) {
    await this.#client.send(
      new PutItemCommand({
        TableName: 'Books',
        Item: { id: { S: id }, copies: { N: String(copies) } },
        ConditionExpression: 'attribute_not_exists(id)',
      }),
    )
  }

  /** Sells one copy, and resolves to the number that is left. */
  async sell(id) {
    const { Attributes } = await this.#client.send(
      new UpdateItemCommand({
        TableName: 'Books',
        Key: { id: { S: id } },
        UpdateExpression: 'ADD copies :less',
        ConditionExpression: 'copies > :none',
        ExpressionAttributeValues: { ':less': { N: '-1' }, ':none': { N: '0' } },
        ReturnValues: 'UPDATED_NEW',
      }),
    )
    return Number(Attributes.copies.N)
  }

  /** Keeps a copy aside until then; a time to live removes what was not fetched. */
  async reserve(id, customer, untilMs) {
    const expires = String(Math.floor(untilMs / 1000))
    await this.#client.send(
      new PutItemCommand({
        TableName: 'Reservations',
        Item: { id: { S: id }, customer: { S: customer }, expires: { N: expires } },
      }),
    )
  }

  async reservedBy(id) {
    const { Item } = await this.#client.send(
      new GetItemCommand({ TableName: 'Reservations', Key: { id: { S: id } } }),
    )
    return Item?.customer.S
  }
}
