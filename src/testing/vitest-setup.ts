// Run by vitest before each test file; src/testing/vitest.ts names it as a setup file.
import { afterAll, inject } from 'vitest'
import { lastPort, OPTIONS_KEY, setCurrentStore } from './current-store.js'
import { openTestStore, sdkEnvironment, type TestStoreOptions } from './test-store.js'

const { options, root } = inject(OPTIONS_KEY) as { readonly options: TestStoreOptions; readonly root: string }
const opened = await openTestStore(options, root, lastPort())
const before = { ...process.env }
Object.assign(process.env, sdkEnvironment(opened.endpoint, process.env))
setCurrentStore(opened)

// Registered first, it runs last.
afterAll(async () => {
  setCurrentStore(undefined)
  for (const name of Object.keys(sdkEnvironment('', {}))) {
    if (before[name] === undefined) delete process.env[name]
    else process.env[name] = before[name]
  }
  await opened.close()
})
