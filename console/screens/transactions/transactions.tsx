// Transactions as they happen: phases by node, reasons, contention, what recovery did.
import { useState } from 'preact/hooks'
import { Badge, Check, Empty, Problem } from '../../parts/basics.js'
import { msText, plural, shortId, timeText } from '../../parts/format.js'
import { useInterval, useLoad } from '../../parts/load.js'
import { href } from '../../parts/route.js'
import { call } from '../../wire/client.js'
import { ContentionView } from './contention.js'
import { Timeline } from './timeline.js'
import {
  type Contention,
  itemsText,
  itemText,
  type ListedTransaction,
  type TransactionList,
} from './listed.js'

const REFRESH_MS = 1000
const LIMIT = 200

const VIEWS = [
  ['timeline', 'Timeline'],
  ['contention', 'Contention'],
  ['recovery', 'Recovery'],
] as const

export function TransactionsScreen({ path }: { readonly path: readonly string[] }) {
  const view = VIEWS.find(([name]) => name === path[1])?.[0] ?? 'timeline'
  const [isLive, setLive] = useState(true)
  const [isCancelledOnly, setCancelledOnly] = useState(false)
  const [open, setOpen] = useState<string | undefined>(undefined)
  const { value, error, reload, poll } = useLoad(async (signal) => {
    const options = { signal, isQuiet: true }
    const [list, contention] = await Promise.all([
      call<TransactionList>('ListTransactions', { Limit: LIMIT }, options),
      call<Contention>('ListContention', { Limit: LIMIT }, options),
    ])
    return { list, contention }
  }, [])
  useInterval(poll, isLive ? REFRESH_MS : undefined)
  const recent = (value?.list.Recent ?? []).filter(
    ({ Outcome }) => !isCancelledOnly || Outcome === 'CANCELLED',
  )
  const shown: readonly ListedTransaction[] = [...(value?.list.InFlight ?? []), ...recent]
  return (
    <div class="screen">
      <div class="screen-head">
        <h1>Transactions</h1>
        <nav class="tabs" aria-label="Views of transactions">
          {VIEWS.map(([name, title]) => (
            <a key={name} href={href('transactions', name)} aria-current={name === view ? 'page' : undefined}>
              {title}
            </a>
          ))}
        </nav>
      </div>
      <div class="toolbar">
        <button type="button" aria-pressed={isLive} onClick={() => setLive(!isLive)}>
          {isLive ? 'Pause' : 'Follow'}
        </button>
        {view === 'timeline' && (
          <Check checked={isCancelledOnly} onValue={setCancelledOnly} label="cancelled only" />
        )}
        <span class="muted grow" role="status">
          {value &&
            `${value.list.InFlight.length} in flight, ${plural(value.list.Recent.length, 'recent one')}`}
        </span>
      </div>
      <Problem error={error} onRetry={reload} />
      {value && view === 'timeline' && shown.length === 0 && (
        <Empty title="No transactions yet">
          <p>Those of the last minutes appear here, with what each node did and when.</p>
        </Empty>
      )}
      {value && view === 'timeline' && shown.length > 0 && (
        <ul class="cards">
          {shown.map((transaction) => (
            <TransactionCard
              key={transaction.TransactionId}
              transaction={transaction}
              isOpen={open === transaction.TransactionId}
              onToggle={() =>
                setOpen(open === transaction.TransactionId ? undefined : transaction.TransactionId)
              }
            />
          ))}
        </ul>
      )}
      {value && view === 'contention' && <ContentionView list={value.list} contention={value.contention} />}
      {value && view === 'recovery' && <RecoveryView list={value.list} />}
    </div>
  )
}

const KINDS: Readonly<Record<string, string>> = { COMMITTED: 'good', CANCELLED: 'bad' }

function TransactionCard({
  transaction,
  isOpen,
  onToggle,
}: {
  readonly transaction: ListedTransaction
  readonly isOpen: boolean
  readonly onToggle: () => void
}) {
  const { Obstacles = [] } = transaction
  const state = transaction.Outcome ?? transaction.State ?? ''
  const endS = Math.max(
    transaction.DecidedDateTime ?? 0,
    ...(transaction.Nodes ?? []).map(({ FinishedDateTime = 0, PreparedDateTime = 0 }) =>
      Math.max(FinishedDateTime, PreparedDateTime),
    ),
  )
  const tookMs =
    transaction.BegunDateTime !== undefined && endS > 0
      ? (endS - transaction.BegunDateTime) * 1000
      : undefined
  const whenS = transaction.CompletedDateTime ?? transaction.BegunDateTime
  return (
    <li class="card">
      <div class="row-line">
        <Badge kind={KINDS[state] ?? 'info'}>{state.toLowerCase()}</Badge>
        {transaction.Stalled === true && <Badge kind="warn">stalled</Badge>}
        <button type="button" class="link mono" aria-expanded={isOpen} onClick={onToggle}>
          {shortId(transaction.TransactionId)}
        </button>
        <span class="mono grow clip">{itemsText(transaction)}</span>
        {tookMs !== undefined && <span class="muted">{msText(tookMs)}</span>}
        {whenS !== undefined && <span class="muted">{timeText(whenS * 1000)}</span>}
      </div>
      <Timeline transaction={transaction} />
      {state === 'CANCELLED' && (
        <p class="reasons">
          {Obstacles.length > 0
            ? Obstacles.slice(0, 3)
                .map((each) => obstacleText(each))
                .join('; ')
            : reasonText(transaction)}
        </p>
      )}
      {isOpen && (
        <pre class="code" tabIndex={0} aria-label="The transaction as the server tells it">
          {JSON.stringify(transaction, null, 2)}
        </pre>
      )}
    </li>
  )
}

const OBSTACLE_TEXTS: Readonly<Record<string, string>> = {
  PENDING: 'was being written by transaction',
  LOCK: 'is locked by unit',
  CHANGED: 'is not what was read any more: changed by',
}

const obstacleText = (each: NonNullable<ListedTransaction['Obstacles']>[number]): string =>
  `${itemText(each)} ${OBSTACLE_TEXTS[each.Kind] ?? each.Kind} ${each.By === undefined ? 'another write' : shortId(each.By)}`

function reasonText({ CancellationReasons = [] }: ListedTransaction): string {
  const reasons = CancellationReasons.filter(({ Code }) => Code !== 'None')
  if (reasons.length === 0) return 'Replaced by another attempt, or its coordinator vanished.'
  return reasons.map(({ Code, Message }) => `${Code}: ${Message ?? ''}`).join('; ')
}

const DID_KINDS: Readonly<Record<string, string>> = { COMMITTED: 'good', CANCELLED: 'bad' }
const DID_TEXTS: Readonly<Record<string, string>> = {
  COMMITTED: 'it was decided, and is carried out',
  CANCELLED: 'it was not decided, and is undone',
  SWEPT: 'it was over, and a part of it that came late is removed',
}

function RecoveryView({ list }: { readonly list: TransactionList }) {
  const stalled = list.InFlight.filter(({ Stalled }) => Stalled === true)
  const recovered = list.Recovered ?? []
  return (
    <>
      <section aria-labelledby="stalled">
        <h2 id="stalled">Stalled</h2>
        {stalled.length === 0 && (
          <p class="muted">
            None. A transaction that is not over two seconds after it began counts as stalled, and recovery
            finishes it.
          </p>
        )}
        <ul class="cards">
          {stalled.map((each) => (
            <li key={each.TransactionId} class="card row-line">
              <Badge kind="warn">{each.State?.toLowerCase()}</Badge>
              <span class="mono">{shortId(each.TransactionId)}</span>
              <span class="mono grow clip">{itemsText(each)}</span>
              <span class="muted">
                on {(each.Participants ?? []).length === 1 ? 'node' : 'nodes'}{' '}
                {(each.Participants ?? []).map(({ Node }) => Node).join(', ')}
                {each.BegunDateTime !== undefined && `, since ${timeText(each.BegunDateTime * 1000)}`}
              </span>
            </li>
          ))}
        </ul>
      </section>
      <section aria-labelledby="recovered">
        <h2 id="recovered">What recovery did</h2>
        {recovered.length === 0 && (
          <p class="muted">
            Nothing since the start: no coordinator has vanished with a transaction under way.
          </p>
        )}
        <ul class="cards">
          {recovered.map((each) => (
            <li key={each.TransactionId} class="card row-line">
              <Badge kind={DID_KINDS[each.Did] ?? 'info'}>{each.Did.toLowerCase()}</Badge>
              <span class="mono" title={each.TransactionId}>
                {shortId(each.TransactionId)}
              </span>
              <span class="mono grow clip">{itemsText(each)}</span>
              <span class="muted">{DID_TEXTS[each.Did]}</span>
              <span class="muted">{timeText(each.DateTime * 1000)}</span>
            </li>
          ))}
        </ul>
      </section>
    </>
  )
}
