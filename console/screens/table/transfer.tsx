// Items out of a table into a file, and from a file into a table.
import { useRef, useState } from 'preact/hooks'
import { confirmed, download, Field, Notice, Problem, Select } from '../../parts/basics.js'
import { bytesText, countText, plural } from '../../parts/format.js'
import type { Item } from '../../values/attribute.js'
import { fromCsv, toCsv } from '../../values/csv.js'
import { itemsFromJson, toPlainJson } from '../../values/plain-json.js'
import { call, type Json } from '../../wire/client.js'
import { keyOf, keyText, type TableDescription } from '../../wire/tables.js'
import { batchWrite } from '../../wire/batches.js'

const FORMS = [
  ['jsonl', 'DynamoDB JSON lines, as exports to S3 have them'],
  ['json', 'JSON'],
  ['csv', 'CSV'],
] as const
type Form = (typeof FORMS)[number][0]

/** A tab is not the place for more; `seriatim export` and ExportTableToPointInTime have no such bound. */
const FILE_BYTES_MAX = 200_000_000

export function TransferView({
  table,
  onChanged,
}: {
  readonly table: TableDescription
  readonly onChanged: () => void
}) {
  const [form, setForm] = useState<Form>('jsonl')
  const [progress, setProgress] = useState<string | undefined>(undefined)
  const [error, setError] = useState<unknown>(undefined)
  const [result, setResult] = useState<string | undefined>(undefined)
  const stop = useRef<AbortController | undefined>(undefined)
  const name = table.TableName

  const exportItems = async (): Promise<void> => {
    stop.current = new AbortController()
    setError(undefined)
    setResult(undefined)
    const parts: string[] = []
    const all: Item[] = []
    let bytes = 0
    let count = 0
    let from: Json | undefined
    try {
      do {
        const { Items, LastEvaluatedKey } = await call<{
          readonly Items: readonly Item[]
          readonly LastEvaluatedKey?: Json
        }>(
          'Scan',
          { TableName: name, ...(from && { ExclusiveStartKey: from }) },
          { signal: stop.current.signal, isQuiet: from !== undefined },
        )
        if (form === 'csv') all.push(...Items)
        const text =
          form === 'jsonl'
            ? Items.map((item) => JSON.stringify({ Item: item }) + '\n').join('')
            : form === 'json'
              ? Items.map((item) => toPlainJson(item)).join(',\n')
              : JSON.stringify(Items)
        bytes += text.length
        if (bytes > FILE_BYTES_MAX)
          throw new Error(
            `more than ${bytesText(FILE_BYTES_MAX)}: use \`seriatim export\` or ExportTableToPointInTime`,
          )
        if (form !== 'csv' && Items.length > 0) parts.push(text)
        count += Items.length
        setProgress(`${countText(count)} items read`)
        from = LastEvaluatedKey
      } while (from !== undefined)
      if (form === 'json') download(`${name}.json`, ['[\n', parts.join(',\n'), '\n]\n'], 'application/json')
      else if (form === 'csv') download(`${name}.csv`, [toCsv(all)], 'text/csv')
      else download(`${name}.jsonl`, parts, 'application/jsonl')
      setResult(`${plural(count, 'item')} exported`)
    } catch (failure) {
      if (stop.current.signal.aborted) setResult('Stopped')
      else setError(failure)
    } finally {
      setProgress(undefined)
    }
  }

  const importItems = async (file: File): Promise<void> => {
    stop.current = new AbortController()
    const { signal } = stop.current
    let written = 0
    setError(undefined)
    setResult(undefined)
    try {
      if (file.size > FILE_BYTES_MAX)
        throw new Error(`more than ${bytesText(FILE_BYTES_MAX)}: use \`seriatim import\` or ImportTable`)
      const text = await file.text()
      const items = lastOfEachKey(table, file.name.endsWith('.csv') ? fromCsv(text) : itemsFromJson(text))
      const isSure = await confirmed({
        title: `Import ${plural(items.length, 'item')} into ${name}?`,
        text: 'Items with the same key are replaced.',
        action: 'Import',
      })
      if (!isSure) return
      await batchWrite(
        name,
        items.map((item) => ({ PutRequest: { Item: item } })),
        {
          signal,
          onProgress: (done) => {
            written = done
            setProgress(`${countText(done)} of ${countText(items.length)} written`)
          },
        },
      )
      setResult(`${plural(items.length, 'item')} imported`)
      onChanged()
    } catch (failure) {
      if (!signal.aborted) setError(failure)
      else setResult(`Stopped: ${countText(written)} items were written, perhaps up to 25 more`)
      if (written > 0) onChanged()
    } finally {
      setProgress(undefined)
    }
  }

  return (
    <>
      <Problem error={error} />
      {result !== undefined && <Notice kind="good">{result}</Notice>}
      {progress !== undefined && (
        <div class="notice info" role="status">
          <div>{progress}</div>
          <button type="button" class="small" onClick={() => stop.current?.abort()}>
            Stop
          </button>
        </div>
      )}
      <section aria-labelledby="export">
        <h2 id="export">Export</h2>
        <p class="lead">All items, into a file of this browser.</p>
        <div class="inline">
          <Field label="Format">
            {(id) => <Select id={id} value={form} options={FORMS} onValue={setForm} />}
          </Field>
          <button
            type="button"
            class="primary"
            aria-disabled={progress !== undefined}
            onClick={() => {
              if (progress === undefined) void exportItems()
            }}
          >
            Export items
          </button>
        </div>
      </section>
      <section aria-labelledby="import">
        <h2 id="import">Import</h2>
        <p class="lead">
          JSON (an array, or one item after another), DynamoDB JSON with or without {'{"Item": …}'}, or CSV
          with a first line of names.
        </p>
        <Field label="File">
          {(id) => (
            <input
              id={id}
              type="file"
              accept=".json,.jsonl,.ndjson,.csv,.txt"
              disabled={progress !== undefined}
              onChange={(event) => {
                const [file] = event.currentTarget.files ?? []
                if (file !== undefined) void importItems(file)
                event.currentTarget.value = ''
              }}
            />
          )}
        </Field>
      </section>
    </>
  )
}

/**
 * Later items replace earlier ones, as they would one by one: a batch with a key twice is refused. One without a key stays, for the
 * server to refuse.
 */
function lastOfEachKey(table: TableDescription, items: readonly Item[]): readonly Item[] {
  const ofKey = new Map<unknown, Item>()
  for (const item of items) {
    const hasKey = Object.values(keyOf(table, item)).every((value) => value !== undefined)
    ofKey.set(hasKey ? keyText(table, item) : item, item)
  }
  return [...ofKey.values()]
}
