// The typed form of an item: a row for each attribute and each member, all ten types. Only rows in sight exist, so that an item of
// ten thousand attributes opens as fast as one of ten.
import type { RefObject } from 'preact'
import { useEffect, useReducer, useRef, useState } from 'preact/hooks'
import { Select } from '../../parts/basics.js'
import { plural } from '../../parts/format.js'
import { VirtualRows } from '../../parts/virtual-rows.js'
import { bytesOf, TYPES } from '../../values/attribute.js'
import {
  addChild,
  hasChildren,
  isSet,
  problemOf,
  retyped,
  rowsOf,
  type TreeNode,
  type TreeRow,
} from '../../values/tree.js'

const ROW_HEIGHT = 42

export interface ItemFormProps {
  readonly root: TreeNode
  /** Attributes whose name and type are fixed. */
  readonly keys: readonly string[]
  /** Whether the values of the keys are, too. */
  readonly isStored: boolean
  readonly onChange: () => void
}

export function ItemForm({ root, keys, isStored, onChange }: ItemFormProps) {
  const [, redraw] = useReducer((last: number) => last + 1, 0)
  const [find, setFind] = useState('')
  const rowsWith = (text: string): readonly TreeRow[] =>
    rowsOf(root).filter(
      ({ node, depth }) => text === '' || depth > 0 || node.name.toLowerCase().includes(text.toLowerCase()),
    )
  const rows = rowsWith(find)
  /** The row that the keyboard is to go to: where something was added, or beside what was removed. */
  const next = useRef<TreeNode | undefined>(undefined)
  const [active, setActive] = useState<{ readonly at: number } | undefined>(undefined)
  const changed = (text = find): void => {
    redraw(undefined)
    onChange()
    if (next.current === undefined) return
    const at = rowsWith(text).findIndex(({ node }) => node === next.current)
    if (at >= 0) setActive({ at })
    else next.current = undefined
  }
  return (
    <>
      <div class="toolbar">
        <button
          type="button"
          class="small"
          onClick={() => {
            // What has no name yet would not be found.
            setFind('')
            next.current = addChild(root)
            changed('')
          }}
        >
          Add attribute
        </button>
        {root.children.length > 12 && (
          <input
            type="search"
            class="small"
            value={find}
            placeholder="Find an attribute"
            aria-label="Find an attribute"
            onInput={(event) => setFind(event.currentTarget.value)}
          />
        )}
        <span class="muted">{plural(root.children.length, 'attribute')}</span>
      </div>
      <VirtualRows
        class="tree"
        label="Attributes"
        count={rows.length}
        rowHeight={ROW_HEIGHT}
        columns={4}
        {...(active && { active })}
        header={
          <div class="tree-row head" role="row">
            <span role="columnheader">Name</span>
            <span role="columnheader">Type</span>
            <span role="columnheader">Value</span>
            <span role="columnheader">
              <span class="sr">Actions</span>
            </span>
          </div>
        }
        render={(at) => {
          const row = rows[at]
          return row === undefined ? null : (
            <FormRow
              key={row.node.id}
              row={row}
              at={at}
              isKey={row.depth === 0 && keys.includes(row.node.name)}
              isStored={isStored}
              next={next}
              onChange={() => changed()}
            />
          )
        }}
      />
    </>
  )
}

function FormRow({
  row,
  at,
  isKey,
  isStored,
  next,
  onChange,
}: {
  readonly row: TreeRow
  readonly at: number
  readonly isKey: boolean
  readonly isStored: boolean
  readonly next: RefObject<TreeNode | undefined>
  readonly onChange: () => void
}) {
  const { node, parent, depth } = row
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (next.current !== node) return
    next.current = undefined
    place.current?.querySelector<HTMLElement>(':is(input, textarea, select, button):enabled')?.focus()
  })
  const shown =
    parent.type === 'M'
      ? node.name || 'the new attribute'
      : `member ${row.at + 1}${parent.name === '' ? '' : ` of ${parent.name}`}`
  const problem = problemOf(row)
  const isMember = isSet(parent.type)
  const isFixed = isKey && isStored
  const edit = (change: (node: TreeNode) => void) => (): void => {
    change(node)
    onChange()
  }
  return (
    <div ref={place} class="tree-row" role="row" aria-rowindex={at + 2}>
      <span role="gridcell" style={{ paddingLeft: `${Math.min(depth, 12) * 1.1}rem` }}>
        {parent.type === 'M' ? (
          <input
            class="name"
            aria-label={`Name of ${shown}`}
            value={node.name}
            disabled={isKey}
            spellcheck={false}
            onInput={(event) => {
              node.name = event.currentTarget.value
              onChange()
            }}
          />
        ) : (
          <span class="muted mono">{row.at}</span>
        )}
      </span>
      <span role="gridcell">
        {isMember ? (
          <span class="muted">{node.type}</span>
        ) : (
          <Select
            aria-label={`Type of ${shown}`}
            value={node.type}
            options={TYPES}
            disabled={isKey}
            onValue={(type) => {
              retyped(node, type)
              onChange()
            }}
          />
        )}
      </span>
      <span role="gridcell" class="value">
        <Value node={node} shown={shown} isFixed={isFixed} problem={problem} onChange={onChange} />
        {problem !== undefined && <span class="problem">{problem}</span>}
      </span>
      <span role="gridcell" class="row-actions">
        {hasChildren(node.type) && (
          <button
            type="button"
            class="icon"
            aria-label={`Add to ${shown}`}
            title="Add"
            onClick={edit((to) => {
              next.current = addChild(to)
            })}
          >
            +
          </button>
        )}
        {!isKey && (
          <button
            type="button"
            class="icon"
            aria-label={`Remove ${shown}`}
            title="Remove"
            onClick={edit(() => {
              const { children } = parent
              const index = children.indexOf(node)
              next.current = children[index + 1] ?? children[index - 1] ?? parent
              children.splice(index, 1)
            })}
          >
            ✕
          </button>
        )}
      </span>
    </div>
  )
}

function Value({
  node,
  shown,
  isFixed,
  problem,
  onChange,
}: {
  readonly node: TreeNode
  readonly shown: string
  readonly isFixed: boolean
  readonly problem: string | undefined
  readonly onChange: () => void
}) {
  const label = `Value of ${shown}`
  switch (node.type) {
    case 'S':
      return (
        <textarea
          rows={1}
          aria-label={label}
          value={node.text}
          disabled={isFixed}
          spellcheck={false}
          onInput={(event) => {
            node.text = event.currentTarget.value
            onChange()
          }}
        />
      )
    case 'N':
    case 'B':
      return (
        <>
          <input
            aria-label={label}
            aria-invalid={problem !== undefined}
            class="mono"
            inputMode={node.type === 'N' ? 'decimal' : 'text'}
            value={node.text}
            disabled={isFixed}
            spellcheck={false}
            onInput={(event) => {
              node.text = event.currentTarget.value
              onChange()
            }}
          />
          {node.type === 'B' && <span class="muted">{bytesOf(node.text)} bytes</span>}
        </>
      )
    case 'BOOL':
      return (
        <label class="check">
          <input
            type="checkbox"
            aria-label={label}
            checked={node.flag}
            onChange={(event) => {
              node.flag = event.currentTarget.checked
              onChange()
            }}
          />
          <span>{String(node.flag)}</span>
        </label>
      )
    case 'NULL':
      return <span class="muted">null</span>
    case 'SS':
    case 'NS':
    case 'BS':
    case 'L':
    case 'M':
      return (
        <button
          type="button"
          class="link"
          aria-expanded={node.isOpen}
          aria-label={`${plural(node.children.length, 'member')} of ${shown}`}
          onClick={() => {
            node.isOpen = !node.isOpen
            onChange()
          }}
        >
          <span aria-hidden="true">{node.isOpen ? '▾' : '▸'}</span> {plural(node.children.length, 'member')}
        </button>
      )
  }
}
