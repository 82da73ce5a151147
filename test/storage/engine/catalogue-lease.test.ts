// For how long a server may use the catalogue that it has read.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CatalogueLease } from '../../../src/storage/engine/catalogue-lease.js'

function leased() {
  const now = { steady: 5_000_000, wall: 1_700_000_000_000_000 }
  const clock = { nowMicros: () => now.wall, monotonicMicros: () => now.steady, timer: () => () => undefined }
  const lease = new CatalogueLease(clock, 10_000)
  let reads = 0
  lease.follow(() => {
    reads++
    return Promise.resolve()
  })
  const pass = (ms: { readonly steady: number; readonly wall: number }): void => {
    now.steady += ms.steady * 1000
    now.wall += ms.wall * 1000
  }
  return { lease, pass, reads: () => reads }
}

test('a lease ends ten seconds after the catalogue was asked for, by either clock', async () => {
  for (const ms of [
    { steady: 10_000, wall: 10_000 },
    // The machine was suspended, and its steady clock with it.
    { steady: 10, wall: 3_600_000 },
    // The clock of the wall was set back meanwhile.
    { steady: 10_000, wall: -3_600_000 },
  ]) {
    const { lease, pass, reads } = leased()
    assert.equal(lease.isHeld, false)
    await lease.confirm()
    assert.equal(reads(), 1)
    pass({ steady: 4000, wall: 4000 })
    assert.equal(lease.confirm(), undefined)
    assert.equal(reads(), 1)
    pass(ms)
    assert.equal(lease.isHeld, false)
    const confirming = lease.confirm()
    assert.notEqual(confirming, undefined)
    await confirming
    assert.equal(reads(), 2)
    assert.equal(lease.isHeld, true)
  }
})

test('in its second half a lease is renewed, and nobody waits for it', async () => {
  const { lease, pass, reads } = leased()
  await lease.confirm()
  pass({ steady: 6000, wall: 6000 })
  assert.equal(lease.confirm(), undefined)
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(reads(), 2)
})

/** Readings of the catalogue that end when they are told to. */
function slowlyLeased() {
  const { lease, pass } = leased()
  const ends: (() => void)[] = []
  lease.follow(() => new Promise<void>((resolve) => void ends.push(resolve)))
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  return { lease, pass, ends, turn }
}

test('who has met something newer reads the catalogue after that, not with a reading that was under way', async () => {
  const { lease, ends, turn } = slowlyLeased()
  const first = lease.renew()
  let isRenewed = false
  const second = Promise.all([lease.renew(), lease.renew()]).then(() => (isRenewed = true))
  assert.equal(ends.length, 1)
  ends[0]!()
  await first
  await turn()
  assert.equal(ends.length, 2)
  assert.equal(isRenewed, false)
  ends[1]!()
  await second
  assert.equal(ends.length, 2)
})

test('a reading of the catalogue from before a server was frozen gives it no lease', async () => {
  const { lease, pass, ends, turn } = slowlyLeased()
  const confirming = lease.confirm()
  pass({ steady: 60_000, wall: 60_000 })
  ends[0]!()
  await turn()
  assert.equal(ends.length, 2)
  ends[1]!()
  await confirming
  assert.equal(lease.isHeld, true)
})
