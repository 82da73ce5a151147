// The order of acknowledged writes of one item, as its clients know it: what is sent after the answer to another write comes after it.
// Only for servers that promise it: on one machine.
import type { HistoryEntry } from '../history.js'
import { type Anomaly, Findings } from './anomaly.js'

interface Acknowledged {
  readonly id: string
  readonly at: number
  readonly timestamp: number
}

interface Asked extends Acknowledged {
  readonly reads: boolean
}

/** No write and no read transaction is stamped below a write of one of its items that was acknowledged before it was sent. */
export function judgeRealTime(history: readonly HistoryEntry[]): readonly Anomaly[] {
  const found = new Findings()
  const answered = new Map<string, Acknowledged[]>()
  const asked = new Map<string, Asked[]>()
  for (const entry of history) {
    if (entry.kind !== 'write' && (entry.kind !== 'read' || entry.ofUnit === true)) continue
    const { id, timestamp, invokedAt, completedAt } = entry
    if (timestamp === undefined) continue
    for (const key of keysOf(entry)) {
      listed(asked, key).push({ id, at: invokedAt, timestamp, reads: entry.kind === 'read' })
      if (entry.kind === 'write' && entry.status === 'committed' && completedAt < Infinity)
        listed(answered, key).push({ id, at: completedAt, timestamp })
    }
  }
  for (const [key, requests] of asked) {
    const writes = listed(answered, key).toSorted((a, b) => a.at - b.at)
    let [next, last]: [number, Acknowledged | undefined] = [0, undefined]
    for (const { id, at, timestamp, reads } of requests.toSorted((a, b) => a.at - b.at)) {
      for (; next < writes.length && writes[next]!.at < at; next++)
        if (writes[next]!.timestamp > (last?.timestamp ?? 0)) last = writes[next]
      if (last !== undefined && timestamp < last.timestamp)
        found.add(
          reads ? 'read-before-answer' : 'write-before-answer',
          `${id} of ${key} is stamped ${timestamp}, but was sent after the answer to ${last.id} at ${last.timestamp}`,
        )
    }
  }
  return found.all
}

/** Those that it writes, or sees. */
const keysOf = (entry: HistoryEntry & { readonly kind: 'write' | 'read' }): Iterable<string> =>
  entry.kind === 'read'
    ? entry.images.keys()
    : entry.actions.filter(({ mutation }) => mutation.kind !== 'check').map(({ key }) => key)

function listed<T>(lists: Map<string, T[]>, key: string): T[] {
  let list = lists.get(key)
  if (list === undefined) lists.set(key, (list = []))
  return list
}
