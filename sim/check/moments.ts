// Judges what was restored: at its moment the table held just that, by everything that was committed in the world.
import { type Anomaly, Findings } from './anomaly.js'
import { brief } from '../history.js'
import type { ModelVersion } from './model.js'

/** What somebody was told that the table held at a moment. */
export interface Restored {
  readonly what: string
  readonly at: number
  /** The texts of images, by the names of their items. */
  readonly content: ReadonlyMap<string, string>
}

const ABSENT = 'absent'

export function judgeRestored(
  restored: readonly Restored[],
  versions: ReadonlyMap<string, readonly ModelVersion[]>,
): readonly Anomaly[] {
  const found = new Findings()
  for (const { what, at, content } of restored) {
    for (const name of content.keys())
      if (!versions.has(name)) found.add('restored-unknown', `${what} at ${at}: ${name} was never written`)
    for (const [name, of] of versions) {
      const last = of.findLast(({ timestamp }) => timestamp <= at)
      // Of two blind writes at one timestamp nobody has seen which came last.
      const expected = of.filter(({ timestamp }) => timestamp === last?.timestamp)
      const text = content.get(name) ?? ABSENT
      if (expected.some((version) => version.text === text)) continue
      const when = of.findLast((version) => version.text === text)?.timestamp
      found.add(
        'restored',
        `${what} at ${at} has ${name} as ${brief(text)}${when === undefined ? '' : ` of ${when}`}, and ` +
          `${last?.writer} at ${last?.timestamp} had left ${brief(last?.text ?? ABSENT)}`,
      )
    }
  }
  return found.all
}
