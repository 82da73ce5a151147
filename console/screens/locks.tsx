// Locks: of units of work, in the server's memory, and those of the toolkit's lock client, which are rows of a table.
import { useState } from 'preact/hooks'
import { Badge, confirmed, Empty, Problem, say, Select } from '../parts/basics.js'
import { msText, plural, shortId, timeText } from '../parts/format.js'
import { useInterval, useLoad } from '../parts/load.js'
import { call, type Json } from '../wire/client.js'
import { breakLock, isLockTable, readLocks, type LockQueue } from '../wire/lock-rows.js'
import { describeTable, listTables } from '../wire/tables.js'
import { type Contention, itemText, type ListedLock } from './transactions/listed.js'

const REFRESH_MS = 1500
const TABLES_MAX = 200

async function lockTables(signal: AbortSignal): Promise<readonly string[]> {
  const names = (await listTables({ signal, isQuiet: true })).slice(0, TABLES_MAX)
  const found = await Promise.all(
    names.map(async (name) => {
      const table = await describeTable(name, { signal, isQuiet: true }).catch(() => undefined)
      return table !== undefined && (await isLockTable(table, signal)) ? name : undefined
    }),
  )
  return found.filter((name) => name !== undefined)
}

export function LocksScreen() {
  const units = useLoad(
    (signal) => call<Contention>('ListContention', { Limit: 200 }, { signal, isQuiet: true }),
    [],
  )
  const tables = useLoad(lockTables, [])
  const [chosen, setChosen] = useState('')
  const table = chosen === '' ? tables.value?.[0] : chosen
  const queues = useLoad(
    (signal) => (table === undefined ? Promise.resolve([]) : readLocks(table, signal)),
    [table],
  )
  useInterval(() => {
    units.poll()
    queues.poll()
  }, REFRESH_MS)
  const waiting = (units.value?.Waits ?? []).filter(({ State }) => State === 'WAITING')

  const breakUnit = async (lock: ListedLock): Promise<void> => {
    const isSure = await confirmed({
      title: `Break the lock on ${itemText(lock)}?`,
      text: `The unit ${shortId(lock.UnitId)} holds it. Its commit is refused if the item has changed by then; nothing that is committed is lost.`,
      action: 'Break lock',
    })
    if (!isSure) return
    try {
      await call('UnitEnd', {
        Unit: { Id: lock.UnitId, Isolation: 'serializable' },
        Locks: [{ TableName: lock.TableName, Key: lock.Key as unknown as Json }],
      })
      const { Locks } = await call<Contention>('ListContention', { Limit: 1000 }, { isQuiet: true })
      const isHeld = Locks.some((each) => each.UnitId === lock.UnitId && itemText(each) === itemText(lock))
      if (isHeld) say('It is still held: a lock belongs to the access key that it was taken with', 'bad')
      else say('Lock broken')
    } catch (failure) {
      say(String(failure), 'bad')
    }
    units.reload()
  }
  const breakRows = async (queue: LockQueue): Promise<void> => {
    const isSure = await confirmed({
      title: `Break the lock ${queue.name}?`,
      text: 'It is taken from those that hold it, and the next ones enter. A holder learns of it with its next heartbeat: until then only its fence protects.',
      action: 'Break lock',
    })
    if (!isSure || table === undefined) return
    try {
      const broken = await breakLock(table, queue)
      say(broken === 0 ? 'No client holds it any more' : `Broken: ${plural(broken, 'holder')}`)
    } catch (failure) {
      say(String(failure), 'bad')
    }
    queues.reload()
  }

  return (
    <div class="screen">
      <div class="screen-head">
        <h1>Locks</h1>
      </div>
      <Problem error={units.error ?? queues.error} onRetry={units.reload} />
      <section aria-labelledby="unit-locks">
        <h2 id="unit-locks">Of units of work</h2>
        {units.value?.Locks.length === 0 && (
          <p class="muted">
            No unit holds a lock. <code>lock: true</code> of a read takes one.
          </p>
        )}
        <ul class="cards">
          {units.value?.Locks.map((lock) => (
            <li key={`${lock.UnitId}${itemText(lock)}`} class="card row-line">
              <Badge kind="info">held</Badge>
              <span class="mono">{itemText(lock)}</span>
              <span class="grow">
                by unit <span class="mono">{shortId(lock.UnitId)}</span>
              </span>
              <span class="muted">
                since {timeText(lock.SinceDateTime * 1000)}, at most {msText(lock.LeftMs)} more
              </span>
              <button
                type="button"
                class="small danger"
                aria-label={`Break the lock on ${itemText(lock)}`}
                onClick={() => void breakUnit(lock)}
              >
                Break
              </button>
            </li>
          ))}
          {waiting.map((wait, at) => (
            <li key={at} class="card row-line">
              <Badge kind="warn">waits</Badge>
              <span class="mono">{itemText(wait)}</span>
              <span class="grow">
                {wait.Waiter === undefined ? (
                  'a single write'
                ) : (
                  <>
                    unit <span class="mono">{shortId(wait.Waiter)}</span>
                  </>
                )}
                {wait.Holders.length > 0 && (
                  <>
                    {' '}
                    for <span class="mono">{wait.Holders.map(shortId).join(', ')}</span>
                  </>
                )}
              </span>
              <span class="muted">since {timeText(wait.SinceDateTime * 1000)}</span>
            </li>
          ))}
        </ul>
      </section>
      <section aria-labelledby="lock-rows">
        <h2 id="lock-rows">Of lock clients</h2>
        {tables.value !== undefined && tables.value.length > 1 && (
          <Select
            aria-label="Table of locks"
            value={table ?? ''}
            options={tables.value.map((name) => [name, name] as const)}
            onValue={setChosen}
          />
        )}
        {tables.value?.length === 0 && (
          <p class="muted">
            No table here is one of locks (<code>locks()</code> of the toolkit makes it).
          </p>
        )}
        {table !== undefined && queues.value?.length === 0 && <Empty title={`No lock is held in ${table}`} />}
        <ul class="cards">
          {queues.value?.map((queue) => (
            <li key={`${queue.namespace}/${queue.name}`} class="card">
              <div class="row-line">
                <strong>{queue.name}</strong>
                {queue.namespace !== '' && <span class="muted">in {queue.namespace}</span>}
                <span class="muted grow">highest fence granted: {queue.granted}</span>
                <button type="button" class="small danger" onClick={() => void breakRows(queue)}>
                  Break {queue.name}
                </button>
              </div>
              <ul class="queue">
                {queue.places.map((place) => (
                  <li key={place.ticket} class="row-line">
                    <Badge kind={place.holds ? 'info' : 'warn'}>{place.holds ? 'holds' : 'waits'}</Badge>
                    <span class="mono">{place.ticket}</span>
                    <span class="grow">{place.label}</span>
                    <span class="muted">
                      since {timeText(place.sinceMs)}, lease {msText(place.leaseMs)}
                      {place.suspectedMs !== undefined && `, not heard of for ${msText(place.suspectedMs)}`}
                    </span>
                  </li>
                ))}
              </ul>
            </li>
          ))}
        </ul>
      </section>
    </div>
  )
}
