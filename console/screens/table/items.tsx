// The items of a table: asked for, paged through, selected, opened.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { copy, Empty, Problem, Progress, say, Select } from '../../parts/basics.js'
import { countText } from '../../parts/format.js'
import type { Item } from '../../values/attribute.js'
import { asCli, asPython, asSdk, asToolkit } from '../../values/code.js'
import { epoch } from '../../wire/client.js'
import { useObservable } from '../../wire/observable.js'
import { PageBook } from '../../wire/page-book.js'
import { requestFor, type ItemRequest } from '../../wire/requests.js'
import type { TableDescription } from '../../wire/tables.js'
import { BulkDialog, isDeletionSure } from './bulk.js'
import { ItemDialog } from './item-dialog.js'
import { COLUMNS_MAX, columnsOf, ItemGrid } from './item-grid.js'
import { QueryForm, requestOn } from './query-form.js'
import { useSelection } from './selection.js'

const CODE_FORMS = [
  ['', 'Copy request as…'],
  ['cli', 'AWS CLI'],
  ['sdk', 'JavaScript SDK'],
  ['python', 'Python (boto3)'],
  ['toolkit', 'Seriatim toolkit'],
  ['json', 'JSON'],
] as const

/** A column stays where it is while more rows of the same question are read. */
function useColumns(table: TableDescription, book: PageBook | undefined): readonly string[] {
  const before = useRef<
    { readonly book: PageBook | undefined; readonly columns: readonly string[] } | undefined
  >(undefined)
  return useMemo(() => {
    const shown = before.current?.book === book ? (before.current?.columns ?? []) : []
    const found = columnsOf(table, book?.loaded() ?? [])
    const columns = [...shown, ...found.filter((name) => !shown.includes(name))].slice(0, COLUMNS_MAX)
    before.current = { book, columns }
    return columns
  }, [table, book, book?.count, book?.kept])
}

export function ItemsView({
  table,
  onChanged,
}: {
  readonly table: TableDescription
  readonly onChanged: () => void
}) {
  const [request, setRequest] = useState<ItemRequest>(() => requestOn(table, undefined, 'scan'))
  const [asked, setAsked] = useState(request)
  const [, redraw] = useState(0)
  const [turn, setTurn] = useState(0)
  const current = useObservable(epoch)
  const [opened, setOpened] = useState<Item | 'new' | undefined>(undefined)
  const [bulk, setBulk] = useState<'edit' | 'delete' | undefined>(undefined)
  const book = useRef<PageBook | undefined>(undefined)

  useEffect(() => {
    const { operation, input } = requestFor(asked)
    const opening = new PageBook(operation, input, () => redraw((last) => last + 1))
    book.current = opening
    void opening.more()
    return () => opening.close()
  }, [asked, turn, current])

  const rows = book.current
  const selection = useSelection(table, rows)
  const { selected, progress } = selection
  const canChange = selected.size > 0 && progress === undefined
  const refresh = (): void => {
    setTurn((last) => last + 1)
    onChanged()
  }
  const columns = useColumns(table, rows)
  const remove = async (): Promise<void> => {
    if (canChange && (await isDeletionSure(table, selected.size))) setBulk('delete')
  }
  const copyAs = (form: string): void => {
    const { operation, input } = requestFor(request)
    if (form === 'cli') void copy(asCli(operation, input), 'The command')
    else if (form === 'sdk') void copy(asSdk(operation, input), 'The code')
    else if (form === 'python') void copy(asPython(operation, input), 'The code')
    else if (form === 'toolkit') void copy(asToolkit(operation, input) ?? '', 'The code')
    else if (form === 'json') void copy(JSON.stringify(input, null, 2), 'The request')
  }

  return (
    <>
      <QueryForm
        table={table}
        request={request}
        attributes={columns}
        onChange={setRequest}
        onRun={() => {
          setAsked(request)
          setTurn((last) => last + 1)
        }}
      />
      <div class="toolbar">
        <button type="button" onClick={() => setOpened('new')}>
          New item
        </button>
        <button type="button" disabled={!canChange} onClick={() => setBulk('edit')}>
          Edit selected
        </button>
        <button type="button" class="danger" disabled={!canChange} onClick={() => void remove()}>
          Delete selected
        </button>
        <span class="muted grow" role="status" data-status>
          {rows === undefined || (rows.count === 0 && rows.isReading)
            ? 'Reading…'
            : `${countText(rows.count)}${rows.isWhole ? '' : '+'} ${rows.count === 1 ? 'item' : 'items'}${rows.scanned > rows.count ? `, ${countText(rows.scanned)} read` : ''}${selected.size > 0 ? `, ${countText(selected.size)} selected` : ''}`}
        </span>
        {selected.size > 0 && (
          <button type="button" class="small" onClick={selection.clear}>
            Select none
          </button>
        )}
        <button type="button" class="small" onClick={refresh}>
          Refresh
        </button>
        <Select aria-label="Copy request as" value="" options={CODE_FORMS} onValue={copyAs} class="small" />
      </div>
      <Problem error={rows?.error} onRetry={refresh} />
      <Problem error={selection.error} onRetry={refresh} retry="Refresh" />
      {progress !== undefined && <Progress what="Selecting rows" {...progress} onStop={selection.stop} />}
      {rows?.isPaused === true && (
        <div class="notice warn" role="status">
          <div>The last reads found nothing more that matches.</div>
          <button type="button" class="small" onClick={() => void rows.more()}>
            Read on
          </button>
        </div>
      )}
      {rows !== undefined && rows.count === 0 && rows.isWhole ? (
        <Empty title="No items">
          <p>
            {asked.filters.length > 0 || asked.mode === 'query'
              ? 'Nothing matches what was asked.'
              : 'The table is empty.'}
          </p>
        </Empty>
      ) : (
        rows !== undefined && (
          <ItemGrid
            table={table}
            book={rows}
            columns={columns}
            selection={selection}
            onOpen={setOpened}
            onDelete={() => void remove()}
          />
        )
      )}
      {opened !== undefined && (
        <ItemDialog
          table={table}
          item={opened === 'new' ? undefined : opened}
          onClose={() => setOpened(undefined)}
          onSaved={(what) => {
            setOpened(undefined)
            say(what)
            refresh()
          }}
        />
      )}
      {bulk !== undefined && (
        <BulkDialog
          table={table}
          action={bulk}
          keys={[...selected.values()]}
          onClose={(hasChanged) => {
            setBulk(undefined)
            if (hasChanged) refresh()
          }}
        />
      )}
    </>
  )
}
