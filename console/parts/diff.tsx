// Two images of an item, attribute by attribute.
import { attributeOf, type Item, shortText } from '../values/attribute.js'

const ROWS_MAX = 300

export function Diff({
  before,
  after,
  isPartial = false,
}: {
  readonly before: Item | undefined
  readonly after: Item | undefined
  /** One of the images is not known: nothing can be said of what changed. */
  readonly isPartial?: boolean
}) {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])].slice(0, ROWS_MAX)
  return (
    <div class="scroll-x" tabIndex={0} role="group" aria-label="What changed">
      <table class="diff">
        <thead>
          <tr>
            <th scope="col">Attribute</th>
            <th scope="col">Before</th>
            <th scope="col">After</th>
          </tr>
        </thead>
        <tbody>
          {names.map((name) => {
            const [old, now] = [attributeOf(before, name), attributeOf(after, name)]
            const kind =
              isPartial || JSON.stringify(old) === JSON.stringify(now)
                ? 'same'
                : old === undefined
                  ? 'added'
                  : now === undefined
                    ? 'removed'
                    : 'changed'
            return (
              <tr key={name} class={kind}>
                <th scope="row">
                  {name}
                  {!isPartial && <span class="sr"> {kind}</span>}
                </th>
                {[old, now].map((value, at) => (
                  <td key={at} class="mono">
                    {isPartial && value === undefined ? '(not in the stream)' : shortText(value, 400)}
                  </td>
                ))}
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}
