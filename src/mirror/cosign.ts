// Asks witnesses for their signatures on the newest checkpoint of a ledger.
import { base64, decimal, utf8Text } from '../verify/bytes.js'
import { type Checkpoint, openCheckpoint, type Trust } from '../verify/checkpoint.js'
import type { LedgerSource } from '../verify/folder.js'
import { parseNote, parseVerifierKey, signatureLine, signaturesOf } from '../verify/note.js'
import { consistencyFrom, newestCheckpoint } from './consistency.js'
import { limitedBody } from './limited-body.js'
import { formatWitnessRequest } from './witness.js'

const ANSWER_TIMEOUT_MS = 30_000
/** Others may ask the same witness meanwhile. */
const ATTEMPTS_MAX = 5
const ANSWER_BYTES_MAX = 100_000

/** The checkpoint with the signatures of the witnesses, each of which is the address of one. */
export async function cosignedCheckpoint(
  source: LedgerSource,
  witnesses: readonly string[],
  trust: Trust,
): Promise<Checkpoint> {
  const { key, ed25519 } = trust
  const checkpoint = await newestCheckpoint(source, { key, ...(ed25519 && { ed25519 }) })
  let note = checkpoint.note
  for (const witness of witnesses)
    note += trustedLines(await cosignatureOf(witness, source, checkpoint), checkpoint, trust)
  return openCheckpoint(note, trust)
}

/** Of what a witness answers only signatures are taken, and if witnesses are named, only theirs. */
function trustedLines(answer: string, { note }: Checkpoint, { witnesses = [] }: Trust): string {
  const answered = parseNote(`${parseNote(note).text}\n${answer}`)
  if (witnesses.length === 0) return answer
  return witnesses
    .map(parseVerifierKey)
    .flatMap((key) => signaturesOf(answered, key).map(({ bytes }) => signatureLine(key, bytes)))
    .join('')
}

async function cosignatureOf(witness: string, source: LedgerSource, checkpoint: Checkpoint): Promise<string> {
  const url = new URL('add-checkpoint', witness.endsWith('/') ? witness : `${witness}/`)
  let oldSize = 0
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const path = await consistencyFrom(source, oldSize, checkpoint)
    const body = formatWitnessRequest({ oldSize, path: path.map(base64), checkpoint: checkpoint.note })
    const response = await fetch(url, {
      method: 'POST',
      body,
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    })
    const answer = await textOf(response, url)
    if (response.status === 200) return answer
    const size = response.status === 409 ? decimal(answer.trim()) : undefined
    if (size === undefined || size > checkpoint.size)
      throw new Error(`${url.href} answers ${response.status}: ${answer.trim()}`)
    oldSize = size
  }
  throw new Error(`${url.href} has cosigned another checkpoint each time`)
}

async function textOf(response: Response, url: URL): Promise<string> {
  const bytes = await limitedBody(response, ANSWER_BYTES_MAX)
  const text = bytes && utf8Text(bytes)
  if (text === undefined) throw new Error(`${url.href} answers with more than signatures, or no text`)
  return text
}
