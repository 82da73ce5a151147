import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { smallKnobs } from '../../sim/knobs.js'
import { checkLogFiles } from '../../src/commit-log/files/log-check.js'
import { openLogFiles } from '../../src/commit-log/files/log-files.js'
import type { LogStorage } from '../../src/commit-log/log-storage.js'
import { memoryLogStorage } from '../../src/commit-log/memory-log.js'
import type { Knobs } from '../../src/model/knobs.js'
import { Random } from '../../src/runtime/seeded-random.js'
import { FaultyDisk, somePages } from '../faults/faulty-files.js'
import { sized } from '../support/sizes.js'
import { testRuntime } from '../support/test-runtime.js'
import { agree, LogModel, type Step, stepsOf } from './log-model.js'

const SEED = 20_261_117
const numRuns = sized(150, 3000)
const owner = 'ab'.repeat(16)
const folder = 'data/commit-log'

test('log in memory: it agrees with a plain array, over random histories', async () => {
  await fc.assert(
    fc.asyncProperty(stepsOf('forgotten'), fc.nat(), async (steps, seed) => {
      const knobs = { ...smallKnobs(new Random(seed), 0.7), logMemoryBytesMax: 64 * 1024 }
      const storage = memoryLogStorage({ knobs })
      const model = new LogModel()
      for (const step of steps) {
        if (step.kind === 'append') await append(model, storage, step)
        else if (step.kind !== 'reopen' && step.kind !== 'crash') await agree(model, storage, step)
        assertSame(model, storage)
      }
    }),
    { seed: SEED, numRuns },
  )
})

test('log in files: it agrees with a plain array, over random histories with crashes and small knobs', async () => {
  const met = { crashes: 0, kept: 0, segments: 0, trims: 0 }
  await fc.assert(
    fc.asyncProperty(stepsOf('kept'), fc.nat(), async (steps, seed) => {
      const world = new World(seed)
      await world.open()
      for (const step of steps) await world.take(step)
      met.crashes += world.crashes
      met.kept += world.kept
      met.segments = Math.max(met.segments, world.segments)
      met.trims += world.model.first > 1 ? 1 : 0
      await world.finish()
    }),
    { seed: SEED, numRuns },
  )
  assert.ok(met.crashes > numRuns && met.kept > 0 && met.segments > 5 && met.trims > 10, JSON.stringify(met))
})

async function append(
  model: LogModel,
  storage: LogStorage,
  step: Extract<Step, { kind: 'append' }>,
): Promise<void> {
  const { records, position } = model.next(step.records)
  await storage.append(records, position)
  model.records.push(...records)
  model.position = position
}

function assertSame(model: LogModel, storage: LogStorage): void {
  assert.deepEqual([storage.first, storage.last, storage.position], [model.first, model.last, model.position])
}

class PowerCut extends Error {}

/** A disk, the process that has the log open, and what the log should hold. */
class World {
  readonly model = new LogModel()
  readonly #knobs: Partial<Knobs>
  #disk = new FaultyDisk()
  #storage!: LogStorage
  #opened = 0
  /** What comes back of what was not synced when the power fails. */
  #pages = 0
  crashes = 0
  /** Appends that were kept though no answer came. */
  kept = 0

  constructor(seed: number) {
    this.#knobs = { ...smallKnobs(new Random(seed), 0.7), logSegmentBytesMax: 200 + (seed % 1500) }
  }

  get segments(): number {
    return this.#disk.paths.filter((path) => path.endsWith('.commits')).length
  }

  async open(): Promise<void> {
    const runtime = testRuntime(++this.#opened)
    this.#storage = await openLogFiles({ files: this.#disk, folder, owner, runtime, knobs: this.#knobs })
  }

  async take(step: Step): Promise<void> {
    const before = { last: this.model.last, position: this.model.position }
    try {
      await this.#takeUncut(step)
      assertSame(this.model, this.#storage)
    } catch (error) {
      if (!isPowerCut(error)) throw error
      const appended = step.kind === 'append' ? this.model.next(step.records) : undefined
      await this.#powerCut()
      const { last, position, first } = this.#storage
      if (last > before.last || position.upTo > before.position.upTo) {
        assert.deepEqual(
          [last, position],
          [before.last + (appended?.records.length ?? 0), appended?.position],
        )
        this.model.records.push(...(appended?.records ?? []))
        this.model.position = position
        this.kept++
      }
      // A trimming that was begun may be finished.
      if (step.kind === 'trim') this.model.first = first
      assertSame(this.model, this.#storage)
    }
  }

  async #takeUncut(step: Step): Promise<void> {
    switch (step.kind) {
      case 'append':
        return append(this.model, this.#storage, step)
      case 'reopen':
        await this.#storage.close()
        return this.open()
      case 'crash': {
        const cutAt = this.#disk.steps + step.afterSteps
        this.#pages = step.pages
        const disk = this.#disk
        disk.partialBytes = step.pages * 9
        disk.fault = () => {
          if (disk.steps >= cutAt) throw new PowerCut()
        }
        return
      }
      case 'read':
      case 'time':
      case 'item':
      case 'trim':
        return agree(this.model, this.#storage, step)
    }
  }

  async #powerCut(): Promise<void> {
    this.crashes++
    this.#disk = this.#disk.afterPowerCut(somePages((page) => ((this.#pages >> (page % 6)) & 1) === 1))
    assert.deepEqual(await this.#findings(), [])
    await this.open()
  }

  async finish(): Promise<void> {
    this.#disk.fault = () => undefined
    await this.#storage.close().catch(() => undefined)
    await this.open()
    await agree(this.model, this.#storage, {
      kind: 'read',
      at: 1,
      recordsMax: 1e6,
      bytesMax: 1e9,
      spaces: [1, 2, 3],
    })
    await this.#storage.close()
    assert.deepEqual(await this.#findings(), [])
  }

  async #findings(): Promise<readonly string[]> {
    return (await checkLogFiles({ files: this.#disk, folder, owner })).findings
  }
}

function isPowerCut(error: unknown): boolean {
  return (
    error instanceof PowerCut ||
    (error instanceof Error && error.cause !== undefined && isPowerCut(error.cause))
  )
}
