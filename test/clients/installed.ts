// Clients that are not npm packages: Debian's python3-boto3 and awscli. Where they are missing a test is skipped and says
// so, but never in CI.
import { execFileSync } from 'node:child_process'

export interface Skip {
  readonly skip: string | false
}

/** To be given to `test` as its options. */
export function needs(debianPackage: string, command: string, args: readonly string[]): Skip {
  try {
    execFileSync(command, args, { stdio: 'ignore' })
    return { skip: false }
  } catch {
    const missing = `${command} does not run; install it with: apt-get install ${debianPackage}`
    if (process.env['CI'] === 'true') throw new Error(missing)
    console.error(`SKIPPED: ${missing}`)
    return { skip: missing }
  }
}

/** The environment of a client: credentials that mean nothing, and none of the user's own settings. */
export function clientEnvironment(url: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    LANG: 'C.UTF-8',
    AWS_ACCESS_KEY_ID: 'any',
    AWS_SECRET_ACCESS_KEY: 'any',
    AWS_DEFAULT_REGION: 'eu-central-1',
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_PAGER: '',
    ENDPOINT: url,
  }
}
