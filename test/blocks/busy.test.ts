// A block of its own that is asked for while the ledger is busy, and cannot be made.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Blocks, type BlocksOptions } from '../../src/blocks/blocks.js'
import { realRuntime } from '../../src/runtime/real-runtime.js'

test('blocks: a redaction that fails while others are at work rejects to its caller, and ends no process', async () => {
  let fail: (error: Error) => void = () => undefined
  const blocks = new Blocks({
    runtime: realRuntime(),
    shelf: {},
    tables: {},
    log: {},
    signer: () => new Promise((_, reject) => (fail = reject)),
    passNodes: () => Promise.resolve(),
  } as unknown as BlocksOptions)
  const begun = blocks.begin()
  // There is no ledger yet: it fails at once, and its turn has not come.
  const appended = blocks.append(() => Promise.reject(new Error('it is not asked')))
  // By then a rejection that nobody handles has been told to the process, for which the runner fails the test.
  await new Promise((resolve) => setImmediate(resolve))
  fail(new Error('there is no key'))
  await assert.rejects(begun, /there is no key/)
  await assert.rejects(appended, /No table of this store is a ledger/)
})
