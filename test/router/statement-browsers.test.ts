// What data browsers send: the console, NoSQL Workbench and JDBC drivers (DataGrip, DBeaver) by PartiQL, dynamodb-admin by the
// other operations. Written down by the forms that they generate: quoted names, literals of all types, pages by Limit and
// NextToken, edits of one cell by its whole key, batches of rows.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { AttributeValue, DynamoDB } from '@aws-sdk/client-dynamodb'
import { open } from '../../src/store/store.js'

const TableName = 'Music-Library.v2'
const T = `"${TableName}"`

async function browsed(t: TestContext): Promise<DynamoDB> {
  const store = await open({ memory: true })
  t.after(() => store.close())
  const client = store.client()
  const key = (AttributeName: string, KeyType: 'HASH' | 'RANGE') => ({ AttributeName, KeyType })
  await client.createTable({
    TableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: ['Artist', 'SongTitle', 'Genre'].map((AttributeName) => ({
      AttributeName,
      AttributeType: 'S',
    })),
    KeySchema: [key('Artist', 'HASH'), key('SongTitle', 'RANGE')],
    GlobalSecondaryIndexes: [
      { IndexName: 'Genre-index', KeySchema: [key('Genre', 'HASH')], Projection: { ProjectionType: 'ALL' } },
    ],
  })
  return client
}

const rowsOf = async (
  client: DynamoDB,
  Statement: string,
  Parameters?: AttributeValue[],
): Promise<Record<string, AttributeValue>[]> =>
  (await client.executeStatement({ Statement, ...(Parameters && { Parameters }) })).Items ?? []

test('browsers: a row is inserted with literals of every type, and read back by the grid', async (t) => {
  const client = await browsed(t)
  await rowsOf(
    client,
    `INSERT INTO ${T} VALUE {'Artist': 'Acme', 'SongTitle': 'It''s on', 'Genre': 'Pop', 'Year': 2021, 'Price': -1.5e0,
       'Live': true, 'Label': NULL, 'Tags': <<'a', 'b'>>, 'Ratings': <<1, 2>>, 'Members': ['x', {'role': 'drums'}]}`,
  )
  assert.deepEqual(await rowsOf(client, `select * from ${T}`), [
    {
      Artist: { S: 'Acme' },
      SongTitle: { S: "It's on" },
      Genre: { S: 'Pop' },
      Year: { N: '2021' },
      Price: { N: '-1.5' },
      Live: { BOOL: true },
      Label: { NULL: true },
      Tags: { SS: ['a', 'b'] },
      Ratings: { NS: ['1', '2'] },
      Members: { L: [{ S: 'x' }, { M: { role: { S: 'drums' } } }] },
    },
  ])
  const found = await rowsOf(
    client,
    `SELECT "Artist", "Members"[1].role FROM ${T}."Genre-index" WHERE "Genre" = ?`,
    [{ S: 'Pop' }],
  )
  assert.deepEqual(found, [{ Artist: { S: 'Acme' }, role: { S: 'drums' } }])
})

test('browsers: a grid pages through a table by Limit and NextToken, with its filter and order', async (t) => {
  const client = await browsed(t)
  const Statements = Array.from({ length: 7 }, (_, at) => ({
    Statement: `INSERT INTO ${T} VALUE {'Artist': ?, 'SongTitle': ?, 'Year': ?}`,
    Parameters: [{ S: 'Acme' }, { S: `song-${at}` }, { N: String(2000 + at) }],
  }))
  const { Responses } = await client.batchExecuteStatement({ Statements })
  assert.deepEqual(
    Responses?.map((each) => each.Error),
    Array(7).fill(undefined),
  )
  const titles: (string | undefined)[] = []
  let token: string | undefined
  do {
    const page = await client.executeStatement({
      Statement: `SELECT * FROM ${T} WHERE "Artist" = 'Acme' AND "Year" BETWEEN 2001 AND 2005 ORDER BY "SongTitle" DESC`,
      Limit: 2,
      ...(token !== undefined && { NextToken: token }),
    })
    titles.push(...(page.Items ?? []).map((item) => item['SongTitle']?.S))
    token = page.NextToken
  } while (token !== undefined)
  assert.deepEqual(titles, ['song-5', 'song-4', 'song-3', 'song-2', 'song-1'])
  const forms = [
    [`SELECT "SongTitle" FROM ${T} WHERE contains("SongTitle", 'song-3')`, 1],
    [`SELECT "SongTitle" FROM ${T} WHERE begins_with("SongTitle", 'song') AND "Year" >= 2004`, 3],
    [`SELECT "SongTitle" FROM ${T} WHERE "Artist" IN ['Acme', 'Other'] AND "SongTitle" = 'song-0'`, 1],
    [`SELECT "SongTitle" FROM ${T} WHERE "Genre" IS MISSING`, 7],
    [`SELECT "SongTitle" FROM ${T} WHERE NOT ("Year" <> 2003)`, 1],
  ] as const
  for (const [statement, count] of forms)
    assert.equal((await rowsOf(client, statement)).length, count, statement)
})

test('browsers: a cell is edited and a row deleted by the whole key, guarded by what was shown', async (t) => {
  const client = await browsed(t)
  await rowsOf(
    client,
    `INSERT INTO ${T} VALUE {'Artist': 'Acme', 'SongTitle': 'One', 'Year': 2000, 'Old': 1}`,
  )
  const WHERE = `WHERE "Artist" = 'Acme' AND "SongTitle" = 'One'`
  const [edited] = await rowsOf(
    client,
    `UPDATE ${T} SET "Year" = ? SET "Info" = {'by': 'me'} REMOVE "Old" ${WHERE} AND "Year" = ? RETURNING ALL NEW *`,
    [{ N: '2001' }, { N: '2000' }],
  )
  assert.deepEqual(Object.keys(edited!).toSorted(), ['Artist', 'Info', 'SongTitle', 'Year'])
  await assert.rejects(rowsOf(client, `UPDATE ${T} SET "Year" = 1 ${WHERE} AND "Year" = 2000`), {
    name: 'ConditionalCheckFailedException',
  })
  await assert.rejects(rowsOf(client, `INSERT INTO ${T} VALUE {'Artist': 'Acme', 'SongTitle': 'One'}`), {
    name: 'DuplicateItemException',
  })
  const [removed] = await rowsOf(client, `DELETE FROM ${T} ${WHERE} RETURNING ALL OLD *`)
  assert.equal(removed?.['Year']?.N, '2001')
})

test('browsers: what dynamodb-admin asks for to show and edit a table is answered', async (t) => {
  const client = await browsed(t)
  const { TableNames } = await client.listTables({ Limit: 100 })
  assert.deepEqual(TableNames, [TableName])
  const Item = { Artist: { S: 'Acme' }, SongTitle: { S: 'One' }, Genre: { S: 'Pop' } }
  await client.putItem({ TableName, Item })
  const { Table } = await client.describeTable({ TableName })
  assert.equal(Table?.ItemCount, 1)
  const scanned = await client.scan({
    TableName,
    Limit: 25,
    FilterExpression: '#key1 = :key1',
    ExpressionAttributeNames: { '#key1': 'Genre' },
    ExpressionAttributeValues: { ':key1': { S: 'Pop' } },
  })
  assert.deepEqual([scanned.Items, scanned.LastEvaluatedKey], [[Item], undefined])
  const queried = await client.query({
    TableName,
    IndexName: 'Genre-index',
    KeyConditionExpression: '#hash = :hash',
    ExpressionAttributeNames: { '#hash': 'Genre' },
    ExpressionAttributeValues: { ':hash': { S: 'Pop' } },
    ScanIndexForward: false,
    Limit: 25,
  })
  assert.deepEqual(queried.Items, [Item])
  await client.deleteItem({ TableName, Key: { Artist: Item.Artist, SongTitle: Item.SongTitle } })
  assert.equal((await client.scan({ TableName, Select: 'COUNT' })).Count, 0)
})
