// Asks witnesses for their signatures on the newest checkpoint of a ledger.
import { base64 } from '../verify/bytes.js'
import { type Checkpoint, openCheckpoint, type Trust } from '../verify/checkpoint.js'
import { decimal } from '../verify/bytes.js'
import type { LedgerSource } from '../verify/folder.js'
import { consistencyFrom, newestCheckpoint } from './consistency.js'
import { formatWitnessRequest } from './witness.js'

const ANSWER_TIMEOUT_MS = 30_000
/** Others may ask the same witness meanwhile. */
const ATTEMPTS_MAX = 5
const ANSWER_CHARACTERS_MAX = 100_000

/** The checkpoint with the signatures of the witnesses, each of which is the address of one. */
export async function cosignedCheckpoint(
  source: LedgerSource,
  witnesses: readonly string[],
  trust: Trust,
): Promise<Checkpoint> {
  const { key, ed25519 } = trust
  const checkpoint = await newestCheckpoint(source, { key, ...(ed25519 && { ed25519 }) })
  let note = checkpoint.note
  for (const witness of witnesses) note += await cosignatureOf(witness, source, checkpoint)
  return openCheckpoint(note, trust)
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
    const answer = (await response.text()).slice(0, ANSWER_CHARACTERS_MAX)
    if (response.status === 200) return answer
    const size = response.status === 409 ? decimal(answer.trim()) : undefined
    if (size === undefined || size > checkpoint.size)
      throw new Error(`${url.href} answers ${response.status}: ${answer.trim()}`)
    oldSize = size
  }
  throw new Error(`${url.href} has cosigned another checkpoint each time`)
}
