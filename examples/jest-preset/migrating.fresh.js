const { begin, userOf } = require('./sessions.js')

// Once: whatever takes long.
beforeAll(() => begin('s2', 'grace'))

test('a test may change whatever it likes', async () => {
  await seriatim.store.reset()
  await expect(userOf('s1')).rejects.toThrow('Requested resource not found')
})

test('the next one begins with the seeds and with what was made for all of them', async () => {
  expect([await userOf('s1'), await userOf('s2')]).toEqual(['ada', 'grace'])
})

test('a fork is a store of its own', async () => {
  const { store, tables, close } = await seriatim.fork()
  await store.call('DeleteItem', { TableName: tables.Sessions, Key: { id: { S: 's1' } } })
  expect((await store.call('Scan', { TableName: tables.Sessions })).Count).toBe(1)
  expect(await userOf('s1')).toBe('ada')
  await close()
})
