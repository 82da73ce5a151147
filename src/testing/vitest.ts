// The preset for vitest: a plugin that gives each test file a store of its own.
//
//   vitest.config.ts   seriatim({ tables: 'template.yaml' })   adds a setup file, and hands it the options
//   a worker           the setup file opens a store before each test file, and closes it afterwards
//   a test file        testStore()
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { currentStore, OPTIONS_KEY } from './current-store.js'
import type { TestStore, TestStoreOptions } from './test-store.js'

export type { ForkedTestStore, Source, TestStore, TestStoreOptions } from './test-store.js'
export { TemplateError } from './template-error.js'

/** A plugin of Vite, as far as this one needs it. */
export interface VitestPlugin {
  /** The name of the plugin. */
  readonly name: string
  /** Called by Vite with its configuration, which it changes. */
  config(config: object): void
}

/** The part of the configuration that it changes. */
interface Configuration {
  root?: string
  test?: {
    setupFiles?: string | string[]
    provide?: Record<string, unknown>
    server?: { deps?: { inline?: true | (string | RegExp)[] } }
  }
}

const SETUP_FILE = fileURLToPath(new URL('./vitest-setup.js', import.meta.url))

/**
 * A plugin that opens a store for each test file, with the tables of a template and the items of seeds. Paths are relative to
 * the root of the project. The code under test reaches the store by AWS_ENDPOINT_URL_DYNAMODB, the tests by `testStore()`.
 *
 * @example
 *   // vitest.config.ts
 *   export default {
 *     plugins: [seriatim({ tables: 'template.yaml', parameters: { Stage: 'test' }, seeds: 'seeds.json' })],
 *   }
 */
export function seriatim(options: TestStoreOptions = {}): VitestPlugin {
  return {
    name: 'seriatim',
    config(given) {
      const config = given as Configuration
      const test = (config.test ??= {})
      // Before the setup files of the project, so that those may use the store.
      test.setupFiles = [SETUP_FILE, ...listOf(test.setupFiles)]
      test.provide = { ...test.provide, [OPTIONS_KEY]: { options, root: resolve(config.root ?? '.') } }
      // Vitest runs a setup file anew for each test file, also without isolation, if it has loaded that itself.
      const deps = ((test.server ??= {}).deps ??= {})
      if (deps.inline !== true) deps.inline = [...(deps.inline ?? []), fileNamed(SETUP_FILE)]
    },
  }
}

/**
 * The store of the test file that is running. Throws if the plugin is not in the configuration.
 *
 * @example
 *   const { store: fresh, tables, reset } = testStore()
 *   beforeEach(reset)
 *   const { Count } = await fresh.call('Scan', { TableName: tables.Orders })
 *   console.log(Count) // 0
 */
export function testStore(): TestStore {
  const current = currentStore()
  if (current === undefined)
    throw new Error('there is no store: add seriatim() to the plugins in vitest.config, from seriatim/vitest')
  return current
}

const listOf = (given: string | string[] | undefined): readonly string[] =>
  given === undefined ? [] : typeof given === 'string' ? [given] : given

/** Vite writes paths with slashes on every system. */
const fileNamed = (path: string): RegExp =>
  new RegExp(`${path.replaceAll('\\', '/').replaceAll(/[.*+?^${}()|[\]]/g, '\\$&')}$`)
