// What was asked in this tab.
import { useState } from 'preact/hooks'
import { copy, Badge, Empty, TextInput } from '../parts/basics.js'
import { msText, timeText } from '../parts/format.js'
import { asCli, asSdk, asToolkit } from '../values/code.js'
import { isDynamoDB } from '../wire/client.js'
import { useObservable } from '../wire/observable.js'
import { type LoggedRequest, requestLog } from '../wire/request-log.js'

export function HistoryScreen() {
  const log = useObservable(requestLog)
  const [text, setText] = useState('')
  const [open, setOpen] = useState<number | undefined>(undefined)
  const wanted = text.toLowerCase()
  const shown = log.filter(
    ({ operation, input }) =>
      wanted === '' ||
      operation.toLowerCase().includes(wanted) ||
      JSON.stringify(input).toLowerCase().includes(wanted),
  )
  return (
    <div class="screen">
      <div class="screen-head">
        <h1>History</h1>
        <TextInput
          type="search"
          value={text}
          onValue={setText}
          placeholder="Find in requests"
          aria-label="Find in requests"
        />
      </div>
      <p class="lead">The last {log.length} requests of this tab. They are kept in memory only.</p>
      {shown.length === 0 ? (
        <Empty title="Nothing was asked yet" />
      ) : (
        <ul class="cards">
          {shown.map((request) => (
            <li key={request.id} class="card">
              <div class="row-line">
                <button
                  type="button"
                  class="link"
                  aria-expanded={open === request.id}
                  onClick={() => setOpen(open === request.id ? undefined : request.id)}
                >
                  {request.operation}
                </button>
                <Badge kind={request.result === 'ok' ? 'good' : 'bad'}>{request.result}</Badge>
                <span class="mono grow clip">{subjectOf(request.input)}</span>
                <span class="muted">{msText(request.tookMs)}</span>
                <span class="muted">{timeText(request.startedMs)}</span>
              </div>
              {open === request.id && (
                <>
                  <pre class="code" tabIndex={0} aria-label="Request">
                    {JSON.stringify(request.input, null, 2)}
                  </pre>
                  <div class="actions left">
                    <button
                      type="button"
                      class="small"
                      onClick={() => void copy(JSON.stringify(request.input, null, 2), 'The request')}
                    >
                      Copy JSON
                    </button>
                    {!request.isCut &&
                      codesOf(request).map(([title, code]) => (
                        <button
                          key={title}
                          type="button"
                          class="small"
                          onClick={() => void copy(code, 'The code')}
                        >
                          Copy as {title}
                        </button>
                      ))}
                  </div>
                </>
              )}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

/** A unit of work has no statement for every operation, and an SDK knows none of Seriatim's own. */
function codesOf({ operation, input }: LoggedRequest): readonly (readonly [string, string])[] {
  if (!isDynamoDB(operation)) return []
  const toolkit = asToolkit(operation, input)
  return [
    ['CLI', asCli(operation, input)],
    ['SDK', asSdk(operation, input)],
    ...(toolkit === undefined ? [] : [['toolkit', toolkit] as const]),
  ]
}

function subjectOf(input: Readonly<Record<string, unknown>>): string {
  const subject = input['TableName'] ?? input['Statement']
  return typeof subject === 'string' ? subject : ''
}
