// Each library writes and reads through `store.client()`. Run by libraries.mjs, in a folder in which all are installed.
import assert from 'node:assert/strict'
import { DynamoDBDocument, DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb'
import dynamoose from 'dynamoose'
import { Entity as ToolboxEntity } from 'dynamodb-toolbox/entity'
import { GetItemCommand } from 'dynamodb-toolbox/entity/actions/get'
import { PutItemCommand } from 'dynamodb-toolbox/entity/actions/put'
import { item } from 'dynamodb-toolbox/schema/item'
import { string } from 'dynamodb-toolbox/schema/string'
import { Table } from 'dynamodb-toolbox/table'
import { Entity } from 'electrodb'
import { open } from 'seriatim'

const store = await open({ memory: true })
await store.call('CreateTable', {
  TableName: 'Books',
  AttributeDefinitions: [
    { AttributeName: 'pk', AttributeType: 'S' },
    { AttributeName: 'sk', AttributeType: 'S' },
  ],
  KeySchema: [
    { AttributeName: 'pk', KeyType: 'HASH' },
    { AttributeName: 'sk', KeyType: 'RANGE' },
  ],
  BillingMode: 'PAY_PER_REQUEST',
})

const trials = {
  async '@aws-sdk/lib-dynamodb'() {
    const documents = DynamoDBDocument.from(store.client())
    await documents.put({ TableName: 'Books', Item: { pk: 'a', sk: 'b', pages: 1 } })
    const { Item } = await documents.get({ TableName: 'Books', Key: { pk: 'a', sk: 'b' } })
    assert.equal(Item?.pages, 1)
    const commands = DynamoDBDocumentClient.from(store.client())
    await commands.send(new PutCommand({ TableName: 'Books', Item: { pk: 'a', sk: 'c' } }))
  },

  async dynamoose() {
    dynamoose.aws.ddb.set(store.client())
    const Cat = dynamoose.model('Cats', { id: String, name: String, age: Number })
    await Cat.create({ id: '1', name: 'Tom', age: 3 })
    await Cat.update({ id: '1' }, { age: 4 })
    assert.equal((await Cat.scan().exec())[0]?.age, 4)
    await dynamoose.transaction([
      Cat.transaction.create({ id: '2', name: 'Kit', age: 1 }),
      Cat.transaction.update({ id: '1' }, { age: 5 }),
    ])
    assert.equal((await Cat.batchGet(['1', '2'])).length, 2)
    await Cat.delete('1')
    assert.equal(await Cat.get('1'), undefined)
  },

  async electrodb() {
    const model = {
      model: { entity: 'book', version: '1', service: 'library' },
      attributes: { id: { type: 'string' }, title: { type: 'string' } },
      indexes: { primary: { pk: { field: 'pk', composite: ['id'] }, sk: { field: 'sk', composite: [] } } },
    }
    const Book = new Entity(model, { client: store.client(), table: 'Books' })
    await Book.put({ id: '1', title: 'Emma' }).go()
    assert.equal((await Book.get({ id: '1' }).go()).data?.title, 'Emma')
  },

  async 'dynamodb-toolbox'() {
    const table = new Table({
      name: 'Books',
      partitionKey: { name: 'pk', type: 'string' },
      sortKey: { name: 'sk', type: 'string' },
      documentClient: DynamoDBDocumentClient.from(store.client()),
    })
    const schema = item({ pk: string().key(), sk: string().key(), title: string() })
    const Book = new ToolboxEntity({ name: 'Book', table, schema })
    await Book.build(PutItemCommand).item({ pk: 'p', sk: 's', title: 'Emma' }).send()
    const { Item } = await Book.build(GetItemCommand).key({ pk: 'p', sk: 's' }).send()
    assert.equal(Item?.title, 'Emma')
  },
}

for (const [name, run] of Object.entries(trials)) {
  try {
    await run()
    console.log(`${name}: ok`)
  } catch (error) {
    process.exitCode = 1
    console.log(`${name}: ${error?.stack ?? error}`)
  }
}
await store.close()
