// The driver: npm cassandra-driver, loaded when an engine is first used, because it is an optional peer of the package.
import type { Client, DseClientOptions, QueryOptions, types } from 'cassandra-driver'
import { EngineUnavailable } from '../engine.js'
import { sentenceOf } from './failures.js'
import type { CassandraOptions } from './options.js'

type Driver = typeof import('cassandra-driver')

/** The levels at which requests are made. */
export interface Levels {
  readonly serial: types.consistencies
  readonly majority: types.consistencies
  readonly one: types.consistencies
}

export interface Connection {
  readonly client: Client
  readonly levels: Levels
  readonly Long: typeof types.Long
  readonly localDataCenter: string
}

const PORT = 9042
const TIMEOUT_MS = 5000
const SCHEMA_AGREEMENT_SECONDS_MAX = 10
const STATEMENTS_MAX = 10_000

/** Connects, looks at how the ring is set up, and creates the keyspace if it is not there. */
export async function connect(options: CassandraOptions, name: string): Promise<Connection> {
  const driver = await loadDriver()
  const localDataCenter = options.localDataCenter ?? (await dataCenterOf(driver, options, name))
  const client = new driver.Client({ ...clientOptions(driver, options), localDataCenter })
  try {
    await client.connect()
    await checkPaxos(client, name)
    await createKeyspace(client, options, localDataCenter)
  } catch (error) {
    await client.shutdown()
    throw error instanceof EngineUnavailable
      ? error
      : new EngineUnavailable(`${name}: ${sentenceOf(error)}`, { cause: error })
  }
  return { client, levels: levelsOf(driver, options), Long: driver.types.Long, localDataCenter }
}

async function loadDriver(): Promise<Driver> {
  try {
    const loaded = (await import('cassandra-driver')) as Driver & { readonly default?: Driver }
    return loaded.default ?? loaded
  } catch (error) {
    throw new Error('an engine of Cassandra needs its driver: npm install cassandra-driver', { cause: error })
  }
}

function clientOptions(driver: Driver, options: CassandraOptions): DseClientOptions {
  const { contactPoints, port = PORT, username, password, tls, timeoutMs = TIMEOUT_MS } = options
  return {
    contactPoints: [...contactPoints],
    protocolOptions: { port, maxSchemaAgreementWaitSeconds: SCHEMA_AGREEMENT_SECONDS_MAX },
    socketOptions: { readTimeout: timeoutMs, connectTimeout: timeoutMs },
    maxPrepared: STATEMENTS_MAX,
    ...(username !== undefined && {
      authProvider: new driver.auth.PlainTextAuthProvider(username, password ?? ''),
    }),
    ...(tls === true && { sslOptions: { rejectUnauthorized: true } }),
  }
}

/** The data centre of the first contact point that answers. */
async function dataCenterOf(driver: Driver, options: CassandraOptions, name: string): Promise<string> {
  const client = new driver.Client({
    ...clientOptions(driver, options),
    policies: { loadBalancing: new driver.policies.loadBalancing.RoundRobinPolicy() },
  })
  try {
    await client.connect()
    const { rows } = await client.execute('SELECT data_center FROM system.local')
    return String(rows[0]?.['data_center'])
  } catch (error) {
    throw new EngineUnavailable(`${name}: ${sentenceOf(error)}`, { cause: error })
  } finally {
    await client.shutdown()
  }
}

/**
 * Reads of the first variant may go back in time while a ring changes, and cost a write each; those of the second one `without
 * linearizable reads` may always. Each host has a setting of its own.
 */
export async function checkPaxos(client: Pick<Client, 'execute' | 'hosts'>, name: string): Promise<void> {
  const hosts = client.hosts.values()
  // One that is down now is looked at by the next server that starts.
  const variants = await Promise.allSettled(hosts.map((host) => paxosVariant(client, { host })))
  const refusal = variants.find(({ status }) => status === 'rejected')
  if (refusal !== undefined && variants.every(({ status }) => status === 'rejected'))
    throw (refusal as PromiseRejectedResult).reason
  for (const [at, each] of variants.entries())
    if (each.status === 'fulfilled' && each.value !== 'v2')
      throw new EngineUnavailable(
        `${name}: host ${hosts[at]?.address} runs Paxos ${each.value}: set paxos_variant: v2 in cassandra.yaml of every node`,
      )
}

async function paxosVariant(client: Pick<Client, 'execute'>, options: QueryOptions): Promise<string> {
  const query = "SELECT value FROM system_views.settings WHERE name = 'paxos_variant'"
  const { rows } = await client.execute(query, [], options)
  return String(rows[0]?.['value'] ?? 'v1')
}

async function createKeyspace(client: Client, options: CassandraOptions, local: string): Promise<void> {
  const { keyspace, replication = 3 } = options
  const { rows } = await client.execute(
    'SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = ?',
    [keyspace],
    { prepare: true },
  )
  if (rows.length > 0) return
  const copies = typeof replication === 'number' ? { [local]: replication } : replication
  const each = Object.entries(copies).map(([center, count]) => `'${center}': ${count}`)
  await client.execute(
    `CREATE KEYSPACE IF NOT EXISTS ${keyspace} WITH replication = {'class': 'NetworkTopologyStrategy', ${each.join(', ')}}`,
  )
}

function levelsOf(
  { types: { consistencies } }: Driver,
  { consistency = 'global' }: CassandraOptions,
): Levels {
  return consistency === 'local'
    ? { serial: consistencies.localSerial, majority: consistencies.localQuorum, one: consistencies.localOne }
    : { serial: consistencies.serial, majority: consistencies.quorum, one: consistencies.localOne }
}
