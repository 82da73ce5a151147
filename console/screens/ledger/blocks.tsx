// Blocks, the newest first: one for each commit to ledger tables.
import { useState } from 'preact/hooks'
import { Badge, Problem } from '../../parts/basics.js'
import { shortId } from '../../parts/format.js'
import { useLoad } from '../../parts/load.js'
import { call } from '../../wire/client.js'

interface Block {
  readonly BlockAddress: { readonly SequenceNumber: number }
  readonly TransactionId?: string
  readonly Time?: string | number
  readonly Header: string
  readonly Entries: readonly { readonly Entry: string; readonly Data?: string }[]
}

const BLOCKS_A_PAGE = 20

async function readBlocks(before: number, signal: AbortSignal): Promise<readonly Block[]> {
  const numbers = Array.from({ length: Math.min(BLOCKS_A_PAGE, before) }, (_, at) => before - 1 - at)
  const found = await Promise.allSettled(
    numbers.map(
      async (SequenceNumber) =>
        (await call<{ readonly Block: Block }>('GetBlock', { SequenceNumber }, { signal, isQuiet: true }))
          .Block,
    ),
  )
  // A block of a table that this key may not read is left out.
  return found.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
}

export function BlocksView({ size }: { readonly size: number }) {
  const [before, setBefore] = useState(size)
  const [open, setOpen] = useState<number | undefined>(undefined)
  const blocks = useLoad((signal) => readBlocks(before, signal), [before])
  return (
    <>
      <Problem error={blocks.error} onRetry={blocks.reload} />
      <ul class="cards">
        {blocks.value?.map((block) => {
          const number = block.BlockAddress.SequenceNumber
          const entries = block.Entries.map(
            ({ Entry }) => JSON.parse(Entry) as Readonly<Record<string, unknown>>,
          )
          const kinds = entries.flatMap(({ kind, event }) =>
            typeof event === 'string' ? [event] : typeof kind === 'string' && kind !== 'info' ? [kind] : [],
          )
          return (
            <li key={number} class="card">
              <div class="row-line">
                <button
                  type="button"
                  class="link"
                  aria-expanded={open === number}
                  onClick={() => setOpen(open === number ? undefined : number)}
                >
                  Block {number}
                </button>
                {kinds.slice(0, 6).map((kind, at) => (
                  <Badge key={at} kind={kind === 'INSERT' ? 'good' : kind === 'REMOVE' ? 'bad' : 'info'}>
                    {kind.toLowerCase()}
                  </Badge>
                ))}
                <span class="mono grow clip">
                  {block.TransactionId === undefined ? '' : shortId(block.TransactionId)}
                </span>
                <span class="muted">{String(block.Time ?? '')}</span>
              </div>
              {open === number && (
                <>
                  <h3>Header</h3>
                  <pre class="code" tabIndex={0} aria-label="Header">
                    {block.Header}
                  </pre>
                  <h3>Entries</h3>
                  <pre class="code" tabIndex={0} aria-label="Entries">
                    {block.Entries.map(({ Entry }) => Entry).join('\n\n')}
                  </pre>
                </>
              )}
            </li>
          )
        })}
      </ul>
      <div class="actions left">
        <button
          type="button"
          aria-disabled={before >= size}
          onClick={() => setBefore(Math.min(size, before + BLOCKS_A_PAGE))}
        >
          Newer
        </button>
        <button
          type="button"
          aria-disabled={before <= BLOCKS_A_PAGE}
          onClick={() => setBefore(before > BLOCKS_A_PAGE ? before - BLOCKS_A_PAGE : before)}
        >
          Older
        </button>
      </div>
    </>
  )
}
