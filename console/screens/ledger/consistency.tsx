// A checkpoint that a person kept: is the ledger of today the same, with more behind it?
import { useState } from 'preact/hooks'
import { Notice } from '../../parts/basics.js'
import { parseCheckpoint } from '../../../src/verify/checkpoint.js'
import { verifyConsistency } from '../../../src/verify/index.js'
import { call } from '../../wire/client.js'
import type { Digest } from './ledger.js'

type Result = { readonly kind: 'good' | 'bad'; readonly text: string }

export function ConsistencyView({ digest, trusted }: { readonly digest: Digest; readonly trusted: string }) {
  const [text, setText] = useState('')
  const [result, setResult] = useState<Result | undefined>(undefined)
  const check = async (): Promise<void> => {
    try {
      // A signed note ends with a line feed, which is lost where people copy.
      const note = `${text.replaceAll('\r', '').trim()}\n`
      const { size } = parseCheckpoint(note)
      if (size > digest.Size)
        throw new Error(
          `the checkpoint is of ${size} blocks, and this ledger has ${digest.Size}: blocks were removed`,
        )
      const later = await call<Digest & { readonly ConsistencyProof?: readonly string[] }>('GetDigest', {
        OldSize: size,
      })
      const { earlier } = await verifyConsistency(note, later.Checkpoint, later.ConsistencyProof ?? [], {
        key: trusted,
      })
      setResult({
        kind: 'good',
        text: `Consistent: the ledger of ${later.Size} blocks begins with the ${earlier.size} blocks of this checkpoint, unchanged. Both are signed by ${earlier.origin}. Checked in this browser.`,
      })
    } catch (failure) {
      setResult({ kind: 'bad', text: `Not consistent: ${(failure as Error).message}` })
    }
  }
  return (
    <form
      class="column"
      onSubmit={(event) => {
        event.preventDefault()
        void check()
      }}
    >
      <p class="lead">
        Paste a checkpoint that you kept. The browser checks that no block of then was changed, removed or put
        in between.
      </p>
      <textarea
        class="mono"
        rows={7}
        aria-label="Checkpoint"
        spellcheck={false}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <div class="actions left">
        <button type="submit" class="primary" disabled={text.trim() === ''}>
          Check
        </button>
        <button type="button" onClick={() => setText(digest.Checkpoint)}>
          Use the one of now
        </button>
      </div>
      {result && (
        <div data-result={result.kind}>
          <Notice kind={result.kind}>{result.text}</Notice>
        </div>
      )}
    </form>
  )
}
