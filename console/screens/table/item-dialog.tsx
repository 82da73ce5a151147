// One item: as a typed form or as JSON, with copies as code. A save is refused if the item is not what was opened any more.
import { useEffect, useRef, useState } from 'preact/hooks'
import { confirmed, copy, Dialog, Problem, Select } from '../../parts/basics.js'
import { bytesText } from '../../parts/format.js'
import { href } from '../../parts/route.js'
import { CodeEditor } from '../../parts/code-editor.js'
import { emptyValue, type Item, sizeOf } from '../../values/attribute.js'
import { asCli, asPython, asSdk, asToolkit } from '../../values/code.js'
import { itemFromJson, toDynamoJson, toPlainJson } from '../../values/plain-json.js'
import { membersOf, problemIn, treeOf, type TreeNode } from '../../values/tree.js'
import { Changed, readItem, type ReadItem, writeItem } from '../../wire/items.js'
import { keyOf, keyTypeOf, type TableDescription } from '../../wire/tables.js'
import { ItemForm } from './item-form.js'

const MODES = [
  ['form', 'Form'],
  ['plain', 'JSON'],
  ['dynamodb', 'DynamoDB JSON'],
] as const
type Mode = (typeof MODES)[number][0]

const COPIES = [
  ['', 'Copy as…'],
  ['plain', 'JSON'],
  ['dynamodb', 'DynamoDB JSON'],
  ['cli', 'AWS CLI'],
  ['sdk', 'JavaScript SDK'],
  ['python', 'Python (boto3)'],
  ['toolkit', 'Seriatim toolkit'],
] as const

const ITEM_BYTES_MAX = 400 * 1024
const NOTHING: ReadItem = { item: undefined, version: undefined }

function emptyItem(table: TableDescription): Item {
  return Object.fromEntries(
    table.KeySchema.map(({ AttributeName }) => {
      const type = keyTypeOf(table, AttributeName)
      return [AttributeName, type === 'N' ? { N: '' } : emptyValue(type)]
    }),
  )
}

export interface ItemDialogProps {
  readonly table: TableDescription
  /** As the list has it; it is read again. Undefined: a new one. */
  readonly item: Item | undefined
  readonly onClose: () => void
  readonly onSaved: (what: string) => void
}

export function ItemDialog({ table, item, onClose, onSaved }: ItemDialogProps) {
  const [mode, setMode] = useState<Mode>('form')
  const [opened, setOpened] = useState<ReadItem | undefined>(item === undefined ? NOTHING : undefined)
  const tree = useRef<TreeNode>(treeOf(emptyItem(table)))
  const saving = useRef<HTMLButtonElement>(null)
  const [text, setText] = useState('')
  const [, setEdits] = useState(0)
  const [isDirty, setDirty] = useState(false)
  const [error, setError] = useState<unknown>(undefined)
  const [changed, setChanged] = useState<ReadItem | undefined>(undefined)
  const keys = table.KeySchema.map(({ AttributeName }) => AttributeName)
  const isStored = item !== undefined

  const show = (found: ReadItem): void => {
    tree.current = treeOf(found.item ?? emptyItem(table))
    setOpened(found)
    setChanged(undefined)
    setDirty(false)
    if (mode !== 'form')
      setText(mode === 'plain' ? toPlainJson(found.item ?? {}) : toDynamoJson(found.item ?? {}))
    setEdits((last) => last + 1)
  }
  useEffect(() => {
    if (item !== undefined) readItem(table.TableName, keyOf(table, item)).then(show, setError)
  }, [])

  /** What is in the editor; throws if it is none. */
  const edited = (): Item => {
    if (mode !== 'form') return itemFromJson(text, mode)
    const problem = problemIn(tree.current)
    if (problem !== undefined) throw new Error(problem)
    return membersOf(tree.current)
  }
  const switchTo = (next: Mode): void => {
    try {
      const now = mode === 'form' ? membersOf(tree.current) : itemFromJson(text, mode)
      if (next === 'form') tree.current = treeOf(now)
      else setText(next === 'plain' ? toPlainJson(now) : toDynamoJson(now))
      setError(undefined)
      setMode(next)
    } catch (failure) {
      setError(failure)
    }
  }
  const write = async (
    next: Item | undefined,
    done: string,
    upon: ReadItem = opened ?? NOTHING,
  ): Promise<void> => {
    try {
      const key = keyOf(table, next ?? upon.item ?? item ?? {})
      const isSame = item === undefined || JSON.stringify(key) === JSON.stringify(keyOf(table, item))
      if (!isSame)
        throw new Error('the key of a stored item cannot be changed: copy it to a new item instead')
      await writeItem(table.TableName, key, upon, next)
      onSaved(done)
    } catch (failure) {
      if (failure instanceof Changed) setChanged(failure.now)
      else setError(failure)
    }
  }
  const save = async (upon?: ReadItem): Promise<void> => {
    try {
      setError(undefined)
      await write(edited(), 'Item saved', upon)
    } catch (failure) {
      setError(failure)
    }
  }
  const remove = async (): Promise<void> => {
    if (
      await confirmed({
        title: 'Delete this item?',
        text: JSON.stringify(keyOf(table, item ?? {})),
        action: 'Delete',
      })
    )
      await write(undefined, 'Item deleted')
  }
  const close = async (): Promise<void> => {
    if (
      !isDirty ||
      (await confirmed({
        title: 'Leave without saving?',
        text: 'What was changed here is lost.',
        action: 'Leave',
      }))
    )
      onClose()
  }
  const copyAs = (form: string): void => {
    try {
      const now = edited()
      const put = { TableName: table.TableName, Item: now }
      const texts: Readonly<Record<string, () => string>> = {
        plain: () => toPlainJson(now),
        dynamodb: () => toDynamoJson(now),
        cli: () => asCli('PutItem', put),
        sdk: () => asSdk('PutItem', put),
        python: () => asPython('PutItem', put),
        toolkit: () => asToolkit('PutItem', put) ?? '',
      }
      const made = texts[form]
      if (made !== undefined) void copy(made(), 'The item')
    } catch (failure) {
      setError(failure)
    }
  }
  const touched = (): void => {
    setDirty(true)
    setEdits((last) => last + 1)
  }
  const bytes = mode === 'form' ? sizeOf(membersOf(tree.current)) : undefined

  return (
    <Dialog title={isStored ? 'Item' : `New item of ${table.TableName}`} onClose={() => void close()} wide>
      <div
        class="item-dialog"
        onKeyDown={(event) => {
          // An editor saves by itself: once is enough.
          if (event.defaultPrevented) return
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
            event.preventDefault()
            void save()
          }
        }}
      >
        <div class="toolbar">
          <div class="segments" role="group" aria-label="Form or JSON">
            {MODES.map(([name, title]) => (
              <button key={name} type="button" aria-pressed={mode === name} onClick={() => switchTo(name)}>
                {title}
              </button>
            ))}
          </div>
          <span class="grow" />
          <Select aria-label="Copy as" value="" options={COPIES} onValue={copyAs} class="small" />
          {isStored && (
            <a
              class="button small"
              href={href('ledger', 'history', table.TableName, JSON.stringify(keyOf(table, item)))}
              onClick={onClose}
            >
              History
            </a>
          )}
        </div>
        <Problem error={error} />
        {changed !== undefined && (
          <div class="notice warn" role="alert">
            <div>
              <strong>Changed elsewhere.</strong> Since you opened this item, another client has{' '}
              {changed.item === undefined ? 'deleted' : 'changed'} it. Nothing of yours was saved.
            </div>
            <button
              type="button"
              class="small"
              onClick={() => {
                // The button that has the focus goes.
                saving.current?.focus()
                show(changed)
              }}
            >
              Show what is stored
            </button>
            <button
              type="button"
              class="small"
              onClick={() => {
                saving.current?.focus()
                setOpened(changed)
                setChanged(undefined)
                void save(changed)
              }}
            >
              Keep mine, and save over it
            </button>
          </div>
        )}
        {opened === undefined ? (
          <p class="muted">Reading…</p>
        ) : mode === 'form' ? (
          <ItemForm
            key={opened.version}
            root={tree.current}
            keys={keys}
            isStored={isStored}
            onChange={touched}
          />
        ) : (
          <CodeEditor
            key={mode}
            tall
            language="json"
            label={mode === 'plain' ? 'Item as JSON' : 'Item as DynamoDB JSON'}
            value={text}
            onValue={(next) => {
              setText(next)
              setDirty(true)
            }}
            onRun={() => void save()}
          />
        )}
        <div class="actions">
          {isStored && (
            <button type="button" class="danger" onClick={() => void remove()}>
              Delete
            </button>
          )}
          <span class={`grow ${bytes !== undefined && bytes > ITEM_BYTES_MAX ? 'problem' : 'muted'}`}>
            {bytes !== undefined && `about ${bytesText(bytes)} of 409.6 KB`}
          </span>
          <button type="button" onClick={() => void close()}>
            Cancel
          </button>
          <button
            ref={saving}
            type="button"
            class="primary"
            disabled={opened === undefined}
            onClick={() => void save()}
          >
            Save
          </button>
        </div>
      </div>
    </Dialog>
  )
}
