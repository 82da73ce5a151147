// PartiQL: statements alone, with what the store says about how it would read.
import { useState } from 'preact/hooks'
import { Check, copy, Empty, Problem } from '../parts/basics.js'
import { CodeEditor } from '../parts/code-editor.js'
import { countText, msText } from '../parts/format.js'
import { attributeOf, type AttributeValue, type Item, shortText, typeOf } from '../values/attribute.js'
import { asCli, asSdk } from '../values/code.js'
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
  const copyAs = (form: typeof asCli, what: string): void => {
    setError(undefined)
    try {
      void copy(form('ExecuteStatement', requestOf(text)), what)
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
  const names = [
    ...new Set((result?.items ?? []).slice(0, 200).flatMap((item) => Object.keys(item).slice(0, 200))),
  ].slice(0, 24)
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
        <button type="button" class="primary" disabled={isBusy} onClick={() => void run()}>
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
        <button type="button" class="small" onClick={() => copyAs(asCli, 'The command')}>
          Copy as CLI
        </button>
        <button type="button" class="small" onClick={() => copyAs(asSdk, 'The code')}>
          Copy as SDK
        </button>
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
            <div class="scroll-x" tabIndex={0} role="region" aria-label="Rows">
              <table class="grid">
                <thead>
                  <tr>
                    {names.map((name) => (
                      <th key={name} scope="col">
                        {name}
                      </th>
                    ))}
                  </tr>
                </thead>
                <tbody>
                  {result.items.slice(0, 500).map((item, at) => (
                    <tr key={at}>
                      {names.map((name) => {
                        const value = attributeOf(item, name)
                        return (
                          <td key={name} class={value === undefined ? 'absent' : `type-${typeOf(value)}`}>
                            {shortText(value)}
                          </td>
                        )
                      })}
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )}
          <div class="actions left">
            {result.next !== undefined && (
              <button type="button" disabled={isBusy} onClick={() => void run(result.next)}>
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

const parametersOf = (text: string): readonly AttributeValue[] =>
  Object.values(itemFromJson(`{"list": [${text}]}`, 'plain')).flatMap((list) => ('L' in list ? list.L : []))
