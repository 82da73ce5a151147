const { begin, userOf } = require('./sessions.js')

test('a file sees the seeds, and nothing that another file has written', async () => {
  expect(await userOf('s2')).toBeUndefined()
  await begin('s2', 'alan')
})

test('the store itself is at hand', async () => {
  const { Count } = await seriatim.store.call('Scan', { TableName: seriatim.tables.Sessions })
  expect(Count).toBe(2)
})
