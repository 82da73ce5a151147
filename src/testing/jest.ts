// The preset for jest: an environment that gives each test file a store of its own.
//
// Jest runs tests as CommonJS in a context of their own, where an ES module cannot be required. An environment is loaded
// outside of that context, so the store is opened here, and tests reach it over HTTP or by the global `seriatim`.
import { TestEnvironment as NodeEnvironment } from 'jest-environment-node'
import { enterSdkEnvironment } from './sdk-environment.js'
import { type OpenedTestStore, openTestStore } from './test-store.js'
import type { TestStore, TestStoreOptions } from './test-store.js'

export type { ForkedTestStore, Source, TestStore, TestStoreOptions } from './test-store.js'

declare global {
  /** The store of the test file that is running. */
  var seriatim: TestStore
}

/** The configuration of jest, as far as the environment reads it. */
export interface JestEnvironmentConfig {
  /** The folder that paths are relative to, and the options of the store. */
  readonly projectConfig: { readonly rootDir: string; readonly testEnvironmentOptions: object }
}

/** A test environment, as jest constructs and uses it. */
export type JestEnvironment = new (
  config: JestEnvironmentConfig,
  context: unknown,
) => { setup(): Promise<void>; teardown(): Promise<void> }

class SeriatimEnvironment extends NodeEnvironment {
  readonly #options: TestStoreOptions
  readonly #root: string
  #opened: OpenedTestStore | undefined
  #restoreEnvironment: (() => void) | undefined

  constructor(config: JestEnvironmentConfig, context: unknown) {
    super(config, context)
    this.#options = config.projectConfig.testEnvironmentOptions
    this.#root = config.projectConfig.rootDir
  }

  override async setup(): Promise<void> {
    await super.setup()
    const opened = await openTestStore(this.#options, this.#root)
    this.#opened = opened
    this.global['seriatim'] = opened
    this.#restoreEnvironment = enterSdkEnvironment(this.global.process.env, opened.endpoint)
  }

  /** Called by jest's runner, which waits for it. */
  async handleTestEvent({ name }: { readonly name: string }): Promise<void> {
    // Before the hooks of the test.
    if (name === 'test_start') await this.#opened?.beforeTest()
  }

  override async teardown(): Promise<void> {
    this.#restoreEnvironment?.()
    await this.#opened?.close()
    await super.teardown()
  }
}

/**
 * An environment that opens a store for each test file, with the tables of a template and the items of seeds. Paths are
 * relative to `rootDir`. The code under test reaches the store by AWS_ENDPOINT_URL_DYNAMODB, the tests by the global
 * `seriatim`. `testEnvironmentOptions` are those of `TestStoreOptions`.
 *
 * @example
 *   // jest.config.mjs
 *   export default {
 *     testEnvironment: 'seriatim/jest',
 *     testEnvironmentOptions: { tables: 'serverless.yml', parameters: { stage: 'test' }, seeds: 'seeds.json' },
 *   }
 */
const environment: JestEnvironment = SeriatimEnvironment

// Jest takes an environment as the default export of its module.
// oxlint-disable-next-line import/no-default-export
export default environment
