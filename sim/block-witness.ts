// A stranger who asks for digests through every crash and restart, and remembers them for ever: of all that were ever signed none
// may contradict another.
//
// It stands outside, as the follower of the log does, and draws from a source of its own.
import type { Blocks } from '../src/blocks/blocks.js'
import { currentDigest, digestAt } from '../src/blocks/proofs.js'
import { base64 } from '../src/verify/bytes.js'
import { Random } from '../src/runtime/seeded-random.js'
import type { Machine } from './machine.js'
import type { Surroundings } from './process.js'
import type { Recorder } from './recorder.js'

const SOURCE = 5 * 2 ** 32
const PAUSE_MICROS = { min: 100, max: 300_000 }

export class BlockWitness {
  readonly #machine: Machine
  readonly #around: Surroundings
  readonly #recorder: Recorder
  readonly #random: Random
  /** Roots that were signed, by size. */
  readonly #signed = new Map<number, string>()

  constructor(machine: Machine, around: Surroundings, recorder: Recorder, seed: number) {
    this.#machine = machine
    this.#around = around
    this.#recorder = recorder
    this.#random = new Random(seed + SOURCE)
  }

  /** As long as there is trouble. */
  start(): void {
    const { scheduler, trouble } = this.#around
    scheduler.after(this.#random.skewed(PAUSE_MICROS.min, PAUSE_MICROS.max), 'block witness', () => {
      if (!trouble.on) return
      // A life that has ended never answers: the next look does not wait for this one.
      void this.#look()
      this.start()
    })
  }

  async #look(): Promise<void> {
    const { blocks } = this.#machine
    if (blocks === undefined) return
    try {
      this.#remember(await currentDigest(blocks))
    } catch {
      // A disk that is full, or a machine that is going down: it says nothing.
      this.#around.tally.add('blocks/no digest')
    }
  }

  #remember({ size, root }: { readonly size: number; readonly root: Uint8Array }): void {
    this.#around.tally.add('blocks/digests')
    const text = base64(root)
    const before = this.#signed.get(size)
    if (before !== undefined && before !== text)
      this.#recorder.found.add('checkpoints-contradict', `two roots of ${size} blocks were signed`)
    this.#signed.set(size, text)
  }

  /** At rest: every tree that was ever signed is the beginning of the one that there is. */
  async judge(blocks: Blocks): Promise<void> {
    this.#remember(await currentDigest(blocks))
    this.#around.tally.add('blocks/made', '', blocks.size)
    for (const [size, root] of this.#signed) {
      const isThere = size <= blocks.size && base64((await digestAt(blocks, size)).root) === root
      if (!isThere)
        this.#recorder.found.add(
          'checkpoints-contradict',
          `a tree of ${size} blocks was signed, which the one of ${blocks.size} does not begin with`,
        )
    }
  }
}
