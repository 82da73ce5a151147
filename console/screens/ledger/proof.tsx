// A proof, checked by `seriatim/verify` in this browser, and drawn as the path it is: from the item up to the signed root.
import { useEffect, useState } from 'preact/hooks'
import { download, Notice, Problem } from '../../parts/basics.js'
import { base64 } from '../../../src/verify/bytes.js'
import { VerificationError, verifyProof, type Proven } from '../../../src/verify/index.js'
import { leafHash } from '../../../src/verify/merkle.js'
import { parseProofFile } from '../../../src/verify/proof.js'
import type { Item } from '../../values/attribute.js'
import { call } from '../../wire/client.js'
import { type PathStep, pathSteps } from './proof-path.js'

export interface ProofViewProps {
  readonly table: string
  readonly itemKey: Item
  readonly version: number
  readonly size: number
  readonly trusted: string
}

interface Checked {
  readonly proof: string
  readonly proven: Proven
  readonly leaf: string
  readonly steps: readonly PathStep[]
}

export function ProofView({ table, itemKey, version, size, trusted }: ProofViewProps) {
  const [checked, setChecked] = useState<Checked | undefined>(undefined)
  const [error, setError] = useState<unknown>(undefined)
  useEffect(() => {
    let isGone = false
    const check = async (): Promise<Checked> => {
      const { Proof } = await call<{ readonly Proof: string }>('GetRevision', {
        TableName: table,
        Key: itemKey,
        Version: version,
        DigestSize: size,
      })
      const proven = await verifyProof(Proof, { key: trusted })
      const { extra, index, path } = parseProofFile(Proof)
      const { header } = JSON.parse(new TextDecoder().decode(extra)) as { readonly header: string }
      const bytes = Uint8Array.from(atob(header), (character) => character.charCodeAt(0))
      const leaf = leafHash(bytes)
      return {
        proof: Proof,
        proven,
        leaf: base64(leaf),
        steps: pathSteps(index, proven.checkpoint.size, leaf, path),
      }
    }
    check().then(
      (made) => {
        if (!isGone) setChecked(made)
      },
      (failure: unknown) => {
        if (!isGone) setError(failure)
      },
    )
    return () => {
      isGone = true
    }
  }, [table, version, size, trusted])
  if (error !== undefined)
    return error instanceof VerificationError ? (
      <Notice kind="bad">
        <strong>Not proven.</strong> {error.message}
      </Notice>
    ) : (
      <Problem error={error} />
    )
  if (checked === undefined) return <p class="muted">Checking…</p>
  const { proven, steps, leaf } = checked
  return (
    <div class="proof" data-proven="true">
      <Notice kind="good">
        <strong>Proven.</strong> This version is in block {proven.header.block} of {proven.checkpoint.origin},
        under a checkpoint of {proven.checkpoint.size} blocks that its key has signed. Checked in this
        browser, without trust in the server's word.
      </Notice>
      <ol class="path" aria-label="The path from the item to the signed root">
        <PathNode
          title="Item"
          text={proven.item === undefined ? 'its data was left out or redacted' : JSON.stringify(proven.item)}
          kind="leaf"
        />
        <PathNode
          title="Entry of the block"
          text={`SHA-256 of salt and item; the path within block ${proven.header.block} leads to its root ${proven.header.root}`}
        />
        <PathNode title={`Header of block ${proven.header.block}`} text={leaf} />
        {steps.map((step, at) => (
          <PathNode
            key={at}
            title={`with its ${step.side} neighbour`}
            text={step.hash}
            sibling={step.sibling}
            side={step.side}
          />
        ))}
        <PathNode title="Root, signed" text={base64(proven.checkpoint.root)} kind="root" />
      </ol>
      <div class="actions left">
        <button
          type="button"
          class="small"
          onClick={() => download(`${table}-${version}.tlog-proof`, [checked.proof], 'text/plain')}
        >
          Save the proof
        </button>
        <span class="hint">
          It can be checked anywhere: `seriatim verify`, or any reader of C2SP's tlog-proof.
        </span>
      </div>
    </div>
  )
}

function PathNode({
  title,
  text,
  sibling,
  side,
  kind = 'node',
}: {
  readonly title: string
  readonly text: string
  readonly sibling?: string
  readonly side?: 'left' | 'right'
  readonly kind?: string
}) {
  return (
    <li class={`path-node ${kind}`}>
      <span class="path-title">{title}</span>
      <code class="clip" title={text}>
        {text}
      </code>
      {sibling !== undefined && (
        <code class={`sibling clip ${side}`} title={sibling}>
          {side === 'left' ? '◀ ' : '▶ '}
          {sibling}
        </code>
      )}
    </li>
  )
}
