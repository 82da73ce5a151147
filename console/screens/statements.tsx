// PartiQL: statements alone, with what the store says about how it would read.
import { useMemo, useState } from 'preact/hooks'
import { Check, copy, Empty, Problem, Select } from '../parts/basics.js'
import { CodeEditor } from '../parts/code-editor.js'
import { columnWidth, countText, msText } from '../parts/format.js'
import { VirtualRows } from '../parts/virtual-rows.js'
import { attributeOf, type AttributeValue, type Item, shortText, typeOf } from '../values/attribute.js'
import { asCli, asPython, asSdk, asToolkit } from '../values/code.js'
import { itemFromJson, toPlainJson } from '../values/plain-json.js'
import { observable, useObservable } from '../wire/observable.js'
import { call, type Json } from '../wire/client.js'

interface Answer {
  readonly Items?: readonly Item[]
  readonly NextToken?: string
  readonly LastEvaluatedKey?: object
}

interface Result {
  readonly items: readonly Item[]
  readonly next: string | undefined
  readonly tookMs: number
  readonly statement: string
}

/** Kept while the tab is open: a person goes to another screen and comes back. */
const draft = observable('SELECT * FROM "Table" WHERE pk = \'…\'')
const past = observable<readonly string[]>([])
const PAST_MAX = 50
const ROWS_MAX = 2000
const CODE_FORMS = [
  ['', 'Copy as…'],
  ['cli', 'AWS CLI'],
  ['sdk', 'JavaScript SDK'],
  ['python', 'Python (boto3)'],
  ['toolkit', 'Seriatim toolkit'],
] as const
const CODES: Readonly<Record<string, (operation: string, input: Json) => string | undefined>> = {
  cli: asCli,
  sdk: asSdk,
  python: asPython,
  toolkit: asToolkit,
}

export function StatementsScreen() {
  const text = useObservable(draft)
  const before = useObservable(past)
  const [parameters, setParameters] = useState('')
  const [isConsistent, setConsistent] = useState(false)
  const [result, setResult] = useState<Result | undefined>(undefined)
  const [error, setError] = useState<unknown>(undefined)
  const [isBusy, setBusy] = useState(false)

  const requestOf = (statement: string): Json => ({
    Statement: statement,
    ...(parameters.trim() !== '' && { Parameters: parametersOf(parameters) }),
    ...(isConsistent && { ConsistentRead: true }),
  })
  /** Parameters that are no values are told as they are when the statement is run. */
  const copyAs = (form: string): void => {
    setError(undefined)
    try {
      const code = CODES[form]?.('ExecuteStatement', requestOf(text))
      if (code !== undefined) void copy(code, 'The code')
    } catch (failure) {
      setError(failure)
    }
  }
  const run = async (next?: string): Promise<void> => {
    const statement = next === undefined ? draft.get().trim().replace(/;\s*$/, '') : (result?.statement ?? '')
    if (statement === '' || isBusy) return
    setBusy(true)
    setError(undefined)
    const start = performance.now()
    try {
      const answer = await call<Answer>('ExecuteStatement', {
        ...requestOf(statement),
        ...(next !== undefined && { NextToken: next }),
      })
      const items = [...(next === undefined ? [] : (result?.items ?? [])), ...(answer.Items ?? [])].slice(
        -ROWS_MAX,
      )
      setResult({ items, next: answer.NextToken, tookMs: performance.now() - start, statement })
      past.set([statement, ...past.get().filter((each) => each !== statement)].slice(0, PAST_MAX))
    } catch (failure) {
      setError(failure)
      setResult(undefined)
    } finally {
      setBusy(false)
    }
  }
  const isExplain = result !== undefined && /^\s*explain\b/i.test(result.statement)
  return (
    <div class="screen">
      <div class="screen-head">
        <h1>Statements</h1>
        <span class="muted">PartiQL. EXPLAIN before a statement says how it would be read.</span>
      </div>
      <CodeEditor
        language="partiql"
        label="Statement"
        value={text}
        onValue={(next) => draft.set(next)}
        onRun={() => void run()}
      />
      <div class="toolbar">
        <button type="button" class="primary" aria-disabled={isBusy} onClick={() => void run()}>
          Run
        </button>
        <label class="inline-field">
          Parameters
          <input
            value={parameters}
            spellcheck={false}
            placeholder={`"text", 38`}
            onInput={(event) => setParameters(event.currentTarget.value)}
          />
        </label>
        <Check checked={isConsistent} onValue={setConsistent} label="consistent read" />
        <span class="grow" />
        {before.length > 0 && (
          <select
            aria-label="Statements that were run"
            class="small"
            value=""
            onChange={(event) => draft.set(event.currentTarget.value)}
          >
            <option value="">Run before…</option>
            {before.map((each) => (
              <option key={each} value={each}>
                {each.slice(0, 90)}
              </option>
            ))}
          </select>
        )}
        <Select aria-label="Copy statement as" value="" options={CODE_FORMS} onValue={copyAs} class="small" />
      </div>
      <Problem error={error} />
      {result !== undefined && (
        <>
          <p class="muted" role="status" data-status>
            {countText(result.items.length)} {result.items.length === 1 ? 'row' : 'rows'} in{' '}
            {msText(result.tookMs)}
            {result.items.length === ROWS_MAX && ' (the last ones)'}
          </p>
          {result.items.length === 0 ? (
            <Empty title="Done. The statement answered no rows." />
          ) : isExplain ? (
            <pre class="code" tabIndex={0} aria-label="Plan">
              {result.items.map(toPlainJson).join('\n')}
            </pre>
          ) : (
            <RowsGrid items={result.items} />
          )}
          <div class="actions left">
            {result.next !== undefined && (
              <button type="button" aria-disabled={isBusy} onClick={() => void run(result.next)}>
                More rows
              </button>
            )}
            {result.items.length > 0 && (
              <button
                type="button"
                class="small"
                onClick={() => void copy(`[\n${result.items.map(toPlainJson).join(',\n')}\n]`, 'The rows')}
              >
                Copy rows as JSON
              </button>
            )}
          </div>
        </>
      )}
    </div>
  )
}

const ROW_HEIGHT = 32
const COLUMNS_MAX = 24

/** Rows as they were answered, of which only those in sight exist. */
function RowsGrid({ items }: { readonly items: readonly Item[] }) {
  const names = useMemo(
    () =>
      [...new Set(items.slice(0, 200).flatMap((item) => Object.keys(item).slice(0, 200)))].slice(
        0,
        COLUMNS_MAX,
      ),
    [items],
  )
  const template = {
    gridTemplateColumns: `${names.map((name) => `${columnWidth(name, items)}px`).join(' ')} 1fr`,
  }
  return (
    <VirtualRows
      class="rows"
      label="Rows"
      count={items.length}
      rowHeight={ROW_HEIGHT}
      columns={names.length}
      header={
        <div class="item-row head" role="row" aria-rowindex={1} style={template}>
          {names.map((name) => (
            <span key={name} role="columnheader" class="cell" title={name}>
              {name}
            </span>
          ))}
        </div>
      }
      render={(at) => (
        <div
          key={at}
          role="row"
          class={`item-row plain ${at % 2 === 1 ? 'odd' : ''}`}
          aria-rowindex={at + 2}
          style={template}
        >
          {names.map((name) => {
            const value = attributeOf(items[at], name)
            return (
              <span
                key={name}
                role="gridcell"
                class={`cell ${value === undefined ? 'absent' : `type-${typeOf(value)}`}`}
                title={shortText(value)}
              >
                {shortText(value)}
              </span>
            )
          })}
        </div>
      )}
    />
  )
}

const parametersOf = (text: string): readonly AttributeValue[] =>
  Object.values(itemFromJson(`{"list": [${text}]}`, 'plain')).flatMap((list) => ('L' in list ? list.L : []))
