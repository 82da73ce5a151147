// How fast a table is copied beside others, on a clock and an event loop of the test's own.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PagePace } from '../../src/backups/page-pace.js'

const PAGE_BYTES = 64 * 1024

function aPace() {
  const world = { micros: 0, changes: 0, turnMicros: 1, rests: 0 }
  const runtime = {
    clock: { nowMicros: () => world.micros, timer: () => () => undefined },
    randomBytes: (count: number) => new Uint8Array(count),
    defer: (callback: () => void) => {
      world.micros += world.turnMicros
      setImmediate(callback)
    },
    rest: (callback: () => void) => {
      world.rests++
      setImmediate(callback)
    },
  }
  return { world, pace: new PagePace(runtime, () => world.changes) }
}

test('backups: a copy goes on at once while nobody else is at work', async () => {
  const { world, pace } = aPace()
  for (let page = 0; page < 10; page++) await pace.turn(PAGE_BYTES)
  assert.equal(world.rests, 0)
})

test('backups: a copy rests after each page while others write', async () => {
  const { world, pace } = aPace()
  for (let page = 0; page < 10; page++) {
    world.changes++
    await pace.turn(PAGE_BYTES)
  }
  assert.equal(world.rests, 10)
  await pace.turn(PAGE_BYTES)
  assert.equal(world.rests, 10)
})

test('backups: a copy rests after a page when others had work in the turn that followed', async () => {
  const { world, pace } = aPace()
  world.turnMicros = 5000
  await pace.turn(PAGE_BYTES)
  assert.equal(world.rests, 1)
})

test('backups: a copy of small pages beside others rests after several of them', async () => {
  const { world, pace } = aPace()
  for (let page = 0; page < 32; page++) {
    world.changes++
    await pace.turn(PAGE_BYTES / 8)
  }
  assert.equal(world.rests, 4)
})
