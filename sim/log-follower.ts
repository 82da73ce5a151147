// A reader of the log of commits that never stops: it reads on from where it was through every crash and restart, as a
// reader of a stream does. What it has read must never be otherwise, nor be gone.
//
// It stands outside, as the scanner does: it passes no network and no crash point, and draws from a source of its own.
import { type CommitLogReader, LogTrimmed } from '../src/commit-log/commit-log.js'
import type { CommitRecord } from '../src/commit-log/commit-record.js'
import { Random } from '../src/runtime/seeded-random.js'
import type { Machine } from './machine.js'
import type { Surroundings } from './process.js'
import type { Recorder } from './recorder.js'

const SOURCE = 3 * 2 ** 32
const PAUSE_MICROS = { min: 100, max: 500_000 }
/** Now and then it begins once more. */
const FROM_THE_START = 0.03
const PAGE = { recordsMax: 20, bytesMax: 8 * 1024 }

export class LogFollower {
  readonly #machine: Machine
  readonly #around: Surroundings
  readonly #recorder: Recorder
  readonly #random: Random
  /** What was read, by number, as text. */
  readonly #seen = new Map<number, string>()
  #next = 1

  constructor(machine: Machine, around: Surroundings, recorder: Recorder, seed: number) {
    this.#machine = machine
    this.#around = around
    this.#recorder = recorder
    this.#random = new Random(seed + SOURCE)
  }

  /** As long as there is trouble. */
  start(): void {
    const { scheduler, trouble } = this.#around
    scheduler.after(this.#random.skewed(PAUSE_MICROS.min, PAUSE_MICROS.max), 'log follower', () => {
      if (!trouble.on) return
      void this.#look().finally(() => this.start())
    })
  }

  async #look(): Promise<void> {
    const { log } = this.#machine
    if (log === undefined) return
    if (log.last + 1 < this.#next)
      this.#recorder.found.add(
        'record-lost',
        `record ${this.#next - 1} was read, and the last is ${log.last}`,
      )
    if (this.#random.chance(FROM_THE_START)) this.#next = 1
    try {
      await this.#read(log)
    } catch (error) {
      // Its machine may have crashed meanwhile: then nothing that it says counts.
      if (this.#machine.log !== log) return
      if (!(error instanceof LogTrimmed)) throw error
      this.#around.tally.add('log/trimmed before it was read')
      this.#next = log.first
    }
  }

  async #read(log: CommitLogReader): Promise<void> {
    const { records, next } = await log.read({ from: this.#next, ...PAGE })
    if (this.#machine.log !== log) return
    for (const record of records) this.#compare(record)
    if (next <= this.#next && log.last >= this.#next)
      this.#recorder.found.add('log-stands-still', `after ${this.#next} of ${log.last}`)
    this.#next = next
  }

  #compare(record: CommitRecord): void {
    const text = textOf(record)
    const before = this.#seen.get(record.number)
    this.#seen.set(record.number, text)
    if (before !== undefined && before !== text)
      this.#recorder.found.add('record-changed', `record ${record.number} was ${before}, and is ${text}`)
  }

  /** At rest: what was read along the way is what is there, as far as it is kept. */
  async all(log: CommitLogReader): Promise<KeptRecords> {
    const { first, records: all } = await this.#kept(log)
    this.#around.tally.add('log/records', '', all.length)
    this.#around.tally.add('log/read along the way', '', this.#seen.size)
    for (const record of all) this.#compare(record)
    for (const [number] of this.#seen)
      if (number > log.last) this.#recorder.found.add('record-lost', `record ${number} was read, and is gone`)
    return { first, records: all }
  }

  /** Time goes on while it is read: what is trimmed meanwhile is read anew from where it is kept. */
  async #kept(log: CommitLogReader): Promise<KeptRecords> {
    for (;;) {
      const { first } = log
      const records: CommitRecord[] = []
      try {
        for (let from = first; from <= log.last;) {
          const page = await log.read({ from, ...PAGE })
          records.push(...page.records)
          if (page.next <= from) throw new Error(`the log stands still at ${from} of ${log.last}`)
          from = page.next
        }
        return { first, records }
      } catch (error) {
        if (!(error instanceof LogTrimmed)) throw error
      }
    }
  }
}

/** What is kept of the log, from its first record on. */
export interface KeptRecords {
  readonly first: number
  readonly records: readonly CommitRecord[]
}

function textOf({ timestamp, tx, changes }: CommitRecord): string {
  const shown = changes.map(
    ({ key, event, old, new: next }) =>
      `${event} ${Buffer.from(key, 'latin1').toString('hex')} ${text(old)} > ${text(next)}`,
  )
  return `${timestamp} ${tx ?? 'single'} ${shown.join('; ')}`
}

const text = (image: Uint8Array | undefined): string =>
  image === undefined ? '-' : Buffer.from(image).toString()
