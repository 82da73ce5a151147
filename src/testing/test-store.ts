// A store for the tests of one file: in memory, with the tables of a template and the items they begin with, behind a port
// of its own. The presets of vitest and jest open one for each test file.
import { resolve } from 'node:path'
import { manualClock, type ManualClock } from '../runtime/manual-clock.js'
import { open, type Store, type StoreSnapshot } from '../store/store.js'
import type { Parameters } from './intrinsics.js'
import { readDocument, readTables } from './read-document.js'
import { type Seed, seedsIn } from './seeds.js'
import type { TemplateTable } from './table-properties.js'
import { tablesIn } from './tables-in.js'
import { TemplateError, wrong } from './template-error.js'

/** The path of a file, or what such a file would contain. */
export type Source = string | object

/** The tables and items that the store of each test file begins with. */
export interface TestStoreOptions {
  /** One or several of: templates of CloudFormation or SAM, serverless.yml, inputs of CreateTable in JSON. */
  readonly tables?: Source | readonly Source[] | undefined
  /** Values of the parameters of those templates: `{ Stage: 'test' }`. */
  readonly parameters?: Parameters | undefined
  /** One or several sets of items by table: `{ Orders: [{ id: 'o1' }] }`. */
  readonly seeds?: Source | readonly Source[] | undefined
  /** A file that `dump` of a store has written, with which the store begins; tables and seeds are added to it. */
  readonly from?: string | undefined
  /**
   * `file`, the default: a test file begins with the tables and seeds, and its tests see what those before them have left. `test`:
   * each test begins with what there was before the first one, with what `beforeAll` of the file has added.
   */
  readonly fresh?: 'file' | 'test' | undefined
  /** Storage nodes; 1 by default, or as many as the dump has. */
  readonly nodes?: number | undefined
  /** A time such as `2030-01-01T00:00:00Z`: the clock stands still there until a test moves it. The system's clock by default. */
  readonly now?: string | undefined
}

/** The store of one test file. */
export interface TestStore {
  /** The store, in this process. */
  readonly store: Store
  /** Its address over HTTP, `http://127.0.0.1:PORT`. The environment variable AWS_ENDPOINT_URL_DYNAMODB has the same. */
  readonly endpoint: string
  /** The name of each table, by its logical id in the template. */
  readonly tables: Readonly<Record<string, string>>
  /** The clock of the store, if the option `now` was given. */
  readonly clock?: ManualClock
  /** Brings the store back to its tables and seeds, or to what was there at the last `keep()`: in a moment, by a snapshot. */
  reset(): Promise<void>
  /** What is there now is what `reset()` brings back from here on, and what forks begin with: after migrations, say. */
  keep(): Promise<void>
  /**
   * A store of its own behind a port of its own, with what `reset()` would bring back: for tests that run at the same time. Close
   * it, or use `await using`.
   */
  fork(): Promise<ForkedTestStore>
}

/** A store for one test. */
export interface ForkedTestStore
  extends Pick<TestStore, 'store' | 'endpoint' | 'tables' | 'clock'>, AsyncDisposable {
  /** Stops its server, and lets go of what it holds. */
  close(): Promise<void>
}

export interface OpenedTestStore extends TestStore {
  /** Before each test. */
  beforeTest(): Promise<void>
  close(): Promise<void>
}

/**
 * Relative paths are relative to `root`. It listens on that port if it can, on any other otherwise: 0 lets the system choose.
 */
export async function openTestStore(
  options: TestStoreOptions,
  root: string,
  port = 0,
): Promise<OpenedTestStore> {
  const tables = await tablesFrom(options, root)
  const seeds = await seedsFrom(options, root, tables)
  const { from, nodes, now, fresh = 'file' } = options
  if (fresh !== 'file' && fresh !== 'test') throw wrong(['fresh'], `is file or test, not '${String(fresh)}'`)
  const clock = now === undefined ? undefined : manualClock(momentOf(now))
  const store = await open({
    memory: true,
    ...(from !== undefined && { from: resolve(root, from) }),
    ...(clock !== undefined && { clock }),
    ...(nodes !== undefined && { nodes }),
  })
  try {
    await fill(store, tables, seeds)
    const { url } = await store.listen({ port }).catch(() => store.listen({ port: 0 }))
    return new FilledStore(store, {
      endpoint: url,
      tables: Object.fromEntries(tables.map(({ id, create }) => [id, create.TableName as string])),
      ...(clock !== undefined && { clock }),
      fresh,
      kept: await store.snapshot(),
    })
  } catch (error) {
    await store.close()
    throw error
  }
}

interface Filled extends Pick<TestStore, 'endpoint' | 'tables' | 'clock'> {
  readonly fresh: 'file' | 'test'
  /** What it was filled with. */
  readonly kept: StoreSnapshot
}

/** Its functions may be taken off it: `const { reset } = testStore()`. */
class FilledStore implements OpenedTestStore {
  readonly store: Store
  readonly endpoint: string
  readonly tables: TestStore['tables']
  readonly clock?: ManualClock
  readonly #fresh: Filled['fresh']
  #kept: StoreSnapshot
  #isBegun = false

  constructor(store: Store, { endpoint, tables, clock, fresh, kept }: Filled) {
    this.store = store
    this.endpoint = endpoint
    this.tables = tables
    if (clock !== undefined) this.clock = clock
    this.#fresh = fresh
    this.#kept = kept
  }

  readonly reset = (): Promise<void> => this.store.restore(this.#kept)

  readonly keep = async (): Promise<void> => {
    this.#kept = await this.store.snapshot()
  }

  readonly fork = async (): Promise<ForkedTestStore> => {
    // Not with what other tests are at work on: that of the snapshot.
    const store = await this.store.fork()
    try {
      await store.restore(this.#kept)
      const { url } = await store.listen({ port: 0 })
      const { tables, clock } = this
      const close = (): Promise<void> => store.close()
      return { store, endpoint: url, tables, ...(clock && { clock }), close, [Symbol.asyncDispose]: close }
    } catch (error) {
      await store.close()
      throw error
    }
  }

  readonly beforeTest = async (): Promise<void> => {
    if (this.#fresh === 'file') return
    if (this.#isBegun) await this.reset()
    // With what hooks have done before the first test.
    else await this.keep()
    this.#isBegun = true
  }

  readonly close = (): Promise<void> => this.store.close()
}

async function tablesFrom(options: TestStoreOptions, root: string): Promise<readonly TemplateTable[]> {
  const { parameters } = options
  const tables: TemplateTable[] = []
  for (const source of tableSourcesIn(options.tables))
    tables.push(
      ...(typeof source === 'string'
        ? await readTables(source, { root, parameters })
        : tablesIn(source, { parameters, environment: process.env })),
    )
  return tables
}

async function seedsFrom(
  options: TestStoreOptions,
  root: string,
  tables: readonly TemplateTable[],
): Promise<readonly Seed[]> {
  const seeds: Seed[] = []
  for (const source of Array.isArray(options.seeds)
    ? (options.seeds as readonly Source[])
    : [options.seeds ?? {}]) {
    if (typeof source !== 'string') {
      seeds.push(...seedsIn(source, tables))
      continue
    }
    const document = await readDocument(source, root)
    try {
      seeds.push(...seedsIn(document, tables))
    } catch (error) {
      throw new TemplateError(`${source}: ${(error as Error).message}`, { cause: error })
    }
  }
  return seeds
}

/** One or several. A list of objects is one document, of inputs of CreateTable, unless paths are among them. */
function tableSourcesIn(given: Source | readonly Source[] | undefined): readonly Source[] {
  if (given === undefined) return []
  return Array.isArray(given) && given.some((each) => typeof each === 'string')
    ? (given as readonly Source[])
    : [given]
}

async function fill(store: Store, tables: readonly TemplateTable[], seeds: readonly Seed[]): Promise<void> {
  for (const { create, timeToLive } of tables) {
    await store.call('CreateTable', create).catch(told(`table ${create.TableName}`))
    if (timeToLive !== undefined)
      await store
        .call('UpdateTimeToLive', { TableName: create.TableName, TimeToLiveSpecification: timeToLive })
        .catch(told(`table ${create.TableName}`))
  }
  for (const seed of seeds)
    await store.call('PutItem', seed).catch(told(`seeds of ${seed.TableName}: ${JSON.stringify(seed.Item)}`))
}

/** For promises: a refusal of the store says what was refused. */
const told =
  (what: string) =>
  (error: unknown): never => {
    throw new TemplateError(`${what}: ${(error as Error).message}`, { cause: error })
  }

function momentOf(text: string): number {
  const moment = Date.parse(text)
  if (Number.isNaN(moment)) throw wrong(['now'], `is a moment such as 2030-01-01T00:00:00Z, not '${text}'`)
  return moment
}
