// Run by vitest before each test file; src/testing/vitest.ts names it as a setup file.
import { afterAll, beforeEach, inject } from 'vitest'
import { lastPort, OPTIONS_KEY, setCurrentStore } from './current-store.js'
import { enterSdkEnvironment } from './sdk-environment.js'
import { openTestStore, type TestStoreOptions } from './test-store.js'

const { options, root } = inject(OPTIONS_KEY) as { readonly options: TestStoreOptions; readonly root: string }
const opened = await openTestStore(options, root, lastPort())
const restoreEnvironment = enterSdkEnvironment(process.env, opened.endpoint)
setCurrentStore(opened)

// Registered first, it runs before those of the test file.
beforeEach(() => opened.beforeTest())

// Registered first, it runs last.
afterAll(async () => {
  setCurrentStore(undefined)
  restoreEnvironment()
  await opened.close()
})
