// The typed form of an item: a row for each attribute and each member, all ten types. Only rows in sight exist, so that an item of
// ten thousand attributes opens as fast as one of ten.
import { useReducer, useState } from 'preact/hooks'
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
  const rows = rowsOf(root).filter(
    ({ node, depth }) => find === '' || depth > 0 || node.name.toLowerCase().includes(find.toLowerCase()),
  )
  const changed = (): void => {
    redraw(undefined)
    onChange()
  }
  return (
    <>
      <div class="toolbar">
        <button
          type="button"
          class="small"
          onClick={() => {
            addChild(root)
            changed()
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
              onChange={changed}
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
  onChange,
}: {
  readonly row: TreeRow
  readonly at: number
  readonly isKey: boolean
  readonly isStored: boolean
  readonly onChange: () => void
}) {
  const { node, parent, depth } = row
  const shown = parent.type === 'M' ? node.name || 'the new attribute' : `member ${row.at + 1}`
  const problem = problemOf(row)
  const isMember = isSet(parent.type)
  const isFixed = isKey && isStored
  const edit = (change: (node: TreeNode) => void) => (): void => {
    change(node)
    onChange()
  }
  return (
    <div class="tree-row" role="row" aria-rowindex={at + 2}>
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
            onClick={edit(addChild)}
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
            onClick={edit(() => parent.children.splice(parent.children.indexOf(node), 1))}
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
          aria-label={`${node.isOpen ? 'Close' : 'Open'} ${shown}`}
          onClick={() => {
            node.isOpen = !node.isOpen
            onChange()
          }}
        >
          {node.isOpen ? '▾' : '▸'} {node.children.length} {node.children.length === 1 ? 'member' : 'members'}
        </button>
      )
  }
}
