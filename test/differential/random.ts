// Choices of a fuzzer, all from one seed.
import { seededRandom } from '../suites/seeded-random.js'

export interface Random {
  /** An integer from 0 up to, but not including, the argument. */
  below(limit: number): number
  /** True once in that many times. */
  oneIn(times: number): boolean
  pick<T>(choices: readonly T[]): T
  /** Between `min` and `max` things, made one by one. */
  several<T>(min: number, max: number, make: () => T): T[]
  /** True now and then, and only in a request that is meant to be wrong. */
  mischief(times?: number): boolean
  /** Whether the next request may be wrong at all. */
  setWrong(wrong: boolean): void
}

export function randomFrom(seed: number): Random {
  const below = seededRandom(seed)
  let wrong = false
  const random: Random = {
    below,
    oneIn: (times) => below(times) === 0,
    pick: (choices) => choices[below(choices.length)]!,
    several: (min, max, make) => Array.from({ length: min + below(max - min + 1) }, make),
    mischief: (times = 25) => wrong && below(times) === 0,
    setWrong: (next) => {
      wrong = next
    },
  }
  return random
}
