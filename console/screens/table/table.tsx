// One table: its items, its settings, import and export.
import { Problem, Badge } from '../../parts/basics.js'
import { bytesText, plural } from '../../parts/format.js'
import { useInterval, useLoad } from '../../parts/load.js'
import { href } from '../../parts/route.js'
import { describeTable, indexesOf } from '../../wire/tables.js'
import { ItemsView } from './items.js'
import { SettingsView } from './settings.js'
import { TransferView } from './transfer.js'

const VIEWS = [
  ['items', 'Items'],
  ['settings', 'Settings'],
  ['transfer', 'Import and export'],
] as const

/** While the table, or an index of it, is made or goes. */
const SETTLING_MS = 1000

export function TableScreen({ path }: { readonly path: readonly string[] }) {
  const name = path[1] ?? ''
  const view = VIEWS.find(([each]) => each === path[2])?.[0] ?? 'items'
  const {
    value: table,
    error,
    reload,
    poll,
  } = useLoad((signal) => describeTable(name, { signal, isQuiet: true }), [name])
  const isSettling =
    table !== undefined &&
    [table.TableStatus, ...indexesOf(table).map(({ IndexStatus = 'ACTIVE' }) => IndexStatus)].some(
      (status) => status !== 'ACTIVE',
    )
  useInterval(poll, isSettling ? SETTLING_MS : undefined)
  return (
    <div class={view === 'items' ? 'screen full' : 'screen'}>
      <div class="screen-head">
        <h1>
          <a href={href('tables')} class="crumb">
            Tables
          </a>
          <span class="crumb-mark" aria-hidden="true">
            /
          </span>
          {name}
        </h1>
        {table && (
          <span class="muted">
            {plural(table.ItemCount, 'item')}, {bytesText(table.TableSizeBytes)}
            {table.TableStatus !== 'ACTIVE' && <Badge kind="warn">{table.TableStatus.toLowerCase()}</Badge>}
          </span>
        )}
        <nav class="tabs" aria-label="Views of the table">
          {VIEWS.map(([each, title]) => (
            <a key={each} href={href('tables', name, each)} aria-current={each === view ? 'page' : undefined}>
              {title}
            </a>
          ))}
        </nav>
      </div>
      <Problem error={error} onRetry={reload} />
      {table && view === 'items' && <ItemsView key={table.TableName} table={table} onChanged={reload} />}
      {table && view === 'settings' && <SettingsView table={table} onChanged={reload} />}
      {table && view === 'transfer' && <TransferView table={table} onChanged={reload} />}
    </div>
  )
}
