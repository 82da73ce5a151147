// The key with which a witness cosigns (Ed25519), as Go's tools write keys.
import { ed25519Of } from '../runtime/ed25519.js'
import {
  cosignatureLine,
  cosignedMessage,
  formatSigningKey,
  formatVerifierKey,
  parseSigningKey,
  type Verifier,
  WITNESS_KEY,
} from '../verify/note.js'

export interface Cosigner {
  readonly verifier: Verifier
  /** For those who verify. */
  readonly key: string
  /** The line below the note that says: seen at that time, and consistent. */
  cosign(text: string, timeS: number): string
}

/** @throws if it is not the key of a witness */
export function openCosigner(text: string): Cosigner {
  const found = parseSigningKey(text)
  if (found?.type !== WITNESS_KEY) throw new Error('it is not the key of a witness')
  const { name, keyId, seed } = found
  const { sign, publicKey } = ed25519Of(seed)
  const verifier: Verifier = { name, type: WITNESS_KEY, publicKey }
  const key = formatVerifierKey(verifier)
  if (key.split('+')[1] !== keyId) throw new Error('its id is not that of the key')
  return {
    verifier,
    key,
    cosign: (note, timeS) => cosignatureLine(verifier, timeS, sign(cosignedMessage(note, timeS))),
  }
}

/** The text of a key of that name. */
export const cosignerText = (name: string, seed: Uint8Array): string =>
  formatSigningKey({ name, type: WITNESS_KEY, publicKey: ed25519Of(seed).publicKey }, seed)
