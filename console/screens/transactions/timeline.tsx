// A transaction as bars, one line a node: prepare up to where the node had answered, then the decision, then its commit or cancel.
import { msText } from '../../parts/format.js'
import type { ListedTransaction } from './listed.js'

const HEIGHT = 16

export function Timeline({ transaction }: { readonly transaction: ListedTransaction }) {
  const { BegunDateTime: begun, DecidedDateTime: decided, Nodes: nodes = [] } = transaction
  const isTwoPhases =
    decided !== undefined || nodes.some(({ PreparedDateTime }) => PreparedDateTime !== undefined)
  if (begun === undefined || !isTwoPhases)
    return nodes.length === 0 ? null : (
      <p class="muted timeline-note">
        One round on node {nodes.map(({ Node }) => Node).join(', ')}: prepared, decided and committed in one
        step.
      </p>
    )
  const end = Math.max(
    decided ?? begun,
    ...nodes.flatMap(({ PreparedDateTime = begun, FinishedDateTime = begun }) => [
      PreparedDateTime,
      FinishedDateTime,
    ]),
    begun + 1e-6,
  )
  const at = (time: number): number => ((time - begun) / (end - begun)) * 100
  const isCommitted = transaction.Outcome !== 'CANCELLED'
  const summary = nodes
    .map(
      ({ Node, PreparedDateTime, FinishedDateTime }) =>
        `node ${Node}: ${PreparedDateTime === undefined ? 'preparing' : `prepared after ${msText((PreparedDateTime - begun) * 1000)}`}` +
        (FinishedDateTime === undefined
          ? ''
          : `, ${isCommitted ? 'committed' : 'cancelled'} after ${msText((FinishedDateTime - begun) * 1000)}`),
    )
    .join('; ')
  return (
    <div
      class="timeline"
      role="img"
      aria-label={`${summary}${decided === undefined ? '' : `; decided after ${msText((decided - begun) * 1000)}`}`}
    >
      {nodes.map(({ Node, Items, PreparedDateTime, FinishedDateTime }) => (
        <div class="timeline-row" key={Node} aria-hidden="true">
          <span class="timeline-node">
            node {Node} <span class="muted">({Items})</span>
          </span>
          <svg width="100%" height={HEIGHT} class="timeline-bars">
            <rect class="track" x="0" y="6" width="100%" height="4" rx="2" />
            <rect class="prepare" x="0" y="2" width={`${at(PreparedDateTime ?? end)}%`} height="12" rx="2" />
            {FinishedDateTime !== undefined && decided !== undefined && (
              <rect
                class={isCommitted ? 'commit' : 'cancel'}
                x={`${at(decided)}%`}
                y="2"
                width={`${Math.max(0.4, at(FinishedDateTime) - at(decided))}%`}
                height="12"
                rx="2"
              />
            )}
            {decided !== undefined && (
              <line class="decide" x1={`${at(decided)}%`} x2={`${at(decided)}%`} y1="0" y2={HEIGHT} />
            )}
          </svg>
        </div>
      ))}
      <div class="timeline-legend" aria-hidden="true">
        <span>
          <i class="prepare" /> prepare
        </span>
        <span>
          <i class="decide" /> decide {decided !== undefined && msText((decided - begun) * 1000)}
        </span>
        <span>
          <i class={isCommitted ? 'commit' : 'cancel'} /> {isCommitted ? 'commit' : 'cancel'}
        </span>
        <span class="muted">{msText((end - begun) * 1000)} in all</span>
      </div>
    </div>
  )
}
