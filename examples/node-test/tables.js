// The tables of the application, as its deployment would make them.
export async function createTables(store) {
  for (const TableName of ['Books', 'Reservations']) {
    await store.call('CreateTable', {
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    })
  }
  await store.call('UpdateTimeToLive', {
    TableName: 'Reservations',
    TimeToLiveSpecification: { AttributeName: 'expires', Enabled: true },
  })
}
