// Items as rows. The keyboard is at one row: arrows move it, Space selects, Enter opens.
import { useEffect, useRef, useState } from 'preact/hooks'
import { columnWidth } from '../../parts/format.js'
import { VirtualRows } from '../../parts/virtual-rows.js'
import { attributeOf, type Item, shortText, typeOf } from '../../values/attribute.js'
import { type PageBook, PAGES_AHEAD_MAX } from '../../wire/page-book.js'
import { keyNames, keyText, type TableDescription } from '../../wire/tables.js'
import type { Selection } from './selection.js'

const ROW_HEIGHT = 32
export const COLUMNS_MAX = 24
/** Looked at to find which attributes there are: an item may have thousands. */
const NAMES_OF_ITEM_MAX = 200

/** The keys first, then what most items have. */
export function columnsOf(table: TableDescription, items: readonly Item[]): readonly string[] {
  const { hash, range } = keyNames(table.KeySchema)
  const keys = range === undefined ? [hash] : [hash, range]
  const counts = new Map<string, number>()
  for (const item of items.slice(0, 300)) {
    let names = 0
    for (const name in item) {
      if (++names > NAMES_OF_ITEM_MAX) break
      counts.set(name, (counts.get(name) ?? 0) + 1)
    }
  }
  const others = [...counts.entries()]
    .filter(([name]) => !keys.includes(name))
    .toSorted(([, a], [, b]) => b - a)
    .map(([name]) => name)
  return [...keys, ...others].slice(0, COLUMNS_MAX)
}

export interface ItemGridProps {
  readonly table: TableDescription
  readonly book: PageBook
  readonly columns: readonly string[]
  readonly selection: Selection
  readonly onOpen: (item: Item) => void
  readonly onDelete: () => void
}

export function ItemGrid({ table, book, columns, selection, onOpen, onDelete }: ItemGridProps) {
  const [place, setPlace] = useState({ at: 0 })
  const active = place.at
  const { selected, select } = selection
  /** How often End was pressed in a row: each time twice as many pages are passed over, so that the end of a long table can be reached. */
  const ends = useRef(0)
  useEffect(() => setPlace({ at: 0 }), [book])
  const move = (to: number): void => setPlace({ at: Math.max(0, Math.min(book.count - 1, to)) })
  const onKeyDown = (event: KeyboardEvent, page: number): void => {
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: active + 1,
      ArrowUp: active - 1,
      PageDown: active + page,
      PageUp: active - page,
      Home: 0,
      End: book.count - 1,
    }
    const to = steps[event.key]
    ends.current = event.key === 'End' ? ends.current + (book.isReading ? 0 : 1) : 0
    if (ends.current > 1 && !book.isWhole) {
      const pages = Math.min(PAGES_AHEAD_MAX, 2 ** Math.min(10, ends.current))
      if (!book.isReading) void book.more(pages).then(() => move(book.count - 1))
    } else if (to !== undefined) move(to)
    else if (event.key === 'Enter') {
      const item = book.row(active)
      if (item !== undefined) onOpen(item)
    } else if (event.key === ' ') select(active, event.shiftKey ? 'range' : 'toggle')
    else if (event.key === 'a' && (event.ctrlKey || event.metaKey)) selection.selectAll()
    else if (event.key === 'Escape' && selection.progress !== undefined) selection.stop()
    else if (event.key === 'Delete' && selected.size > 0) onDelete()
    else return
    event.preventDefault()
  }
  const firstRows = Array.from({ length: Math.min(20, book.count) }, (_, at) => book.row(at))
  const widths = columns.map((name) => columnWidth(name, firstRows))
  const template = { gridTemplateColumns: `2.25rem ${widths.map((width) => `${width}px`).join(' ')} 1fr` }
  const { hash, range } = keyNames(table.KeySchema)
  const header = (
    <div class="item-row head" role="row" aria-rowindex={1} style={template}>
      <span role="columnheader">
        <span class="sr">Selected</span>
      </span>
      {columns.map((name) => (
        <span key={name} role="columnheader" class="cell" title={name}>
          {name}
          {(name === hash || name === range) && <span class="key-mark">{name === hash ? 'PK' : 'SK'}</span>}
        </span>
      ))}
    </div>
  )
  return (
    <VirtualRows
      class="items"
      label={`Items of ${table.TableName}`}
      count={book.count}
      rowHeight={ROW_HEIGHT}
      columns={columns.length + 1}
      header={header}
      active={place}
      activeId={book.count > 0 ? `row-${active}` : undefined}
      isMulti
      onRange={(first, last) => book.want(first, last)}
      onKeyDown={onKeyDown}
      render={(at) => {
        const item = book.row(at)
        const isSelected = item !== undefined && selected.size > 0 && selected.has(keyText(table, item))
        return (
          <div
            key={at}
            id={`row-${at}`}
            role="row"
            class={`item-row ${at === active ? 'active' : ''} ${at % 2 === 1 ? 'odd' : ''}`}
            aria-rowindex={at + 2}
            aria-selected={isSelected}
            style={template}
            onClick={(event) => {
              setPlace({ at })
              if (event.shiftKey) select(at, 'range')
              else if (item !== undefined) onOpen(item)
            }}
          >
            <span
              role="gridcell"
              class="cell tick"
              onClick={(event) => {
                event.stopPropagation()
                setPlace({ at })
                select(at, event.shiftKey ? 'range' : 'toggle')
              }}
            >
              <span class={isSelected ? 'box on' : 'box'} aria-hidden="true">
                {isSelected ? '✓' : ''}
              </span>
            </span>
            {columns.map((name) => {
              const value = attributeOf(item, name)
              return (
                <span
                  key={name}
                  role="gridcell"
                  class={`cell ${value === undefined ? 'absent' : `type-${typeOf(value)}`}`}
                >
                  {item === undefined ? '…' : shortText(value)}
                </span>
              )
            })}
          </div>
        )
      }}
    />
  )
}
