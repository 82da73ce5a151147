module.exports = {
  testEnvironment: 'seriatim/jest',
  testEnvironmentOptions: {
    tables: 'serverless.yml',
    parameters: { stage: 'test' },
    seeds: 'seeds.yml',
    fresh: 'test',
  },
  testMatch: ['**/*.fresh.js'],
}
