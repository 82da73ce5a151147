// What is done to many items at once, after a question.
import { useState } from 'preact/hooks'
import { confirmed, Field, Problem, say, Select, TextInput } from '../../parts/basics.js'
import { plural } from '../../parts/format.js'
import { type AttributeValue, type Item, numberProblem, TYPES } from '../../values/attribute.js'
import { call, type Json } from '../../wire/client.js'
import { valueOf } from '../../wire/requests.js'
import { keyOf, type TableDescription } from '../../wire/tables.js'

const BATCH = 25
const TRIES_MAX = 20
const PAUSE_MS = 50

/** Writes in batches; what the server hands back is sent again. */
export async function batchWrite(
  table: string,
  requests: readonly Json[],
  onProgress?: (done: number) => void,
): Promise<void> {
  for (let at = 0; at < requests.length; at += BATCH) {
    let left: readonly Json[] = requests.slice(at, at + BATCH)
    for (let tries = 0; left.length > 0; tries++) {
      if (tries >= TRIES_MAX)
        throw new Error(
          `${left.length} writes were handed back ${TRIES_MAX} times: another transaction holds their items`,
        )
      if (tries > 0) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * tries))
      const { UnprocessedItems } = await call<{
        readonly UnprocessedItems?: Readonly<Record<string, readonly Json[]>>
      }>('BatchWriteItem', { RequestItems: { [table]: left } }, { isQuiet: at > 0 || tries > 0 })
      left = UnprocessedItems?.[table] ?? []
    }
    onProgress?.(Math.min(requests.length, at + BATCH))
  }
}

export async function deleteMany(table: TableDescription, items: readonly Item[]): Promise<boolean> {
  const yes = await confirmed({
    title: `Delete ${plural(items.length, 'item')}?`,
    text: `They are deleted from ${table.TableName}. This cannot be undone.`,
    action: 'Delete',
  })
  if (!yes) return false
  try {
    await batchWrite(
      table.TableName,
      items.map((item) => ({ DeleteRequest: { Key: keyOf(table, item) } })),
    )
    say(`${plural(items.length, 'item')} deleted`)
  } catch (error) {
    say(String(error), 'bad')
  }
  return true
}

const SCALARS = TYPES.filter(([type]) => ['S', 'N', 'BOOL', 'NULL', 'B'].includes(type))
const AT_ONCE = 8

export function BulkEdit({
  table,
  items,
  onDone,
}: {
  readonly table: TableDescription
  readonly items: readonly Item[]
  readonly onDone: () => void
}) {
  const [action, setAction] = useState<'set' | 'remove'>('set')
  const [name, setName] = useState('')
  const [type, setType] = useState<'S' | 'N' | 'B' | 'BOOL' | 'NULL'>('S')
  const [text, setText] = useState('')
  const [done, setDone] = useState<number | undefined>(undefined)
  const [error, setError] = useState<unknown>(undefined)
  const isKey = table.KeySchema.some(({ AttributeName }) => AttributeName === name)
  const problem = isKey
    ? 'a key cannot be changed'
    : action === 'set' && type === 'N'
      ? numberProblem(text.trim())
      : undefined

  const run = async (): Promise<void> => {
    const value: AttributeValue = valueOf(type, text)
    const edit =
      action === 'set'
        ? {
            UpdateExpression: 'SET #n = :v',
            ExpressionAttributeNames: { '#n': name, '#k': table.KeySchema[0]!.AttributeName },
            ExpressionAttributeValues: { ':v': value },
          }
        : {
            UpdateExpression: 'REMOVE #n',
            ExpressionAttributeNames: { '#n': name, '#k': table.KeySchema[0]!.AttributeName },
          }
    try {
      for (let at = 0; at < items.length; at += AT_ONCE) {
        await Promise.all(
          items.slice(at, at + AT_ONCE).map((item) =>
            call(
              'UpdateItem',
              // An item that is gone meanwhile must not come back as a stump.
              {
                TableName: table.TableName,
                Key: keyOf(table, item),
                ConditionExpression: 'attribute_exists(#k)',
                ...edit,
              },
              { isQuiet: at > 0 },
            ),
          ),
        )
        setDone(Math.min(items.length, at + AT_ONCE))
      }
      say(`${plural(items.length, 'item')} changed`)
      onDone()
    } catch (failure) {
      setError(failure)
    }
  }

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void run()
      }}
    >
      <Problem error={error} />
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
            <Field label="Value">{(id) => <TextInput id={id} value={text} onValue={setText} />}</Field>
          </>
        )}
      </div>
      {problem !== undefined && name !== '' && <p class="problem">{problem}</p>}
      <p>
        {done === undefined
          ? `Each of the ${plural(items.length, 'item')} is changed by itself, not in one transaction.`
          : `${done} of ${items.length} changed.`}
      </p>
      <div class="actions">
        <button type="submit" class="primary" disabled={problem !== undefined || name === ''}>
          Change {plural(items.length, 'item')}
        </button>
      </div>
    </form>
  )
}
