// seriatim backup: asks a running server for backups of tables, and waits until they are made.
import { setTimeout as pause } from 'node:timers/promises'
import { readArguments, UsageError } from '../command/arguments.js'
import { askEndpoint } from '../command/ask-endpoint.js'
import { credentials, type CommandEnvironment } from '../command/environment.js'

export const help = `seriatim backup --endpoint URL [--name NAME] TABLE ...

  --endpoint URL   a running server, or any endpoint of DynamoDB; AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY sign the requests
  --name NAME      of the backups; the time unless told otherwise

Prints the ARN of each backup when it is AVAILABLE. RestoreTableFromBackup brings it back.`

const OPTIONS = { endpoint: { type: 'string' }, name: { type: 'string' } } as const
const DYNAMODB = 'DynamoDB_20120810.'
const PAUSE_MS = 200

interface Details {
  readonly BackupArn: string
  readonly BackupStatus: string
}

export async function run(args: readonly string[], world: CommandEnvironment): Promise<number> {
  const { values, positionals: tables } = readArguments(args, OPTIONS, 'with positionals')
  const { endpoint } = values
  if (endpoint === undefined || tables.length === 0)
    throw new UsageError('give --endpoint URL and the names of tables')
  if (!URL.canParse(endpoint))
    throw new UsageError(`--endpoint must be a URL such as http://127.0.0.1:8000, not '${endpoint}'`)
  const BackupName = values.name ?? `backup-${new Date().toISOString().replace(/[^0-9TZ]/g, '-')}`
  const ask = async <Answer>(operation: string, input: object): Promise<Answer> =>
    (await askEndpoint({
      endpoint,
      target: DYNAMODB + operation,
      input,
      credentials: credentials(),
    })) as Answer
  for (const TableName of tables) {
    const { BackupDetails: begun } = await ask<{ BackupDetails: Details }>('CreateBackup', {
      TableName,
      BackupName,
    })
    const { BackupArn } = begun
    for (let status = begun.BackupStatus; status !== 'AVAILABLE'; await pause(PAUSE_MS)) {
      const described = await ask<{ BackupDescription: { BackupDetails: Details } }>('DescribeBackup', {
        BackupArn,
      })
      status = described.BackupDescription.BackupDetails.BackupStatus
    }
    world.print(BackupArn)
  }
  return 0
}
