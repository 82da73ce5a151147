// seriatim sweep: finishes or rolls back what transactions on any endpoint have left behind.
import { clientRuntime, longTimeout } from '../../runtime/real-runtime.js'
import { atEndpoint } from '../command/at-endpoint.js'
import { endpointClient } from '../command/endpoint-client.js'
import { clientEndpoint } from '../../toolkit/endpoint/endpoint.js'
import { intentsProtocol, RECORDS } from '../../toolkit/intents/intents-protocol.js'
import { defaultPatience } from '../../toolkit/intents/protocol/limits.js'
import type { SweepReport } from '../../toolkit/unit/transactor.js'
import { readArguments, readInteger, UsageError } from '../command/arguments.js'
import type { CommandEnvironment } from '../command/environment.js'

export const help = `seriatim sweep --endpoint URL [--region NAME] [--tables A,B] [--record TABLE] [--for SECONDS | --watch] [--every SECONDS] [--keep SECONDS]

  --endpoint URL    the DynamoDB endpoint; 'aws' for Amazon's own of the region
  --region NAME     (us-east-1, or AWS_REGION)
  --tables A,B      tables of data to look through for intents without a record; every item is read
  --record TABLE    the table of transaction records (${RECORDS})
  --for SECONDS     how long to look (15): what stands still for its patience on this clock is stalled
  --watch           go on until stopped
  --every SECONDS   from one look to the next (5)
  --keep SECONDS    records that have been done for so long, as seen from here, are deleted (3600)

Cancels or finishes transactions whose coordinator has vanished, undoes intents without a record, and deletes old
records. It may run beside anything, and several of it too. Credentials come from AWS_ACCESS_KEY_ID and
AWS_SECRET_ACCESS_KEY; for 'aws' from wherever the AWS SDK finds them.`

const OPTIONS = {
  endpoint: { type: 'string' },
  region: { type: 'string' },
  tables: { type: 'string', default: '' },
  record: { type: 'string', default: RECORDS },
  for: { type: 'string', default: '15' },
  every: { type: 'string', default: '5' },
  keep: { type: 'string', default: String(defaultPatience.keepMs / 1000) },
  watch: { type: 'boolean', default: false },
} as const

const SECONDS_MAX = 999_999_999

export async function run(args: readonly string[], world: CommandEnvironment): Promise<number> {
  const { values } = readArguments(args, OPTIONS)
  if (values.endpoint === undefined) throw new UsageError('--endpoint says where to sweep')
  const tables = values.tables.split(',').filter((table) => table !== '')
  const forMs = readInteger('for', values.for, 0, SECONDS_MAX) * 1000
  const everyMs = readInteger('every', values.every, 1, SECONDS_MAX) * 1000
  const keepMs = readInteger('keep', values.keep, 1, SECONDS_MAX) * 1000
  const client = await endpointClient(values.endpoint, values.region)
  const protocol = intentsProtocol(clientEndpoint(client), clientRuntime(), {
    record: values.record,
    patience: { keepMs },
  })
  let stopped = false
  let wake = (): void => undefined
  const unsubscribe = world.onSignal(() => {
    stopped = true
    wake()
  })
  const sum = { committed: 0, cancelled: 0, orphans: 0, deleted: 0 }
  try {
    const startMs = performance.now()
    for (;;) {
      const report = await protocol.sweep({ tables }).catch(atEndpoint(values.endpoint))
      add(sum, report)
      if (values.watch && Object.values(report).some((count) => count > 0)) world.print(sentence(report))
      const leftMs = values.watch ? Infinity : startMs + forMs - performance.now()
      if (stopped || leftMs <= 0) break
      await new Promise<void>((resolve) => {
        const timeout = longTimeout(Math.min(everyMs, leftMs), resolve)
        wake = () => {
          timeout.cancel()
          resolve()
        }
        if (stopped) wake()
      })
    }
  } finally {
    unsubscribe()
    client.destroy()
  }
  world.print(sentence(sum))
  return 0
}

function add(sum: { -readonly [Name in keyof SweepReport]: number }, report: SweepReport): void {
  sum.committed += report.committed
  sum.cancelled += report.cancelled
  sum.orphans += report.orphans
  sum.deleted += report.deleted
}

const sentence = ({ committed, cancelled, orphans, deleted }: SweepReport): string =>
  `${committed} finished, ${cancelled} rolled back, ${orphans} without a record undone, ${deleted} old records deleted`
