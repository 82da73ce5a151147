// What the AWS SDKs look at in the environment, so that code under test reaches the store of its test file without being told.

/** Such as that of a process. */
export type Environment = Record<string, string | undefined>

/**
 * These lead an SDK past the endpoint, or to a developer's own credentials instead of the keys that are set here: those of a
 * cloud must not be sent to a store of tests.
 */
const IN_THE_WAY = [
  'AWS_PROFILE',
  'AWS_SESSION_TOKEN',
  'AWS_CREDENTIAL_EXPIRATION',
  'AWS_CREDENTIAL_SCOPE',
  'AWS_ACCOUNT_ID',
  'AWS_IGNORE_CONFIGURED_ENDPOINT_URLS',
] as const

/** Until the function that it returns is called, which brings back what was there before. */
export function enterSdkEnvironment(environment: Environment, endpoint: string): () => void {
  const changes: Readonly<Environment> = {
    ...Object.fromEntries(IN_THE_WAY.map((name) => [name, undefined])),
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    AWS_REGION: environment['AWS_REGION'] ?? 'us-east-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
  }
  const before = Object.fromEntries(Object.keys(changes).map((name) => [name, environment[name]]))
  assign(environment, changes)
  return () => assign(environment, before)
}

function assign(environment: Environment, changes: Readonly<Environment>): void {
  for (const [name, value] of Object.entries(changes)) {
    // Assigned to the environment of a process, undefined would be the text 'undefined'.
    if (value === undefined) delete environment[name]
    else environment[name] = value
  }
}
