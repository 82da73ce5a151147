// Where a ring of Cassandra nodes is, and how it is used: as options, or as an address for the command line.

/** Where a ring is, and how it is used. Every server of a fleet needs the same, but for `localDataCenter`. */
export interface CassandraOptions {
  /** Hosts to begin with, each with a port if it is not `port`. The driver finds the others. */
  readonly contactPoints: readonly string[]
  /** Where the tables of the store are. It is created if it does not exist. */
  readonly keyspace: string
  /** Where this server is. Requests go to hosts of this data centre. Absent: the one of the first contact point that answers. */
  readonly localDataCenter?: string
  /** 9042 if absent. */
  readonly port?: number
  /** Copies of each row, if the keyspace is to be created: 3 if absent, in the local data centre, or for each data centre by its name. */
  readonly replication?: number | Readonly<Record<string, number>>
  /**
   * What must agree on a write: a majority of all copies (`global`), or of those in the local data centre (`local`). All servers
   * of a fleet need the same; `local` is right only if they are all in one data centre.
   */
  readonly consistency?: 'global' | 'local'
  /** The ring's own credentials: none if absent. */
  readonly username?: string
  /** With `username`. */
  readonly password?: string
  /** Encrypted connections, with the certificates that this machine trusts. */
  readonly tls?: boolean
  /** For how long one request to the ring may take: 5,000 if absent. */
  readonly timeoutMs?: number
}

const PARAMETERS = ['datacenter', 'replication', 'consistency', 'tls', 'timeoutMs']

/**
 * Reads `cassandra://HOST,HOST:PORT/KEYSPACE?datacenter=NAME&replication=3`, as the command line takes it.
 * @throws RangeError with a sentence that says what is wrong
 *
 * @example
 * const options = cassandraOptionsOf('cassandra://cassandra-1,cassandra-2/shop?datacenter=dc1')
 * console.log(options.contactPoints) // [ 'cassandra-1', 'cassandra-2' ]
 */
export function cassandraOptionsOf(address: string): CassandraOptions {
  const parts = /^cassandra:\/\/(?:([^:@/]*)(?::([^@/]*))?@)?([^/?]+)\/([^/?]*)(?:\?(.*))?$/.exec(address)
  if (parts === null)
    throw new RangeError(`${withoutPassword(address)} is not an engine: cassandra://HOST,HOST,HOST/KEYSPACE`)
  const [, username, password, hosts = '', keyspace = '', query = ''] = parts
  const parameters = new URLSearchParams(query)
  for (const name of parameters.keys())
    if (!PARAMETERS.includes(name))
      throw new RangeError(`an engine has no parameter ${name}: ${PARAMETERS.join(', ')} are known`)
  const contactPoints = hosts.split(',')
  if (contactPoints.some((host) => !/^[A-Za-z0-9._-]+(:\d{1,5})?$/.test(host)))
    throw new RangeError(`${hosts} are not hosts with commas between them`)
  const dataCenter = parameters.get('datacenter')
  const replication = parameters.get('replication')
  const consistency = parameters.get('consistency')
  const timeoutMs = parameters.get('timeoutMs')
  return checked({
    contactPoints,
    keyspace,
    ...(dataCenter !== null && { localDataCenter: dataCenter }),
    ...(replication !== null && { replication: wholeNumber('replication', replication) }),
    ...(consistency !== null && { consistency: consistency as 'global' | 'local' }),
    ...(timeoutMs !== null && { timeoutMs: wholeNumber('timeoutMs', timeoutMs) }),
    ...(parameters.has('tls') && { tls: parameters.get('tls') !== 'false' }),
    ...(username !== undefined && { username: decodeURIComponent(username) }),
    ...(password !== undefined && { password: decodeURIComponent(password) }),
  })
}

/** @throws RangeError with a sentence: names become part of CQL, so only what needs no quotes is taken */
export function checked(options: CassandraOptions): CassandraOptions {
  const { contactPoints, keyspace, localDataCenter, replication = 3, consistency = 'global' } = options
  if (contactPoints.length === 0) throw new RangeError('an engine needs at least one contact point')
  if (!/^[a-z][a-z0-9_]{0,47}$/.test(keyspace))
    throw new RangeError(
      `${JSON.stringify(keyspace)} is not a keyspace: up to 48 lower-case letters, digits and underscores`,
    )
  const copies = typeof replication === 'number' ? { '': replication } : replication
  for (const [name, count] of Object.entries(copies)) {
    if (!Number.isInteger(count) || count < 1 || count > 100)
      throw new RangeError('replication is a number of copies from 1 to 100')
    if (name !== '' && !isDataCenter(name)) throw notDataCenter(name)
  }
  if (localDataCenter !== undefined && !isDataCenter(localDataCenter)) throw notDataCenter(localDataCenter)
  if (!['global', 'local'].includes(consistency)) throw new RangeError('consistency is global or local')
  return options
}

const isDataCenter = (name: string): boolean => /^[\w.:-]{1,100}$/.test(name)
const notDataCenter = (name: string): RangeError =>
  new RangeError(`${JSON.stringify(name)} is not the name of a data centre`)

function wholeNumber(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new RangeError(`${name} of an engine is a whole number, not ${text}`)
  return Number(text)
}

const withoutPassword = (address: string): string => address.replace(/:[^:@/]*@/, ':***@')
