import assert from 'node:assert/strict'
import { test } from 'node:test'
import { kernelLock, NoLocks } from '../../src/runtime/kernel-lock.js'

test('runtime: on Deno a data folder is refused with a sentence, and nothing native is loaded', () => {
  Object.assign(globalThis, { Deno: {} })
  try {
    assert.throws(kernelLock, (error) => error instanceof NoLocks && /Deno/.test(error.message))
  } finally {
    Reflect.deleteProperty(globalThis, 'Deno')
  }
})
