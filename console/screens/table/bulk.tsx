// What is done to many items at once, after a question: how far it is, and what failed and why.
import { useEffect, useRef, useState } from 'preact/hooks'
import { confirmed, Dialog, Field, Notice, Progress, say, Select, TextInput } from '../../parts/basics.js'
import { countText, plural } from '../../parts/format.js'
import { binaryProblem, type Item, numberProblem, TYPES } from '../../values/attribute.js'
import { type BulkOptions, type BulkResult, deleteMany, editMany } from '../../wire/batches.js'
import type { Json } from '../../wire/client.js'
import { valueOf } from '../../wire/requests.js'
import type { TableDescription } from '../../wire/tables.js'
import { ValueInput } from './value-input.js'

const SCALARS = TYPES.filter(([type]) => ['S', 'N', 'BOOL', 'NULL', 'B'].includes(type))
const FAILURES_SHOWN_MAX = 20

export const isDeletionSure = (table: TableDescription, count: number): Promise<boolean> =>
  confirmed({
    title: `Delete ${plural(count, 'item')}?`,
    text: `They are deleted from ${table.TableName}. This cannot be undone.`,
    action: 'Delete',
  })

export interface BulkDialogProps {
  readonly table: TableDescription
  readonly action: 'edit' | 'delete'
  readonly keys: readonly Item[]
  readonly onClose: (hasChanged: boolean) => void
}

type Task = (keys: readonly Item[], options: BulkOptions) => Promise<BulkResult>

/** An edit is asked for first; a deletion, which was confirmed before, begins at once. */
export function BulkDialog({ table, action, keys, onClose }: BulkDialogProps) {
  const deletion: Task = (some, options) => deleteMany(table.TableName, some, options)
  const [task, setTask] = useState<{ readonly run: Task } | undefined>(
    action === 'delete' ? { run: deletion } : undefined,
  )
  const [left, setLeft] = useState(keys)
  const [done, setDone] = useState(0)
  const [changedBefore, setChangedBefore] = useState(0)
  const [result, setResult] = useState<BulkResult | undefined>(undefined)
  const stop = useRef(new AbortController())
  const verb = action === 'delete' ? 'deleted' : 'changed'
  const changed = changedBefore + (result?.done ?? 0)

  useEffect(() => {
    if (task === undefined) return
    const { signal } = (stop.current = new AbortController())
    setResult(undefined)
    setDone(0)
    void task.run(left, { signal, onProgress: setDone }).then((end) => {
      setResult(end)
      if (end.failed.length > 0 || end.left.length > 0) return
      say(`${plural(changedBefore + end.done, 'item')} ${verb}`)
      onClose(true)
    })
  }, [task])

  const again = (): void => {
    setLeft([...(result?.failed ?? []).map(({ key }) => key), ...(result?.left ?? [])])
    setChangedBefore(changed)
    setTask({ run: task!.run })
  }
  const isRunning = task !== undefined && result === undefined
  const title = `${action === 'delete' ? 'Delete' : 'Edit'} ${plural(keys.length, 'item')}`
  return (
    <Dialog title={title} onClose={() => (isRunning ? stop.current.abort() : onClose(changed > 0))}>
      {task === undefined && (
        <EditForm
          table={table}
          count={keys.length}
          onEdit={(edit) =>
            setTask({ run: (some, options) => editMany(table.TableName, some, edit, options) })
          }
        />
      )}
      {isRunning && (
        <Progress what={`Items ${verb}`} done={done} of={left.length} onStop={() => stop.current.abort()} />
      )}
      {result !== undefined && (
        <>
          <Outcome result={result} changed={changed} verb={verb} />
          <div class="actions">
            <button type="button" onClick={again}>
              Try the rest again
            </button>
            <button type="button" class="primary" onClick={() => onClose(changed > 0)}>
              Close
            </button>
          </div>
        </>
      )}
    </Dialog>
  )
}

function Outcome({
  result,
  changed,
  verb,
}: {
  readonly result: BulkResult
  readonly changed: number
  readonly verb: string
}) {
  const { failed, left } = result
  return (
    <>
      <Notice kind="warn">
        {`${plural(changed, 'item')} ${verb}, ${countText(failed.length)} failed, ${countText(left.length)} not tried.`}
      </Notice>
      {failed.length > 0 && (
        <ul class="failures" aria-label="Items that failed" tabIndex={0}>
          {failed.slice(0, FAILURES_SHOWN_MAX).map(({ key, error }) => (
            <li key={JSON.stringify(key)}>
              <code>{JSON.stringify(key)}</code> {reasonOf(error)}
            </li>
          ))}
          {failed.length > FAILURES_SHOWN_MAX && (
            <li>{`and ${countText(failed.length - FAILURES_SHOWN_MAX)} more`}</li>
          )}
        </ul>
      )}
    </>
  )
}

function reasonOf(error: unknown): string {
  const { name, message } = error instanceof Error ? error : new Error(String(error))
  if (name === 'ConditionalCheckFailedException') return 'it does not exist any more'
  if (name === 'NoAnswer') return 'the server did not answer: it may have been done or not'
  return `${name}: ${message}`
}

function EditForm({
  table,
  count,
  onEdit,
}: {
  readonly table: TableDescription
  readonly count: number
  readonly onEdit: (edit: Json) => void
}) {
  const [action, setAction] = useState<'set' | 'remove'>('set')
  const [name, setName] = useState('')
  const [type, setType] = useState<'S' | 'N' | 'B' | 'BOOL' | 'NULL'>('S')
  const [text, setText] = useState('')
  const isKey = table.KeySchema.some(({ AttributeName }) => AttributeName === name)
  const problem = isKey
    ? 'a key cannot be changed'
    : action === 'set' && type === 'N'
      ? numberProblem(text.trim())
      : action === 'set' && type === 'B'
        ? binaryProblem(text.trim())
        : undefined

  const run = async (): Promise<void> => {
    const isSure = await confirmed({
      title: `Change ${plural(count, 'item')}?`,
      text: `${action === 'set' ? `${name} is set in` : `${name} is removed from`} ${plural(count, 'item')} of ${table.TableName}. Each is changed by itself, not in one transaction, and what ${name} was is lost.`,
      action: 'Change',
    })
    if (!isSure) return
    onEdit({
      // An item that is gone meanwhile must not come back as a stump.
      ConditionExpression: 'attribute_exists(#k)',
      UpdateExpression: action === 'set' ? 'SET #n = :v' : 'REMOVE #n',
      ExpressionAttributeNames: { '#n': name, '#k': table.KeySchema[0]!.AttributeName },
      ...(action === 'set' && { ExpressionAttributeValues: { ':v': valueOf(type, text) } }),
    })
  }

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void run()
      }}
    >
      <div class="fields">
        <Field label="Action">
          {(id) => (
            <Select
              id={id}
              value={action}
              options={[
                ['set', 'Set an attribute'],
                ['remove', 'Remove an attribute'],
              ]}
              onValue={setAction}
            />
          )}
        </Field>
        <Field label="Attribute">
          {(id) => <TextInput id={id} value={name} onValue={setName} required />}
        </Field>
        {action === 'set' && (
          <>
            <Field label="Type">
              {(id) => (
                <Select
                  id={id}
                  value={type}
                  options={SCALARS as readonly (readonly [typeof type, string])[]}
                  onValue={setType}
                />
              )}
            </Field>
            <Field label="Value">
              {(id) => <ValueInput id={id} type={type} value={text} onValue={setText} />}
            </Field>
          </>
        )}
      </div>
      {problem !== undefined && name !== '' && <p class="problem">{problem}</p>}
      <div class="actions">
        <button type="submit" class="primary" disabled={problem !== undefined || name === ''}>
          Change {plural(count, 'item')}
        </button>
      </div>
    </form>
  )
}
