import assert from 'node:assert/strict'
import { test } from 'node:test'
import { kernelLock, NoLocks } from '../../src/runtime/kernel-lock.js'

test('runtime: on Deno a data folder is refused with a sentence, and nothing native is loaded', async () => {
  Object.assign(globalThis, { Deno: {} })
  try {
    await assert.rejects(kernelLock(), (error) => error instanceof NoLocks && /Deno/.test(error.message))
  } finally {
    Reflect.deleteProperty(globalThis, 'Deno')
  }
})
