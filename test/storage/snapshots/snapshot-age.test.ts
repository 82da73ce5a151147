import assert from 'node:assert/strict'
import { test } from 'node:test'
import { timestamp } from '../../../src/model/brand.js'
import { manualClock } from '../../../src/runtime/manual-clock.js'
import { OpenSnapshots } from '../../../src/storage/snapshots/snapshots.js'

test('a clock that steps back within a millisecond, as ours does, makes no snapshot too old', () => {
  const clock = manualClock(1_000_000)
  const snapshots = new OpenSnapshots(clock)
  snapshots.open(timestamp(1), undefined)
  clock.jump(-0.9)
  assert.ok(snapshots.isOpen(timestamp(1)))
  clock.jump(-60_000)
  assert.ok(!snapshots.isOpen(timestamp(1)))
})
