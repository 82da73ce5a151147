// What a host means that knows no such space: the table was dropped, and everything in it; or the host was away when the space was made,
// and will be told. The catalogue says which.
//
//   call --SpaceMissing--> the catalogue is read --> no table has that space --> it is gone
//                                                \-> one has: again, a few times --> EngineUnavailable: nothing is known
import { EngineUnavailable, SpaceMissing } from '../../engine/engine.js'
import type { SpaceId } from '../../model/brand.js'
import type { EngineParts } from './engine-parts.js'

const TRIES_MAX = 5
const PAUSE_MS_FIRST = 20

/** The answer of `call`, or of `gone` if one of the spaces is no more. */
export async function whereMissing<T>(
  { lease, shapes, runtime }: EngineParts,
  spaces: readonly SpaceId[],
  call: () => Promise<T>,
  gone: () => T,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await call()
    } catch (error) {
      if (!(error instanceof SpaceMissing)) throw error
      // Who follows no catalogue writes to a table before anything is read from it.
      if (!lease.isFollowing) return gone()
      await lease.renew()
      if (!spaces.every((space) => shapes.isInUse(space))) return gone()
      if (tries >= TRIES_MAX)
        throw new EngineUnavailable(`${error.message}, though the catalogue has its table`, { cause: error })
      await new Promise<void>((resolve) => void runtime.clock.timer(PAUSE_MS_FIRST * 2 ** tries, resolve))
    }
  }
}
