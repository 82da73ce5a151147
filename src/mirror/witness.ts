// What a witness answers: C2SP's tlog-witness, add-checkpoint. Pure: the state that it is given is the last checkpoint that it
// cosigned, and what it says to keep must be durable before the answer leaves.
import { decimal, fromBase64, isEqual } from '../verify/bytes.js'
import { parseCheckpoint, type TreeHead } from '../verify/checkpoint.js'
import { VerificationError } from '../verify/error.js'
import { emptyRoot, HASH_BYTES, isConsistent } from '../verify/merkle.js'
import { type Ed25519, signatureLine, signaturesOf, signedBy, type Verifier } from '../verify/note.js'

const PROOF_LINES_MAX = 63

/** A request that can be read. */
export interface WitnessRequest {
  readonly oldSize: number
  readonly path: readonly Uint8Array[]
  /** The signed note. */
  readonly checkpoint: string
}

export type WitnessVerdict =
  | { readonly verdict: 'refused'; readonly status: 400 | 403 | 404 | 422; readonly reason: string }
  | { readonly verdict: 'conflict'; readonly size: number }
  /** `note`: the text, and below it the signatures of the ledger that were verified, and no others. */
  | { readonly verdict: 'cosign'; readonly head: TreeHead; readonly note: string }

/** Undefined if it is not of the form. */
export function parseWitnessRequest(body: string): WitnessRequest | undefined {
  const end = body.indexOf('\n\n')
  const [first = '', ...lines] = body.slice(0, Math.max(0, end)).split('\n')
  const oldSize = first.startsWith('old ') ? decimal(first.slice('old '.length)) : undefined
  const path = lines.map((line) => fromBase64(line, HASH_BYTES))
  if (end < 0 || oldSize === undefined || lines.length > PROOF_LINES_MAX) return undefined
  return path.every((hash) => hash !== undefined)
    ? { oldSize, path, checkpoint: body.slice(end + 2) }
    : undefined
}

export const formatWitnessRequest = ({
  oldSize,
  path,
  checkpoint,
}: Omit<WitnessRequest, 'path'> & { readonly path: readonly string[] }): string =>
  `${[`old ${oldSize}`, ...path].join('\n')}\n\n${checkpoint}`

/** Which ledger a request is about, if it can be told. */
export function originOf({ checkpoint }: WitnessRequest): string | undefined {
  try {
    return parseCheckpoint(checkpoint).origin
  } catch {
    return undefined
  }
}

/** `logs`: the keys that are trusted for the origin. `last`: what was cosigned last for it. */
export async function judge(
  request: WitnessRequest,
  logs: readonly Verifier[],
  last: TreeHead | undefined,
  ed25519?: Ed25519,
): Promise<WitnessVerdict> {
  const refused = (status: 400 | 403 | 404 | 422, reason: string): WitnessVerdict => ({
    verdict: 'refused',
    status,
    reason,
  })
  const head = parseCheckpoint(request.checkpoint)
  if (logs.length === 0) return refused(404, `the ledger ${head.origin} is not known here`)
  try {
    const signed = await Promise.all(logs.map((log) => signedBy(head.parsed, log, ed25519)))
    if (signed.every((time) => time === false))
      return refused(403, `not signed by a known key of ${head.origin}`)
  } catch (error) {
    if (error instanceof VerificationError) return refused(403, error.message)
    throw error
  }
  const { oldSize, path } = request
  if (oldSize > head.size) return refused(400, `the old size ${oldSize} is above the size ${head.size}`)
  const lastSize = last?.size ?? 0
  if (oldSize !== lastSize) return { verdict: 'conflict', size: lastSize }
  if (head.size === 0 && !isEqual(head.root, emptyRoot()))
    return refused(422, 'the root of a tree of no blocks is not that of the empty tree')
  const isContinued =
    last === undefined || last.size === 0
      ? path.length === 0
      : isConsistent(last.size, last.root, head.size, head.root, path)
  if (!isContinued)
    return refused(422, `${head.size} blocks do not begin with the ${lastSize} that were cosigned last`)
  const { origin, size, root, parsed } = head
  const lines = logs.flatMap((log) => signaturesOf(parsed, log).map(({ bytes }) => signatureLine(log, bytes)))
  const note = `${parsed.text}\n${[...new Set(lines)].join('')}`
  return { verdict: 'cosign', head: { origin, size, root }, note }
}
