import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeFrame, FRAME_HEADER_BYTES } from '../../src/journal/frame.js'
import { lsn, timestamp } from '../../src/model/brand.js'
import type { Aim } from '../../sim/planned-crashes.js'
import { missing } from '../../sim/coverage.js'
import { SimDisk } from '../../sim/disk.js'
import { FAULTS, Tally } from '../../sim/faults.js'
import { frameSeams } from '../../sim/frame-seams.js'
import { SimProcess, type Surroundings } from '../../sim/process.js'
import { Random } from '../../src/runtime/seeded-random.js'
import { Scheduler } from '../../sim/scheduler.js'
import { simulate, simulateWorld, type SimulationReport, WORKLOADS } from '../../sim/simulate.js'
import { sized } from '../support/sizes.js'

const faults = new Set(FAULTS)
const SHARED = 'world/shared journal'
const WORLDS = sized(6, 40)

function run(seed: number, worlds: number, journal?: 'own' | 'shared'): Promise<SimulationReport> {
  return simulate({
    seed,
    transactions: worlds * 100,
    worldTransactions: 100,
    nodes: 4,
    faults,
    rules: 'all',
    workloads: Object.keys(WORKLOADS),
    ...(journal && { journal }),
  })
}

test('sim, shared journal: nodes on one machine, over one journal, are sound under all faults', async () => {
  const { broken, worlds, tally } = await run(320, WORLDS, 'shared')
  const [anomaly] = broken[0]?.anomalies ?? []
  assert.equal(anomaly, undefined, `seed ${broken[0]?.seed}: ${anomaly?.kind}: ${anomaly?.explanation}`)
  assert.equal(worlds, WORLDS)
  assert.ok(tally.of(SHARED) * 8 >= WORLDS * 5, 'only worlds with one node have no journal to share')
  assert.ok(tally.of('fault/torn-group') > 0, 'no power cut has torn a group')
})

test('sim, shared journal: a machine that was killed before a sync may lose power before the next one', async () => {
  const circumstances = {
    nodes: 3,
    faults: new Set(['disk', 'crash'] as const),
    rules: 'all' as const,
    workloads: ['bank', 'append', 'mixed'],
    journal: 'shared' as const,
  }
  for (let seed = 1; seed <= sized(3, 20); seed++) {
    const { anomalies } = await simulateWorld(circumstances, seed, 80, crashesAroundStarts(seed))
    assert.deepEqual(anomalies, [], `seed ${seed}`)
  }
})

/** In the middle of syncs, and soon again: where a journal is opened and indexes are brought up to it. */
function crashesAroundStarts(seed: number): readonly Aim[] {
  const random = new Random(seed ^ 0x5555)
  const at = (point: string, crashes: number, min: number, max: number): readonly Aim[] =>
    Array.from({ length: crashes }, () => ({ point: `node:${point}`, arrival: random.between(min, max) }))
  return [
    ...at('before-sync', 6, 5, 80),
    ...['after-sync-folder', 'after-apply', 'before-write', 'before-sync-folder'].flatMap((point) =>
      at(point, 4, 2, 14),
    ),
    ...at('after-sync', 6, 5, 80),
  ]
}

test('sim, shared journal: one seed is one world, to the last event, and another with journals apart', async () => {
  const [first, second] = [await run(311, 3, 'shared'), await run(311, 3, 'shared')]
  assert.equal(first.tally.of(SHARED), 3)
  assert.equal(first.traceHash, second.traceHash)
  assert.deepEqual(first.tally.under(''), second.tally.under(''))
  const apart = await run(311, 3, 'own')
  assert.equal(apart.tally.of(SHARED), 0)
  assert.notEqual(first.traceHash, apart.traceHash)
})

test('sim, shared journal: some worlds of every run have one, whichever their workload is', async () => {
  const shared = new Set<string>()
  await simulate({
    seed: 0,
    transactions: 72,
    worldTransactions: 1,
    nodes: 4,
    faults: new Set(),
    rules: 'all',
    workloads: Object.keys(WORKLOADS),
    onWorld: ({ workload, tally }) => {
      if (tally.of(SHARED) > 0) shared.add(workload)
    },
  })
  assert.deepEqual([...shared].toSorted(), Object.keys(WORKLOADS).toSorted())
})

test('sim, shared journal: a run without any lacks something, unless that was asked for', () => {
  const lacks = (journal?: 'own' | 'shared'): boolean =>
    missing(new Tally(), { faults, rules: 'all', ...(journal && { journal }) }).includes(SHARED)
  assert.deepEqual([lacks(), lacks('shared'), lacks('own')], [true, true, false])
})

test('sim, shared journal: the seams of a write are where its frames meet', () => {
  assert.deepEqual(frameSeams(group(1)), [])
  assert.deepEqual(frameSeams(group(3)), [FRAME_HEADER_BYTES, 2 * FRAME_HEADER_BYTES])
  assert.deepEqual(frameSeams(Buffer.alloc(2 * FRAME_HEADER_BYTES)), [])
})

test('sim, shared journal: a power cut leaves no frame of a group, or some, or all', async () => {
  const frames = 4
  const whole = new Set<number>()
  const torn = new Set<number>()
  for (let seed = 0; seed < 60; seed++) {
    const { left, tally } = await cutDuringSync(seed, group(frames))
    const expected = group(frames)
    let kept = 0
    const isKept = (count: number): boolean =>
      left.subarray(0, count * FRAME_HEADER_BYTES).equals(expected.subarray(0, count * FRAME_HEADER_BYTES))
    while (kept < frames && left.length >= (kept + 1) * FRAME_HEADER_BYTES && isKept(kept + 1)) kept++
    ;(tally.of('fault/torn-group') > 0 ? torn : whole).add(kept)
  }
  assert.deepEqual(torn, new Set([1, 2, 3]))
  assert.deepEqual(whole, new Set([0, 4]))
})

/** So many empty frames, one behind the other. */
function group(frames: number): Buffer {
  const bytes = Buffer.alloc(frames * FRAME_HEADER_BYTES)
  for (let writer = 0; writer < frames; writer++) {
    const position = writer * FRAME_HEADER_BYTES
    const content = { timestamp: timestamp(1), lsn: lsn(1), changes: new Map() }
    encodeFrame(bytes.subarray(position), content, {
      writer,
      goesOn: false,
      position,
      syncedUpTo: 0,
      seed: 1,
    })
  }
  return bytes
}

/** Of a write whose machine loses power before it is synced: what a disk still has. */
async function cutDuringSync(seed: number, bytes: Buffer): Promise<{ left: Buffer; tally: Tally }> {
  const tally = new Tally()
  const around: Surroundings = {
    scheduler: new Scheduler(),
    random: new Random(seed),
    faults: new Set(),
    tally,
    trouble: { on: false },
  }
  const disk = new SimDisk(around, { seams: frameSeams })
  const process = new SimProcess(around, { name: 'one', role: 'node', start: () => Promise.resolve({}) })
  process.start()
  const files = disk.layer(process.life!, () => undefined)
  let left: Buffer | undefined
  const scene = async (): Promise<void> => {
    const file = await files.open('journal/one', { create: true })
    await files.syncFolder('journal')
    void file.writeSynced(bytes, 0)
    disk.crash('cut')
    left = Buffer.from(await file.read(0, bytes.length))
  }
  void scene()
  await around.scheduler.run(() => left !== undefined)
  return { left: left!, tally }
}
