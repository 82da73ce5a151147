// The ledger: its head, its blocks, the history of an item, and proofs that this browser checks.
import { useState } from 'preact/hooks'
import { copy, Empty, Field, Problem, TextInput } from '../../parts/basics.js'
import { countText } from '../../parts/format.js'
import { useLoad } from '../../parts/load.js'
import { href } from '../../parts/route.js'
import { call, WireError } from '../../wire/client.js'
import { isOfFleet } from '../../wire/fleet.js'
import { BlocksView } from './blocks.js'
import { ConsistencyView } from './consistency.js'
import { HistoryView } from './item-history.js'

export interface Digest {
  readonly Digest: string
  readonly Size: number
  readonly Checkpoint: string
  readonly Key: string
}

const VIEWS = [
  ['history', 'History of an item'],
  ['blocks', 'Blocks'],
  ['consistency', 'Check a checkpoint'],
] as const

export function LedgerScreen({ path }: { readonly path: readonly string[] }) {
  const view = VIEWS.find(([name]) => name === path[1])?.[0] ?? 'history'
  const digest = useLoad((signal) => call<Digest>('GetDigest', {}, { signal, isQuiet: true }), [])
  const fleet = useLoad(isOfFleet, [])
  const [ownKey, setOwnKey] = useState('')
  const isNone = digest.error instanceof WireError && digest.error.name === 'ResourceNotFoundException'
  return (
    <div class="screen">
      <div class="screen-head">
        <h1>Ledger</h1>
        <nav class="tabs" aria-label="Views of the ledger">
          {VIEWS.map(([name, title]) => (
            <a key={name} href={href('ledger', name)} aria-current={name === view ? 'page' : undefined}>
              {title}
            </a>
          ))}
        </nav>
      </div>
      {isNone && fleet.value === true ? (
        <Empty title="This server has no ledger">
          <p>It is one of a fleet. Stores in a folder or in memory have one.</p>
        </Empty>
      ) : isNone ? (
        <Empty title="This store has no ledger yet">
          <p>
            Create a table as a ledger: every change to it is then kept for good, in blocks that are signed
            and provable.
          </p>
        </Empty>
      ) : (
        <Problem error={digest.error} onRetry={digest.reload} />
      )}
      {digest.value && !isNone && (
        <>
          <dl class="facts">
            <div>
              <dt>Ledger</dt>
              <dd class="mono">{digest.value.Key.split('+')[0]}</dd>
            </div>
            <div>
              <dt>Blocks</dt>
              <dd>{countText(digest.value.Size)}</dd>
            </div>
            <div>
              <dt>Root of the tree</dt>
              <dd class="mono">{digest.value.Digest}</dd>
            </div>
            <div>
              <dt>Signed checkpoint</dt>
              <dd class="row-line">
                <button
                  type="button"
                  class="small"
                  onClick={() => void copy(digest.value!.Checkpoint, 'The checkpoint')}
                >
                  Copy
                </button>
                <button type="button" class="small" onClick={digest.reload}>
                  Read again
                </button>
              </dd>
            </div>
          </dl>
          <Field
            label="Public key that is trusted"
            hint="Empty: the one that this server names. Paste the one that you were given to trust less."
            wide
          >
            {(id) => (
              <TextInput
                id={id}
                class="mono"
                value={ownKey}
                placeholder={digest.value!.Key}
                onValue={setOwnKey}
              />
            )}
          </Field>
          {view === 'history' && (
            <HistoryView
              key={path.join('/')}
              digest={digest.value}
              trusted={ownKey.trim() || digest.value.Key}
              table={path[2]}
              keyText={path[3]}
            />
          )}
          {view === 'blocks' && <BlocksView size={digest.value.Size} />}
          {view === 'consistency' && (
            <ConsistencyView digest={digest.value} trusted={ownKey.trim() || digest.value.Key} />
          )}
        </>
      )}
    </div>
  )
}
