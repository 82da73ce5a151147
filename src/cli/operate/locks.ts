// seriatim locks: who holds, who waits, since when; and breaking a lock.
import { atEndpoint } from '../command/at-endpoint.js'
import type { LockPlace, LockReport, Locks } from '../../toolkit/index.js'
import { readArguments, UsageError } from '../command/arguments.js'
import type { CommandEnvironment } from '../command/environment.js'

export const help = `seriatim locks --endpoint URL --table NAME [--break NAME] [--namespace NAME] [--sweep] [--json]

  --endpoint URL    any DynamoDB endpoint; AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION as everywhere
  --table NAME      the table of the locks
  --break NAME      take this lock from whoever holds it; the next one enters. The holder learns of it with its next
                    heartbeat: until then only the fence protects
  --namespace NAME  of the lock to break
  --sweep           remove what dead processes have left; watches them for a lease first
  --json            the locks as they are`

const OPTIONS = {
  endpoint: { type: 'string' },
  table: { type: 'string' },
  break: { type: 'string' },
  namespace: { type: 'string', default: '' },
  sweep: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
} as const

export async function run(args: readonly string[], world: CommandEnvironment): Promise<number> {
  const { values } = readArguments(args, OPTIONS)
  const { endpoint, table } = values
  if (endpoint === undefined || table === undefined || table === '')
    throw new UsageError('give both --endpoint URL and --table NAME')
  if (!URL.canParse(endpoint))
    throw new UsageError(`--endpoint must be a URL such as http://127.0.0.1:8000, not '${endpoint}'`)
  const client = await locksAt(endpoint, table)
  if (values.break !== undefined) {
    const { namespace } = values
    const broken = await client.break(values.break, { namespace }).catch(atEndpoint(endpoint))
    world.print(
      broken.length === 0
        ? `nobody holds ${shownName({ name: values.break, namespace })}`
        : `broken: ${shownName({ name: values.break, namespace })}, fence ${broken.join(', ')}`,
    )
    return broken.length === 0 ? 1 : 0
  }
  if (values.sweep) {
    const { removed } = await client.sweep().catch(atEndpoint(endpoint))
    world.print(`removed ${removed} dead ${removed === 1 ? 'row' : 'rows'}`)
    return 0
  }
  const reports = await client.list().catch(atEndpoint(endpoint))
  if (values.json) world.print(JSON.stringify(reports, bigintsAsText, 2))
  else for (const line of linesOf(reports, Date.now())) world.print(line)
  return 0
}

async function locksAt(endpoint: string, table: string): Promise<Locks> {
  const [{ DynamoDBClient }, { locks }] = await Promise.all([
    import('@aws-sdk/client-dynamodb'),
    import('../../toolkit/index.js'),
  ])
  const { AWS_ACCESS_KEY_ID, AWS_PROFILE, AWS_REGION = 'us-east-1' } = process.env
  const local = AWS_ACCESS_KEY_ID === undefined && AWS_PROFILE === undefined && isLocal(endpoint)
  const client = new DynamoDBClient({
    endpoint,
    region: AWS_REGION,
    // A local endpoint asks for a signature, but not for whose.
    ...(local && { credentials: { accessKeyId: 'local', secretAccessKey: 'local' } }),
  })
  return locks(client, { table })
}

function isLocal(endpoint: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(new URL(endpoint).hostname)
}

export function linesOf(reports: readonly LockReport[], nowMs: number): readonly string[] {
  if (reports.length === 0) return ['No lock is held.']
  return reports.flatMap((report) => [
    `${shownName(report)}  (highest fence granted: ${report.granted})`,
    ...report.holders.map((place) => `  holds  ${shownPlace(place, nowMs)}`),
    ...report.waiting.map((place, at) => `  waits  ${shownPlace(place, nowMs)}, position ${at + 1}`),
  ])
}

const shownName = ({ name, namespace }: { readonly name: string; readonly namespace: string }): string =>
  namespace === '' ? name : `${name} in ${namespace}`

function shownPlace(place: LockPlace, nowMs: number): string {
  const seconds = Math.max(0, Math.round((nowMs - place.sinceMs) / 1000))
  const parts = [
    `${place.ticket}`,
    place.shared ? 'shared' : place.limit > 1 ? `one of ${place.limit}` : 'exclusive',
    `since ${new Date(place.sinceMs).toISOString()} (${seconds} s)`,
    `lease ${place.leaseMs / 1000} s`,
  ]
  if (place.label !== undefined) parts.push(place.label)
  if (place.data !== undefined) parts.push(JSON.stringify(place.data, bigintsAsText))
  if (place.suspectedMs !== undefined)
    parts.push(`not heard of for ${Math.round(place.suspectedMs / 1000)} s`)
  return parts.join(', ')
}

const bigintsAsText = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? value.toString() : value
