const { ConditionalCheckFailedException } = require('@aws-sdk/client-dynamodb')
const { begin, userOf } = require('./sessions.js')

beforeEach(() => seriatim.reset())

test('a session begins once', async () => {
  await begin('s2', 'grace')
  expect(await userOf('s2')).toBe('grace')
  await expect(begin('s2', 'ada')).rejects.toThrow(ConditionalCheckFailedException)
})

test('each test begins with the seeds', async () => {
  expect(await userOf('s1')).toBe('ada')
  expect(await userOf('s2')).toBeUndefined()
})
