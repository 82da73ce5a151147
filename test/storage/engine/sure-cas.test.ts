// A compare-and-set of which the engine says that nothing was done is taken again, a few times.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EngineUnavailable, type RowChange, type VersionId } from '../../../src/engine/engine.js'
import { MemoryEngine } from '../../../src/engine/memory-engine.js'
import type { KeyBytes } from '../../../src/model/brand.js'
import { SureCas } from '../../../src/storage/engine/sure-cas.js'

/** Waits for nothing. */
const runtime = {
  clock: {
    nowMicros: () => 0,
    timer: (_: number, callback: () => void) => {
      setImmediate(callback)
      return () => undefined
    },
  },
  randomBytes: (count: number) => new Uint8Array(count),
  defer: (callback: () => void) => void setImmediate(callback),
}

const change: RowChange = {
  address: { space: 't1', partition: 'p' as KeyBytes, row: 'r' as KeyBytes },
  seen: 'absent',
  next: { version: 'a'.repeat(24) as VersionId, past: [], cells: { head: Buffer.from('x') } },
}

async function sure(failures: number) {
  const engine = new MemoryEngine()
  await engine.createSpace('t1')
  let calls = 0
  const cas = new SureCas({
    runtime,
    engine: {
      read: (...args) => engine.read(...args),
      cas: (changes) =>
        ++calls <= failures ? Promise.reject(new EngineUnavailable('no host answers')) : engine.cas(changes),
    },
  })
  return { cas, calls: () => calls }
}

test('a host that is busy for a moment is no failure of a write', async () => {
  const { cas, calls } = await sure(3)
  assert.deepEqual(await cas.cas([change]), { outcome: 'applied' })
  assert.equal(calls(), 4)
})

test('an engine that stays away is told of after four tries', async () => {
  const { cas, calls } = await sure(Infinity)
  await assert.rejects(cas.cas([change]), EngineUnavailable)
  assert.equal(calls(), 4)
})
