// Which keys are in demand, and who waited for whom.
import { Badge, Empty } from '../../parts/basics.js'
import { msText, plural, shortId, timeText } from '../../parts/format.js'
import { type Contention, itemText, type TransactionList } from './listed.js'

interface HotKey {
  readonly text: string
  waits: number
  waitedMs: number
  conflicts: number
}

const KEYS_MAX = 20
const WAITS_MAX = 100

export function ContentionView({
  list,
  contention,
}: {
  readonly list: TransactionList
  readonly contention: Contention
}) {
  const keys = new Map<string, HotKey>()
  const keyAt = (text: string): HotKey => {
    const found = keys.get(text) ?? { text, waits: 0, waitedMs: 0, conflicts: 0 }
    keys.set(text, found)
    return found
  }
  for (const wait of contention.Waits) {
    const key = keyAt(itemText(wait))
    key.waits++
    key.waitedMs += wait.WaitedMs ?? 0
  }
  for (const { Obstacles = [] } of list.Recent)
    for (const obstacle of Obstacles) keyAt(itemText(obstacle)).conflicts++
  const hot = [...keys.values()]
    .toSorted((one, other) => other.conflicts + other.waits - one.conflicts - one.waits)
    .slice(0, KEYS_MAX)
  const most = Math.max(1, ...hot.map(({ waits, conflicts }) => waits + conflicts))
  if (hot.length === 0 && contention.Waits.length === 0)
    return (
      <Empty title="No contention">
        <p>No request had to wait for another, and no transaction was cancelled for one.</p>
      </Empty>
    )
  return (
    <>
      <section aria-labelledby="hot">
        <h2 id="hot">Keys in demand</h2>
        <div class="scroll-x" tabIndex={0} role="group" aria-label="Keys in demand, as a table">
          <table class="grid">
            <thead>
              <tr>
                <th scope="col">Item</th>
                <th scope="col">Waits and conflicts</th>
                <th scope="col" class="number">
                  Waited
                </th>
              </tr>
            </thead>
            <tbody>
              {hot.map((key) => (
                <tr key={key.text}>
                  <th scope="row" class="mono">
                    {key.text}
                  </th>
                  <td>
                    <svg class="bar" width="120" height="10" aria-hidden="true">
                      <rect class="waits" width={(key.waits / most) * 120} height="10" />
                      <rect
                        class="conflicts"
                        x={(key.waits / most) * 120}
                        width={(key.conflicts / most) * 120}
                        height="10"
                      />
                    </svg>{' '}
                    {plural(key.waits, 'wait')}, {plural(key.conflicts, 'conflict')}
                  </td>
                  <td class="number">{msText(key.waitedMs)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </section>
      <section aria-labelledby="waits">
        <h2 id="waits">Who waited for whom</h2>
        {contention.Waits.length === 0 && <p class="muted">No request waited.</p>}
        <ul class="cards">
          {contention.Waits.slice(0, WAITS_MAX).map((wait, at) => (
            <li key={at} class="card row-line">
              <Badge kind={wait.State === 'WAITING' ? 'warn' : wait.State === 'GAVE_UP' ? 'bad' : 'good'}>
                {wait.State.toLowerCase().replace('_', ' ')}
              </Badge>
              <span class="grow">
                <span class="mono">
                  {wait.Waiter === undefined ? 'a single write or a read' : shortId(wait.Waiter)}
                </span>{' '}
                {wait.State === 'WAITING' ? 'waits for' : 'waited for'}{' '}
                <span class="mono">
                  {wait.Holders.length === 0 ? 'what came before it' : wait.Holders.map(shortId).join(', ')}
                </span>{' '}
                on <span class="mono">{itemText(wait)}</span>
              </span>
              <span class="muted">{wait.WaitedMs === undefined ? 'now' : msText(wait.WaitedMs)}</span>
              <span class="muted">{timeText(wait.SinceDateTime * 1000)}</span>
            </li>
          ))}
        </ul>
      </section>
    </>
  )
}
