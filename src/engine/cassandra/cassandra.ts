// The engine on a ring of Cassandra 5 nodes, by lightweight transactions (docs/adr/0045-cassandra.md).
//
//   cas      one conditional batch on one partition of one table: Paxos v2, committed at a majority
//   read     SELECT at SERIAL: sees every applied step, and ends one that was left half done; LOCAL_ONE if it may be behind
//   write    INSERT and DELETE with fixed write times at a majority; never on a row that a cas changes
//   range    of one partition at SERIAL; of a space in the order of tokens, at a majority
//
// An adapter translates and decides nothing: it never repeats a step whose outcome it does not know.
import type { types } from 'cassandra-driver'
import {
  type CasOutcome,
  type Consistency,
  type Engine,
  type EngineRow,
  type PartitionRange,
  type PlainOutcome,
  type PlainWrite,
  type RowAddress,
  type RowChange,
  type RowPage,
  type SpaceKind,
  type SpaceRange,
  type VersionId,
  EngineUnavailable,
  isPartitionRange,
  SpaceMissing,
} from '../engine.js'
import { type Connection, connect } from './connection.js'
import { engineError, isSpaceMissing, isUndone, isUnprepared, sentenceOf } from './failures.js'
import { type CassandraOptions, checked } from './options.js'
import { type PageSizes, pageSizes } from './page-sizes.js'
import { rowOf } from './rows.js'
import { SpaceWalk } from './space-walk.js'
import {
  ALWAYS,
  blob,
  changeStatement,
  tableCreation,
  plainStatement,
  ROW_COLUMNS,
  type CqlStatement,
} from './statements.js'

export { cassandraOptionsOf, type CassandraOptions } from './options.js'

/** Rows that one SELECT names. */
const NAMED_ROWS_MAX = 100
/** Plain writes of one call that are under way at once. */
const PLAIN_WRITES_MAX = 32
const CREATE_TRIES_MAX = 3

/**
 * An engine on a ring of Cassandra nodes, for `open({ engine })`. Nothing is connected before it is first used.
 *
 * @example
 * const engine = cassandra({ contactPoints: ['cassandra-1'], localDataCenter: 'dc1', keyspace: 'shop' })
 * console.log(engine.name) // Cassandra at cassandra-1, keyspace shop
 */
export function cassandra(options: CassandraOptions): Engine {
  return new CassandraEngine(checked(options))
}

class CassandraEngine implements Engine {
  readonly name: string
  // A mutation may have half of a segment of the commit log: 16 MiB by default. Requests end at 16 MB before.
  readonly limits = { casRowsMax: 500, casBytesMax: 8 * 1024 * 1024, cellBytesMax: 4 * 1024 * 1024 }
  readonly #options: CassandraOptions
  readonly #sizes: PageSizes = pageSizes()
  #connecting: Promise<Connection> | undefined

  constructor(options: CassandraOptions) {
    this.#options = options
    this.name = `Cassandra at ${options.contactPoints.join(',')}, keyspace ${options.keyspace}`
  }

  scopeOf({ space, partition }: RowAddress): string {
    return `${space}/${partition}`
  }

  async read(
    addresses: readonly RowAddress[],
    consistency: Consistency,
  ): Promise<readonly (EngineRow | undefined)[]> {
    const found = new Map<string, EngineRow>()
    await Promise.all(
      this.#byPartition(addresses).map(async (named) => {
        for (const row of await this.#readNamed(named, consistency)) found.set(placeOf(row.address), row)
      }),
    )
    return addresses.map((address) => found.get(placeOf(address)))
  }

  async cas(changes: readonly RowChange[]): Promise<CasOutcome> {
    const [first] = changes
    if (first === undefined) throw new RangeError('a compare-and-set of nothing')
    const { space } = first.address
    const { client, levels } = await this.#connected()
    let result: types.ResultSet
    try {
      result = await client.batch(this.#casStatements(changes), {
        prepare: true,
        logged: false,
        isIdempotent: false,
        consistency: levels.majority,
        serialConsistency: levels.serial,
      })
    } catch (error) {
      if (isUndone(error)) throw await this.#failure(error, space)
      return { outcome: 'unknown', cause: new Error(`${this.name}: ${sentenceOf(error)}`, { cause: error }) }
    }
    if (result.wasApplied()) return { outcome: 'applied' }
    const rows = await this.#rowsAfterRefusal(changes)
    if (rows === undefined)
      return {
        outcome: 'unknown',
        cause: new Error(`${this.name}: refused, and what is there could not be read`),
      }
    // A host that lost its own answer may have tried twice, and been refused by itself.
    const isOurs = changes.some(({ next }, at) => typeof next === 'object' && knows(rows[at], next.version))
    return isOurs ? { outcome: 'applied' } : { outcome: 'refused', rows }
  }

  async write(rows: readonly PlainWrite[]): Promise<PlainOutcome> {
    const failures: unknown[] = []
    const left = [...rows]
    const { client, levels } = await this.#connected()
    const work = async (): Promise<void> => {
      for (let row = left.shift(); row !== undefined; row = left.shift()) {
        const { query, params } = plainStatement(this.#table(row.address.space), row)
        await client
          .execute(query, params, { prepare: true, isIdempotent: true, consistency: levels.majority })
          .catch((error: unknown) => failures.push(error))
      }
    }
    await Promise.all(Array.from({ length: Math.min(PLAIN_WRITES_MAX, rows.length) }, work))
    const [failure] = failures
    if (failure === undefined) return { outcome: 'applied' }
    const isNothingDone =
      failures.length === rows.length && failures.every((each) => isSpaceMissing(each) || isUndone(each))
    if (isNothingDone) throw await this.#failure(failure, rows[0]?.address.space ?? '')
    return {
      outcome: 'unknown',
      cause: new Error(`${this.name}: ${sentenceOf(failure)}`, { cause: failure }),
    }
  }

  async range(request: PartitionRange | SpaceRange): Promise<RowPage> {
    return isPartitionRange(request) ? this.#rangeOfPartition(request) : this.#rangeOfSpace(request)
  }

  async createSpace(space: string, kind: SpaceKind = 'lasting'): Promise<void> {
    const { client } = await this.#connected()
    for (let tries = 1; tries <= CREATE_TRIES_MAX; tries++) {
      const { info } = await client
        .execute(tableCreation(this.#options.keyspace, space, kind), [], { isIdempotent: true })
        .catch((error: unknown) => {
          throw engineError(error, space, this.name)
        })
      if ((info as { readonly isSchemaInAgreement?: boolean }).isSchemaInAgreement === true) return
    }
    throw new EngineUnavailable(`${this.name}: the hosts do not agree on their tables yet`)
  }

  async dropSpace(space: string): Promise<void> {
    this.#sizes.forget(space)
    const { client } = await this.#connected()
    await client
      .execute(`DROP TABLE IF EXISTS ${this.#table(space)}`, [], { isIdempotent: true })
      .catch((error: unknown) => {
        throw engineError(error, space, this.name)
      })
  }

  async close(): Promise<void> {
    const connecting = this.#connecting
    this.#connecting = undefined
    const connection = await connecting?.catch(() => undefined)
    await connection?.client.shutdown()
  }

  #casStatements(changes: readonly RowChange[]): CqlStatement[] {
    const statements: CqlStatement[] = []
    let isConditional = false
    for (const change of changes) {
      if (change.seen === 'any' && change.next === undefined) continue
      isConditional ||= change.seen !== 'any'
      statements.push(changeStatement(this.#table(change.address.space), change))
    }
    const [first] = statements
    if (!isConditional && first !== undefined)
      statements[0] = { query: first.query + ALWAYS.text, params: [...first.params, ALWAYS.value] }
    return statements
  }

  async #rowsAfterRefusal(
    changes: readonly RowChange[],
  ): Promise<readonly (EngineRow | undefined)[] | undefined> {
    return this.read(
      changes.map(({ address }) => address),
      'consistent',
    ).catch(() => undefined)
  }

  async #readNamed(named: readonly RowAddress[], consistency: Consistency): Promise<EngineRow[]> {
    const [first] = named
    if (first === undefined) return []
    const { levels } = await this.#connected()
    const rows = named.map(({ row }) => blob(row))
    return this.#select(
      first.space,
      'WHERE partition = ? AND row IN ?',
      [blob(first.partition), rows],
      consistency === 'consistent' ? levels.serial : levels.one,
    )
  }

  async #rangeOfPartition({
    space,
    partition,
    from,
    to,
    reverse,
    rowsMax,
  }: PartitionRange): Promise<RowPage> {
    const { levels } = await this.#connected()
    const limit = Math.min(rowsMax, this.#sizes.rowsOfPage(space))
    const end = to === undefined ? [] : [blob(to)]
    const rows = await this.#select(
      space,
      `WHERE partition = ? AND row >= ?${to === undefined ? '' : ' AND row < ?'}${reverse ? ' ORDER BY row DESC' : ''} LIMIT ?`,
      [blob(partition), blob(from), ...end, limit + 1],
      levels.serial,
    )
    this.#sizes.saw(space, rows)
    return { rows: rows.slice(0, limit), more: rows.length > limit }
  }

  async #rangeOfSpace(request: SpaceRange): Promise<RowPage> {
    const { levels, Long } = await this.#connected()
    const limit = Math.min(request.rowsMax, this.#sizes.rowsOfPage(request.space))
    const walk = new SpaceWalk(Long, {
      select: async (where, params) => this.#select(request.space, where, params, levels.majority),
      partitions: async (where, params) => this.#partitions(request.space, where, params, levels.majority),
    })
    const page = await walk.page(request, limit)
    this.#sizes.saw(request.space, page.rows)
    return page
  }

  async #select(
    space: string,
    rest: string,
    params: unknown[],
    level: types.consistencies,
  ): Promise<EngineRow[]> {
    const found = await this.#execute(
      space,
      `SELECT ${ROW_COLUMNS} FROM ${this.#table(space)} ${rest}`,
      params,
      level,
    )
    return found.rows.map((row) => rowOf(space, row))
  }

  async #partitions(
    space: string,
    rest: string,
    params: unknown[],
    level: types.consistencies,
  ): Promise<Buffer[]> {
    const found = await this.#execute(
      space,
      `SELECT DISTINCT partition FROM ${this.#table(space)} ${rest}`,
      params,
      level,
    )
    return found.rows.map((row) => row['partition'] as Buffer)
  }

  async #execute(
    space: string,
    query: string,
    params: unknown[],
    consistency: types.consistencies,
  ): Promise<types.ResultSet> {
    const { client } = await this.#connected()
    try {
      // Pages are cut by LIMIT: one answer has it all.
      return await client.execute(query, params, {
        prepare: true,
        isIdempotent: true,
        consistency,
        fetchSize: 10_000,
      })
    } catch (error) {
      throw await this.#failure(error, space)
    }
  }

  /** Why nothing was done. */
  async #failure(error: unknown, space: string): Promise<Error> {
    if (isUnprepared(error)) {
      const { client, levels } = await this.#connected()
      const found = await client
        .execute(
          'SELECT table_name FROM system_schema.tables WHERE keyspace_name = ? AND table_name = ?',
          [this.#options.keyspace, space],
          { prepare: true, consistency: levels.one },
        )
        .catch(() => undefined)
      if (found?.rows.length === 0)
        return new SpaceMissing(`there is no space ${space} in ${this.name}`, { cause: error })
    }
    return engineError(error, space, this.name)
  }

  #byPartition(addresses: readonly RowAddress[]): RowAddress[][] {
    const groups = new Map<string, RowAddress[]>()
    const full: RowAddress[][] = []
    for (const address of addresses) {
      const scope = this.scopeOf(address)
      const group = groups.get(scope) ?? []
      group.push(address)
      if (group.length < NAMED_ROWS_MAX) groups.set(scope, group)
      else {
        full.push(group)
        groups.delete(scope)
      }
    }
    return [...full, ...groups.values()]
  }

  #table(space: string): string {
    if (!/^[a-z][a-z0-9_]{0,47}$/.test(space))
      throw new RangeError(`${JSON.stringify(space)} is not the name of a space`)
    return `${this.#options.keyspace}.${space}`
  }

  async #connected(): Promise<Connection> {
    this.#connecting ??= connect(this.#options, this.name).catch((error: unknown) => {
      this.#connecting = undefined
      throw error
    })
    return this.#connecting
  }
}

const placeOf = ({ space, partition, row }: RowAddress): string =>
  `${space}/${partition.length}/${partition}${row}`

const knows = (row: EngineRow | undefined, version: VersionId): boolean =>
  row !== undefined && (row.version === version || row.past.includes(version))
