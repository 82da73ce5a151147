// All tables, with counts and sizes.
import { useState } from 'preact/hooks'
import { Badge, Empty, Problem } from '../../parts/basics.js'
import { bytesText, countText } from '../../parts/format.js'
import { useInterval, useLoad } from '../../parts/load.js'
import { go, href } from '../../parts/route.js'
import { describeTable, indexesOf, keyNames, listTables, type TableDescription } from '../../wire/tables.js'
import { CreateTable } from './create-table.js'

const REFRESH_MS = 10_000
/** Described at once. */
const AT_ONCE = 8

async function describeAll(signal: AbortSignal): Promise<readonly TableDescription[]> {
  const options = { signal, isQuiet: true }
  const names = await listTables(options)
  const found: TableDescription[] = []
  for (let at = 0; at < names.length; at += AT_ONCE) {
    const answers = await Promise.allSettled(
      names.slice(at, at + AT_ONCE).map((name) => describeTable(name, options)),
    )
    for (const answer of answers) if (answer.status === 'fulfilled') found.push(answer.value)
  }
  return found
}

export function TablesScreen() {
  const { value: tables, error, isLoading, reload, poll } = useLoad(describeAll, [])
  const [text, setText] = useState('')
  const [isCreating, setCreating] = useState(false)
  useInterval(poll, REFRESH_MS)
  const shown = (tables ?? []).filter(({ TableName }) => TableName.toLowerCase().includes(text.toLowerCase()))
  return (
    <div class="screen">
      <div class="screen-head">
        <h1>Tables</h1>
        <input
          type="search"
          data-find
          value={text}
          placeholder="Find a table"
          aria-label="Find a table"
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="button" class="primary" onClick={() => setCreating(true)}>
          Create table
        </button>
      </div>
      <Problem error={error} onRetry={reload} />
      {tables !== undefined && tables.length === 0 && (
        <Empty title="No tables yet">
          <p>
            Create one here, or point any AWS SDK at <code>{location.origin}</code>.
          </p>
        </Empty>
      )}
      {isLoading && tables === undefined && <p class="muted">Reading…</p>}
      {shown.length > 0 && (
        <div class="scroll-x" tabIndex={0} role="region" aria-label="Tables">
          <table class="grid">
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">Key</th>
                <th scope="col" class="number">
                  Items
                </th>
                <th scope="col" class="number">
                  Size
                </th>
                <th scope="col" class="number">
                  Indexes
                </th>
                <th scope="col">State</th>
              </tr>
            </thead>
            <tbody>
              {shown.map((table) => (
                <TableRow key={table.TableName} table={table} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {isCreating && (
        <CreateTable
          onClose={() => setCreating(false)}
          onCreated={(name) => {
            setCreating(false)
            go('tables', name)
          }}
        />
      )}
    </div>
  )
}

function TableRow({ table }: { readonly table: TableDescription }) {
  const { hash, range } = keyNames(table.KeySchema)
  return (
    <tr>
      <th scope="row">
        <a href={href('tables', table.TableName)}>{table.TableName}</a>
      </th>
      <td class="mono">{range === undefined ? hash : `${hash}, ${range}`}</td>
      <td class="number">{countText(table.ItemCount)}</td>
      <td class="number">{bytesText(table.TableSizeBytes)}</td>
      <td class="number">{indexesOf(table).length}</td>
      <td>
        <Badge kind={table.TableStatus === 'ACTIVE' ? 'good' : 'warn'}>
          {table.TableStatus.toLowerCase()}
        </Badge>{' '}
        {table.StreamSpecification?.StreamEnabled === true && <Badge>stream</Badge>}
      </td>
    </tr>
  )
}
