// The disk of a simulated machine. A write is in the page cache first and on the disk once it is synced; a power cut
// leaves any part of what was not synced, by pages and in any order; names appear and vanish for good only with the
// folder's sync. It can run full, and a sync can fail.
import { type FileHandle, OutOfSpace } from '../src/runtime/files.js'
import type { WholeFileLayer } from '../src/runtime/whole-files.js'
import { rates } from './faults.js'
import type { Life, Surroundings } from './process.js'
import type { Random } from '../src/runtime/seeded-random.js'

export interface DiskOptions {
  /** Where what was handed over in one write can be taken apart. A power cut may leave some of the parts, and not all. */
  readonly seams?: (written: Buffer) => readonly number[]
  /** There is hardly any room on it. */
  readonly oftenFull?: boolean
  /** How likely a write finds no room now, of those that are that likely otherwise. */
  readonly fullRate?: (otherwise: number) => number
}

interface File {
  /** What the process reads back. */
  seen: Buffer
  /** What a power cut leaves for certain. */
  safe: Buffer
  /** Parts that differ. */
  dirty: { readonly from: number; readonly to: number }[]
}

const PAGE_BYTES = 512
/** So many times as slow as a good disk; a few are very slow, and whatever is in flight on them is so for long. */
const slownessOf = (random: Random): number =>
  random.chance(0.2) ? random.skewed(20, 100) : random.skewed(1, 20)
/** What a power cut leaves of the writes to a file that were not synced. */
const LEFT = ['none', 'prefix', 'pages'] as const
const LEFT_OF_PARTS = [...LEFT, 'parts'] as const
const NOTHING = Buffer.alloc(0)
const itself = (rate: number): number => rate

export class SimDisk {
  readonly #around: Surroundings
  readonly #random: Random
  readonly #seams: DiskOptions['seams']
  readonly #fullRate: () => number
  /** Some disks are slow, and much is in flight on them. */
  readonly #slowness: number
  #seen = new Map<string, File>()
  #safe = new Map<string, File>()
  /** Names that files have got since, and those that they had. */
  readonly #renamed = new Map<string, string>()

  constructor(around: Surroundings, { seams, oftenFull, fullRate = itself }: DiskOptions = {}) {
    const usualRate = oftenFull === true ? rates.diskOftenFull : rates.diskFull
    this.#fullRate = () => fullRate(usualRate)
    this.#around = around
    this.#seams = seams
    this.#random = around.random.fork()
    this.#slowness = around.faults.has('disk') ? slownessOf(this.#random) : 1
  }

  /** What one life of a process sees of the disk. `onFailure`: a sync has failed. */
  layer(life: Life, onFailure: () => void): WholeFileLayer {
    return {
      open: async (path, { create }) => {
        await this.#takes(life, 'open', 50)
        let file = this.#seen.get(path)
        if (file === undefined) {
          if (!create) throw new Error(`ENOENT: ${path}`)
          file = { seen: copyOf(NOTHING), safe: copyOf(NOTHING), dirty: [] }
          this.#seen.set(path, file)
        }
        if (!life.reach('after-open')) await never()
        return this.#handle(life, file, onFailure)
      },
      list: (folder) => {
        const prefix = `${folder}/`
        const names = [...this.#seen.keys()].filter((path) => path.startsWith(prefix))
        return Promise.resolve(names.map((path) => path.slice(prefix.length)))
      },
      remove: async (path) => {
        await this.#takes(life, 'remove', 50)
        this.#seen.delete(path)
        if (!life.reach('after-remove')) await never()
      },
      makeFolder: () => Promise.resolve(),
      syncFolder: async () => {
        await this.#takes(life, 'sync-folder', 500)
        this.#safe = new Map(this.#seen)
        this.#renamed.clear()
        if (!life.reach('after-sync-folder')) await never()
      },
      rename: async (path, next) => {
        await this.#takes(life, 'rename', 50)
        const file = this.#seen.get(path)
        if (file === undefined) throw new Error(`ENOENT: ${path}`)
        this.#seen.delete(path)
        this.#seen.set(next, file)
        this.#renamed.set(next, path)
        if (!life.reach('after-rename')) await never()
      },
      openWhole: async (path) => {
        await this.#takes(life, 'open', 50)
        const file = this.#seen.get(path)
        if (file === undefined) throw new Error(`ENOENT: ${path}`)
        const handle = this.#handle(life, file, onFailure)
        return {
          length: file.seen.length,
          read: (position, length) => handle.read(position, length),
          close: () => handle.close(),
        }
      },
    }
  }

  crash(power: 'kept' | 'cut'): void {
    // Without its process the machine still has what was written, synced or not.
    if (power === 'kept') return
    this.#loseNames()
    for (const file of new Set(this.#seen.values())) {
      this.#loseBytes(file)
      file.seen = copyOf(file.safe)
      file.dirty = []
    }
    this.#safe = new Map(this.#seen)
    this.#renamed.clear()
  }

  #handle(life: Life, file: File, onFailure: () => void): FileHandle {
    return {
      writeSynced: async (bytes, position) => {
        if (!life.reach('before-write')) await never()
        if (this.#fails('disk-full', this.#fullRate())) {
          write(file, bytes.subarray(0, this.#random.below(bytes.length)), position)
          throw new OutOfSpace('ENOSPC: no space left on device')
        }
        write(file, bytes, position)
        await this.#takes(life, 'sync', 200)
        if (this.#fails('sync-failed', rates.syncFailed)) {
          onFailure()
          throw new Error('EIO: i/o error')
        }
        sync(file)
        if (!life.reach('after-sync')) await never()
      },
      read: (position, length) =>
        Promise.resolve(Buffer.from(file.seen.subarray(position, position + length))),
      reserve: async (position, length) => {
        await this.#takes(life, 'reserve', 200)
        write(file, Buffer.alloc(length), position)
        sync(file)
      },
      truncateSynced: async (length) => {
        await this.#takes(life, 'truncate', 200)
        file.seen = copyOf(file.seen.subarray(0, length))
        await this.#takes(life, 'sync', 200)
        file.safe = copyOf(file.seen)
        file.dirty = []
        if (!life.reach('after-truncate')) await never()
      },
      length: () => Promise.resolve(file.seen.length),
      close: () => Promise.resolve(),
    }
  }

  /** A step of the disk takes its time; a process that is dead by then never hears of it. */
  #takes(life: Life, step: string, micros: number): Promise<void> {
    life.reach(`before-${step}`)
    return new Promise((resolve) => {
      const { scheduler } = this.#around
      scheduler.after(
        this.#random.skewed(micros / 4, micros * 4) * this.#slowness,
        `${step} ${life.process.name}`,
        () => {
          if (life.alive) resolve()
        },
      )
    })
  }

  #fails(name: string, rate: number): boolean {
    const { faults, trouble, tally } = this.#around
    const failed = trouble.on && faults.has('disk') && this.#random.chance(rate)
    if (failed) tally.add('fault/', name)
    return failed
  }

  #loseNames(): void {
    const names = new Map(this.#safe)
    for (const [path, file] of this.#seen) if (this.#random.chance(0.5)) names.set(path, file)
    for (const path of this.#safe.keys()) {
      if (!this.#seen.has(path) && this.#random.chance(0.5)) names.delete(path)
    }
    // A file that was given another name has one of the two.
    for (const [next, path] of this.#renamed) {
      const file = this.#safe.get(path)
      if (names.has(next)) names.delete(path)
      else if (file !== undefined) names.set(path, file)
    }
    this.#seen = names
  }

  #loseBytes(file: File): void {
    const { seen, dirty } = file
    if (dirty.length === 0) return
    this.#around.tally.add('fault/torn')
    const kept = this.#random.pick(this.#seams === undefined ? LEFT : LEFT_OF_PARTS)
    if (kept === 'none') return
    for (const { from, to } of dirty) {
      const seams = this.#seams?.(seen.subarray(from, to)) ?? []
      const end = kept === 'pages' ? to : from + this.#cut(kept, to - from, seams)
      for (let at = from; at < end;) {
        const next = Math.min(end, (Math.floor(at / PAGE_BYTES) + 1) * PAGE_BYTES)
        if (kept !== 'pages' || this.#random.chance(0.5))
          file.safe = written(file.safe, seen.subarray(at, next), at)
        at = next
      }
      if (isTornApart(file, from, to, seams)) this.#around.tally.add('fault/torn-group')
    }
  }

  /** How many bytes of a write are left. */
  #cut(kept: 'prefix' | 'parts', length: number, seams: readonly number[]): number {
    return kept === 'parts' && seams.length > 0 ? this.#random.pick(seams) : this.#random.below(length + 1)
  }
}

/** What a dead process waits for. */
export const never = (): Promise<never> => new Promise(() => undefined)

function write(file: File, bytes: Uint8Array, position: number): void {
  file.seen = written(file.seen, bytes, position)
  file.dirty.push({ from: position, to: position + bytes.length })
}

function sync(file: File): void {
  for (const { from, to } of file.dirty) file.safe = written(file.safe, file.seen.subarray(from, to), from)
  file.dirty = []
}

/** Whether the first part of a write was left, and not all of them. */
function isTornApart({ seen, safe }: File, from: number, to: number, [first]: readonly number[]): boolean {
  const isLeft = (end: number): boolean => seen.subarray(from, end).equals(safe.subarray(from, end))
  return first !== undefined && isLeft(from + first) && !isLeft(to)
}

/** In memory of its own, never of the pool that small buffers share. */
function copyOf(bytes: Buffer): Buffer {
  return written(Buffer.from(new ArrayBuffer(0)), bytes, 0)
}

function written(file: Buffer, bytes: Uint8Array, position: number): Buffer {
  const end = position + bytes.length
  let target = file
  if (end > file.length) {
    // With room to grow, so that a file is not copied at each write.
    const grows = file.buffer.byteLength >= end
    target = Buffer.from(grows ? file.buffer : new ArrayBuffer(Math.max(4096, 2 * end)), 0, end)
    if (!grows) file.copy(target)
  }
  target.set(bytes, position)
  return target
}
